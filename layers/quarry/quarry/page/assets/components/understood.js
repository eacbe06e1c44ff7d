/**
 * How a question was understood: the words that say something marked, what they say as chips that can be taken away, and which of it a
 * result meets.
 *
 * @typedef {{field: string, value: string, start: number, end: number, assertion: string}} Evidence `text[start:end]` says something of a field
 * @typedef {{text: string, without: any, tone?: string}} Condition `without` is what is left of the constraints where it is taken away; its
 *   `tone` wins over its group's
 * @typedef {{name: string, tone: string, conditions: Condition[]}} Group
 */

import {element, hiddenText, icon} from '../dom.js';
import {removable} from './chips.js';

/** An address may be so long; what marks words is left out of a longer one. */
const ADDRESS_MAX = 4000;

/**
 * A text, what is said by its words marked.
 * @param {string} text
 * @param {Evidence[]} evidence its positions count characters, of which a few are two in the browser
 * @returns {import('../dom.js').Child[]}
 */
export function highlighted(text, evidence) {
  const letters = Array.from(text);
  const piece = (start, end) => letters.slice(start, end).join('');
  const parts = [];
  let at = 0;
  for (const {start, end, assertion} of evidence.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    if (start < at || start >= end || end > letters.length) continue;
    parts.push(piece(at, start), element('mark', {class: assertion === 'negated' ? 'is-negated' : null}, piece(start, end)));
    at = end;
  }
  return [...parts, piece(at)];
}

/**
 * What was understood, each condition with a button that takes it away.
 * @param {Group[]} groups those without a condition are left out
 * @param {(constraints: any) => void} onchange is given what is left
 */
export function conditionChips(groups, onchange) {
  return groups.filter(({conditions}) => conditions.length > 0).map(({name, tone, conditions}) =>
    element('div', {class: 'understood-group'}, element('span', {class: 'understood-name'}, name),
      element('ul', {class: 'chips', 'aria-label': name}, conditions.map(({text, without, tone: own = tone}) =>
        element('li', {}, removable(text, {label: `Remove: ${text}`, tone: own, onremove: () => onchange(without)}))))));
}

/**
 * Which conditions a result meets and which it misses, by their labels; nothing where there are none.
 * @param {{meets?: string[], misses?: string[]}} result
 */
export function standing({meets = [], misses = []}) {
  if (meets.length + misses.length === 0) return null;
  const item = (text, name, sign, word) => element('li', {class: name}, icon(sign), hiddenText(`${word}: `), element('span', {}, text));
  return element('ul', {class: 'standing', 'aria-label': 'Conditions'},
    meets.map((text) => item(text, 'is-met', 'check', 'Meets')), misses.map((text) => item(text, 'is-missed', 'cross', 'Misses')));
}

/** Constraints for an address, as short as they can be said. */
export function packed(constraints) {
  const text = JSON.stringify(constraints, shortened);
  return text.length <= ADDRESS_MAX ? text : JSON.stringify({...constraints, evidence: []}, shortened);
}

function shortened(name, value) {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0) ? undefined : value;
}

/**
 * The constraints of an address; null where it has none.
 * @param {string | null} text
 */
export function unpacked(text) {
  try {
    const constraints = JSON.parse(text ?? 'null');
    return typeof constraints === 'object' && !Array.isArray(constraints) ? constraints : null;
  } catch {
    return null;
  }
}
