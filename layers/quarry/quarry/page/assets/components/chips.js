/**
 * Short texts in a row: follow-up questions, filters to switch on and off, labels.
 */

import {element, icon} from '../dom.js';

/** A label without an action. `tone` is `accent`, `warning` or empty. */
export function label(text, {tone = '', title} = {}) {
  return element('span', {class: `chip ${tone}`.trim(), title}, text);
}

/**
 * A row of buttons to choose from.
 * @param {string} name the label of the group, for screen readers
 * @param {string[]} texts
 * @param {(text: string) => void} onchoose
 */
export function choices(name, texts, onchoose) {
  return element('ul', {class: 'choices', 'aria-label': name}, texts.map((text) =>
    element('li', {}, element('button', {type: 'button', class: 'choice', on: {click: () => onchoose(text)}}, element('span', {}, text), icon('chevron')))));
}

/**
 * A filter that is on or off.
 * @param {string} text
 * @param {{pressed: boolean, name?: string, count?: number | string | null, ontoggle: (pressed: boolean) => void}} options `name` becomes its `data-filter`
 */
export function toggle(text, {pressed, name, count = null, ontoggle}) {
  return element('button', {
    type: 'button', class: 'chip toggle', 'aria-pressed': String(pressed), data: {filter: name}, on: {click: () => ontoggle(!pressed)},
  }, text, count !== null && element('span', {class: 'chip-count'}, count));
}

/**
 * An active item that can be removed.
 * @param {import('../dom.js').Child} text
 * @param {{label: string, tone?: string, onremove: () => void}} options `label` says what the button does
 */
export function removable(text, {label: title, tone = '', onremove}) {
  return element('span', {class: `chip removable ${tone}`.trim()}, text,
    element('button', {type: 'button', class: 'chip-remove', 'aria-label': title, title, on: {click: onremove}}, icon('close')));
}
