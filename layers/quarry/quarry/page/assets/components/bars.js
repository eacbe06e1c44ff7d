/**
 * A small bar chart: names, bars in proportion to the largest, and the numbers themselves.
 */

import {element, uniqueId} from '../dom.js';
import {number} from '../format.js';

/**
 * @param {string} title
 * @param {{label: string, value: number}[]} entries
 * @param {{max?: number, isSorted?: boolean, written?: (value: number) => string}} [options] at most so many, the others added up as one; all by default. `isSorted`: in the order given; `written` writes a value
 */
export function barChart(title, entries, {max = Infinity, isSorted = false, written = number} = {}) {
  const id = uniqueId('bars');
  const sorted = isSorted ? entries : [...entries].sort((one, other) => other.value - one.value || one.label.localeCompare(other.label));
  const shown = sorted.slice(0, max);
  const rest = sorted.slice(max).reduce((sum, {value}) => sum + value, 0);
  if (rest > 0) shown.push({label: 'others', value: rest});
  const largest = Math.max(1, ...shown.map(({value}) => value));
  return element('figure', {class: 'bars', 'aria-labelledby': id},
    element('figcaption', {id}, title),
    element('dl', {}, shown.map(({label, value}) => element('div', {class: 'bar-row'},
      element('dt', {}, label),
      element('dd', {}, element('span', {class: 'bar', 'aria-hidden': 'true', style: {'--share': value / largest}}), written(value))))));
}
