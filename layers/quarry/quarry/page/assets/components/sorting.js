/**
 * Sorting of the results.
 *
 * @typedef {{name: string, label: string, key?: (result: any) => any, isDescending?: boolean}} Order without a key, results keep their order
 */

import {element} from '../dom.js';
import {gettext} from '../messages.js';

/**
 * The results in an order; those without a value come last.
 * @template T
 * @param {T[]} results
 * @param {Order[]} orders
 * @param {string} name
 * @returns {T[]}
 */
export function sorted(results, orders, name) {
  const {key, isDescending = false} = orders.find((order) => order.name === name) ?? {};
  if (!key) return results;
  return results.toSorted((one, other) => {
    const [left, right] = [key(one) ?? null, key(other) ?? null];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    const order = typeof left === 'number' ? left - right : String(left).localeCompare(String(right));
    return isDescending ? -order : order;
  });
}

/**
 * A select for the order. `of` says which results it sorts, if not all.
 * @param {Order[]} orders
 * @param {string} chosen
 * @param {(name: string) => void} onchoose
 */
export function sortControl(orders, chosen, onchoose, of = '') {
  const select = element('select', {on: {change: ({target}) => onchoose(target.value)}, data: {sort: ''}},
    orders.map(({name, label}) => element('option', {value: name, selected: name === chosen}, label)));
  return element('label', {class: 'sort'}, element('span', {}, gettext('Sort'), of && ` ${of}`), select);
}
