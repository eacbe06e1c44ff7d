/**
 * The number that a question asks for: its groups as bars, and a link to the rows.
 */

import {barChart} from '../../components/bars.js';
import {element} from '../../dom.js';
import {amount, groupLabel, number, words} from '../../format.js';
import {facetLabel, languageOf, typeLabel, written} from './declared.js';

const GROUPS_MAX = 20;
/** Labels of measures, by the service's names. @type {Record<string, string>} */
const MEASURES = {sum: 'sum of', avg: 'average', min: 'lowest', max: 'highest'};

/**
 * @param {any} event an `aggregation`
 * @param {string} question
 * @param {import('../../app.js').Context} context
 */
export function countFigure({by, groups, group_count: all = 0, other = 0, of, filters, query}, question, context) {
  const {types = [], from, to, facets = {}} = filters;
  const [type = query?.source] = types;
  const period = query?.group?.[0]?.period;
  // periods are in order: draw the latest
  const drawn = period ? groups.slice(-GROUPS_MAX) : groups.slice(0, GROUPS_MAX);
  const entries = drawn.map((group) => ({label: (!period && group.value !== null && written(type, by, group.value)) || groupLabel(group.value, period, languageOf(type)), value: of ? group[of] : group.count}))
    .filter(({value}) => value !== null && value !== undefined);
  const rest = other + groups.reduce((sum, group) => sum + group.count, 0) - drawn.reduce((sum, group) => sum + group.count, 0);
  const count = Math.max(all, groups.length);
  const [measure, measured] = of?.split(':') ?? [];
  const what = of ? words(`${MEASURES[measure]} ${facetLabel(type, measured)}`) : type ? typeLabel(type) : 'Records';
  const title = by ? `${what} by ${period ?? facetLabel(type, by)}` : what;
  return element('div', {class: 'count'},
    entries.length > 1 && barChart(title, entries, {isSorted: Boolean(period), written: (value) => (of && written(type, measured, value)) || amount(value, undefined, languageOf(type))}),
    count > GROUPS_MAX && element('p', {class: 'fine'}, `${GROUPS_MAX} of ${number(count)} are shown.${rest > 0 && !of ? ` The others add up to ${number(rest)}.` : ''}`),
    // without request names for its conditions, a list would show other rows
    types.length > 0 && element('p', {}, element('a', {href: context.address({q: question, tab: 'results', type: types, from, to, ...facets})}, 'Show the records behind this')));
}
