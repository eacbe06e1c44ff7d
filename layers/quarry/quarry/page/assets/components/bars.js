/**
 * A small bar chart: names, bars in proportion to the largest value, and the values.
 */

import {element, uniqueId} from '../dom.js';
import {groupLabel, number, plural, words} from '../format.js';

/**
 * @param {string} title
 * @param {{label: string, value: number}[]} entries
 * @param {{max?: number, isSorted?: boolean, written?: (value: number) => string}} [options] `max`: show at most this many and sum up the others in words. `isSorted`: keep the given order. `written` formats a value
 */
export function barChart(title, entries, {max = Infinity, isSorted = false, written = number} = {}) {
  const id = uniqueId('bars');
  // the others are summed up in words: their bar would be the longest
  const sorted = isSorted ? entries : [...entries].sort((one, other) => other.value - one.value || one.label.localeCompare(other.label));
  const shown = sorted.slice(0, sorted.length === max + 1 ? sorted.length : max);
  const rest = sorted.slice(shown.length);
  const others = rest.reduce((sum, {value}) => sum + value, 0);
  const largest = Math.max(...shown.map(({value}) => Math.abs(value))) || 1;
  return element('figure', {class: 'bars', 'aria-labelledby': id},
    element('figcaption', {id}, title),
    element('dl', {style: {'--digits': Math.max(...shown.map(({value}) => written(value).length))}}, shown.map(({label, value}) => element('div', {class: 'bar-row'},
      element('dt', {}, label),
      element('dd', {}, element('span', {class: value < 0 ? 'bar is-negative' : 'bar', 'aria-hidden': 'true', style: {'--share': Math.abs(value) / largest}}), written(value))))),
    rest.length > 0 && element('p', {class: 'fine'}, `and ${plural(rest.length, 'other')}: ${written(others)} in all`));
}

const GROUPS_MAX = 20;

/**
 * The groups of a count by one field or period, from an answer's `aggregation`; of periods, the latest. Null for anything else.
 * @param {{query?: any, groups?: {value: any, count: number}[]} | undefined | null} aggregation
 * @param {Record<string, string>} [names] labels of fields, if not their names
 */
export function groupChart(aggregation, names = {}) {
  const {query, groups = []} = aggregation ?? {};
  const isCount = query?.group?.length === 1 && query.aggregate?.length === 1 && query.aggregate[0].fn === 'count' && !query.aggregate[0].field;
  if (!isCount || groups.length < 2) return null;
  const [{field, period}] = query.group;
  const shown = period ? groups.slice(-GROUPS_MAX) : groups;
  const entries = shown.map(({value, count}) => ({label: groupLabel(value, period), value: count}));
  return element('div', {class: 'charts'}, barChart(`By ${period ?? names[field] ?? words(field).toLowerCase()}`, entries, {max: GROUPS_MAX, isSorted: true}));
}
