/**
 * A number that was asked for: what was counted or reckoned, group by group, and the way to the rows.
 */

import {barChart} from '../../components/bars.js';
import {element} from '../../dom.js';
import {NONE, amount, day, month, number, words} from '../../format.js';
import {facetLabel, languageOf, typeLabel, written} from './declared.js';

const GROUPS_MAX = 20;
const PERIODS = new Set(['day', 'week', 'month', 'quarter', 'year']);
/** What is reckoned of several numbers, by the service's names. @type {Record<string, string>} */
const MEASURES = {sum: 'sum of', avg: 'average', min: 'lowest', max: 'highest'};
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * @param {any} event an `aggregation`
 * @param {string} question
 * @param {import('../../app.js').Context} context
 */
export function countFigure({by, groups, group_count: all = 0, other = 0, overlapping = false, gaps = false, of, filters}, question, context) {
  const {types = [], from, to, facets = {}} = filters;
  // what is told in the order of time ends with the latest, and with those that have no date
  const isInTime = groups.every(({value}, place) => (value === null ? place === groups.length - 1 : DATE.test(value)) && (place === 0 || value === null || groups[place - 1].value < value));
  const drawn = isInTime ? groups.slice(-GROUPS_MAX) : groups.slice(0, GROUPS_MAX);
  const entries = drawn.map((group) => ({label: groupLabel(by, group.value, types[0]), value: of ? group[of] : group.count}))
    .filter(({value}) => value !== null && value !== undefined);
  const rest = other + groups.reduce((sum, group) => sum + group.count, 0) - drawn.reduce((sum, group) => sum + group.count, 0);
  const count = Math.max(all, groups.length);
  const what = types.length === 1 ? typeLabel(types[0]) : 'Records';
  const [measure, measured] = of?.split(':') ?? [];
  const title = [of ? words(`${MEASURES[measure]} ${facetLabel(types[0], measured)}`) : what, by && `by ${facetLabel(types[0], by)}`].filter(Boolean).join(' ');
  const address = context.address({q: question, tab: 'results', type: types, from, to, ...facets});
  return element('div', {class: 'count'},
    entries.length > 1 && barChart(title, entries, {isSorted: isInTime || PERIODS.has(by), written: (value) => (of && written(types[0], measured, value)) || amount(value, undefined, languageOf(types[0]))}),
    count > GROUPS_MAX && element('p', {class: 'fine'}, `${GROUPS_MAX} of ${number(count)} are drawn.${rest > 0 && !of ? ` The others hold ${number(rest)}.` : ''}`),
    overlapping && element('p', {class: 'fine'}, 'A record can be in several groups.'),
    gaps && element('p', {class: 'fine'}, 'Periods without any are left out.'),
    element('p', {}, element('a', {href: address}, 'Show the records behind this')));
}

function groupLabel(by, value, type) {
  const language = languageOf(type);
  if (value === null) return NONE;
  if (by === 'type') return typeLabel(value);
  if (by === 'year') return String(value).slice(0, 4);
  if (by === 'month') return month(value, language);
  return ['day', 'week'].includes(by) ? day(value, language) : written(type, by, value) ?? String(value);
}
