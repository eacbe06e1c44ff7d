/**
 * How a question was understood: its meaningful words are marked, and each result shows the conditions it meets. The conditions
 * themselves are chips (`conditions.js`).
 *
 * @typedef {{field: string, value: string, start: number, end: number, assertion: string}} Evidence `text[start:end]` gives the value of a field
 */

import {element, hiddenText, icon} from '../dom.js';
import {plural} from '../format.js';

/** The longest constraints in an address; longer ones leave out the evidence. */
const ADDRESS_MAX = 4000;

/**
 * A text with its meaningful words marked.
 * @param {string} text
 * @param {Evidence[]} evidence positions count code points; some take two units in the browser
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
 * The labels of the conditions that a result meets and misses; nothing if there are none.
 * @param {{meets?: string[], misses?: string[]}} result
 */
export function standing({meets = [], misses = []}) {
  if (meets.length + misses.length === 0) return null;
  const item = (text, name, sign, word) => element('li', {class: name}, icon(sign), hiddenText(`${word}: `), element('span', {}, text));
  return element('ul', {class: 'standing', 'aria-label': 'Conditions'},
    meets.map((text) => item(text, 'is-met', 'check', 'Meets')), misses.map((text) => item(text, 'is-missed', 'cross', 'Misses')));
}

/**
 * Whether a result meets every condition, and how many it misses; nothing without conditions.
 * @param {{meets?: string[], misses?: string[]}} result
 */
export function conditionsMet({meets = [], misses = []}) {
  if (meets.length + misses.length === 0) return null;
  return element('span', {class: 'conditions-met'}, misses.length === 0 ? 'Meets every condition' : `Misses ${plural(misses.length, 'condition')}`);
}

/** Constraints for an address, as short as possible. */
export function packed(constraints) {
  const text = JSON.stringify(constraints, shortened);
  return text.length <= ADDRESS_MAX ? text : JSON.stringify({...constraints, evidence: []}, shortened);
}

function shortened(name, value) {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0) ? undefined : value;
}

/**
 * The constraints in an address, or null.
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
