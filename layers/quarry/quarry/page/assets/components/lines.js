/**
 * A small line chart of a number over periods, in their order.
 */

import {element, svg, uniqueId} from '../dom.js';

/** With more points, only the values of the ends and of the highest are shown; all are in the table. */
const VALUES_MAX = 13;

/**
 * @param {string} title
 * @param {{label: string, value: number | null}[]} entries null is a gap
 * @param {(value: number) => string} written
 */
export function lineChart(title, entries, written) {
  const id = uniqueId('line');
  const values = entries.flatMap(({value}) => value ?? []);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const share = (value) => (value - low) / (high - low || 1);
  const across = (place) => (place + 0.5) / entries.length;
  const [last, middle, highest] = [entries.length - 1, Math.floor((entries.length - 1) / 2), entries.findIndex(({value}) => value === Math.max(...values))];
  const isTold = (place) => entries.length <= VALUES_MAX || [0, last, highest].includes(place);
  const points = entries.flatMap(({value}, place) => (value === null ? [] : `${100 * across(place)},${100 * (1 - share(value))}`));
  return element('figure', {class: 'bars lines', 'aria-labelledby': id},
    element('figcaption', {id}, title),
    element('div', {class: 'line-room'},
      svg('svg', {viewBox: '0 0 100 100', preserveAspectRatio: 'none', 'aria-hidden': 'true'}, svg('polyline', {points: points.join(' '), fill: 'none', 'vector-effect': 'non-scaling-stroke'})),
      element('dl', {}, entries.map(({label, value}, place) => element('div', {class: 'line-point', style: {'--share': share(value ?? 0)}},
        element('dt', {class: [0, middle, last].includes(place) ? null : 'visually-hidden'}, label),
        element('dd', {class: isTold(place) ? null : 'visually-hidden'}, value === null ? '–' : written(value)))))));
}
