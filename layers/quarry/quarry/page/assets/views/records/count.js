/**
 * The number that a question asks for: its groups as bars, and a link to the rows.
 */

import {barChart} from '../../components/bars.js';
import {element} from '../../dom.js';
import {amount, groupLabel, number, words} from '../../format.js';
import {facetLabel, languageOf, typeLabel, written} from './declared.js';

const GROUPS_MAX = 20;
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
  const measured = measureOf(type, query, of);
  const title = by ? `${measured.label} by ${keysOf(type, query, by)}` : measured.label;
  return element('div', {class: 'count'},
    entries.length > 1 && barChart(title, entries, {isSorted: Boolean(period), written: measured.written}),
    count > GROUPS_MAX && element('p', {class: 'fine'}, `${GROUPS_MAX} of ${number(count)} are shown.${rest > 0 && !of ? ` The others add up to ${number(rest)}.` : ''}`),
    // without request names for its conditions, a list would show other rows
    types.length > 0 && element('p', {}, element('a', {href: context.address({q: question, tab: 'results', type: types, from, to, ...facets})}, 'Show the records behind this')));
}

/** Labels of measures of a field, by the names of their functions. @type {Record<string, string>} */
const MEASURES = {
  count: 'Number of values of', count_distinct: 'Number of different', sum: 'Total', avg: 'Average', min: 'Lowest', max: 'Highest',
  median: 'Median', stddev: 'Standard deviation of',
};
/** Functions whose results have the unit of their field. */
const IN_UNIT = new Set(['sum', 'avg', 'min', 'max', 'median', 'percentile', 'stddev']);
const SHARES = new Set(['share', 'percent_of_total']);

/**
 * What the bars measure, and how its values are written. `of` is an aggregate as results name it: `avg(price)`, `share`; without it
 * records are counted.
 * @param {string | undefined} type
 * @param {any} query
 * @param {string | null | undefined} of
 */
function measureOf(type, query, of) {
  const plain = (value) => amount(value, undefined, languageOf(type));
  if (!of) return {label: type ? typeLabel(type) : 'Records', written: plain};
  const [, fn, field] = /^(\w+)(?:\((.*)\))?$/.exec(of) ?? [null, of, undefined];
  const isShare = SHARES.has(fn);
  const about = field ? `${MEASURES[fn] ?? words(fn)} ${facetLabel(type, field)}` : `${words(fn)} of ${(type ? typeLabel(type) : 'Records').toLowerCase()}`;
  return {
    label: about,
    written: (value) => {
      if (isShare) return `${number(Math.round(1000 * value) / 10)} %`;
      return (IN_UNIT.has(fn) && field && written(type, field, value)) || plain(value);
    },
  };
}

/** What the records are grouped by, in words: every field and period of the query. */
function keysOf(type, query, by) {
  const groups = query?.group ?? [];
  if (groups.length === 0) return facetLabel(type, by);
  return groups.map(({field, period}) => period ?? facetLabel(type, field)).join(' and ');
}
