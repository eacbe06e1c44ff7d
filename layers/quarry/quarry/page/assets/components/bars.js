/**
 * A small bar chart: names, bars in proportion to the largest value, and the values.
 */

import {element, uniqueId} from '../dom.js';
import {number} from '../format.js';
import {ngettext} from '../messages.js';

/**
 * @param {string} title
 * @param {{label: string, value: number | null}[]} entries null is no number, which has no bar
 * @param {{max?: number, isSorted?: boolean, written?: (value: number) => string}} [options] `max`: show at most this many and sum up the others in words. `isSorted`: keep the given order. `written` formats a value
 */
export function barChart(title, entries, {max = Infinity, isSorted = false, written = number} = {}) {
  const id = uniqueId('bars');
  // the others are summed up in words: their bar would be the longest
  const sorted = isSorted ? entries : [...entries].sort((one, other) => (other.value ?? -Infinity) - (one.value ?? -Infinity) || one.label.localeCompare(other.label));
  const shown = sorted.slice(0, sorted.length === max + 1 ? sorted.length : max);
  const rest = sorted.slice(shown.length);
  const others = rest.reduce((sum, {value}) => sum + value, 0);
  const largest = Math.max(...shown.map(({value}) => Math.abs(value))) || 1;
  const said = (value) => (value === null ? '–' : written(value));
  return element('figure', {class: 'bars', 'aria-labelledby': id},
    element('figcaption', {id}, title),
    element('dl', {style: {'--digits': Math.max(...shown.map(({value}) => said(value).length))}}, shown.map(({label, value}) => element('div', {class: 'bar-row'},
      element('dt', {}, label),
      element('dd', {}, value !== null && element('span', {class: value < 0 ? 'bar is-negative' : 'bar', 'aria-hidden': 'true', style: {'--share': Math.abs(value) / largest}}), said(value))))),
    rest.length > 0 && element('p', {class: 'fine'}, ngettext('and {number} other: {sum} in all', 'and {number} others: {sum} in all', rest.length, {sum: written(others)})));
}
