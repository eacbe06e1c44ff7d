/**
 * The marks behind the statements of an answer that the check did not verify, each with its reason.
 */

import {element} from '../dom.js';
import {sentenceCase} from '../format.js';
import {statementPlace} from '../markdown.js';
import {openPreview, previewed} from './popover.js';
import {gettext} from '../messages.js';

// how the states of statements are marked, and what the marks mean
const MARKS = {flagged: ['†', gettext('Not borne out')], plausible: ['?', gettext('Not checked in full')]};

/** @typedef {{start: number, end: number, state: string, reason?: string | null}} Statement */

/**
 * A text with a place for the mark behind each statement that is not verified. Offsets count characters, not code units.
 * @param {string} text @param {Statement[]} statements
 */
export function withStatementPlaces(text, statements) {
  const characters = [...text];
  for (const [place, {end, state}] of [...statements.entries()].reverse()) {
    if (state in MARKS) characters.splice(characters[end - 1] === '|' ? end - 1 : end, 0, statementPlace(place));
  }
  return characters.join('');
}

/** The mark behind a statement, with the reason on hover, focus and tap. @param {Statement | undefined} statement */
export function statementMark({state, reason} = {start: 0, end: 0, state: ''}) {
  if (!(state in MARKS)) return null;
  const [sign, meaning] = MARKS[state];
  const mark = element('button', {type: 'button', class: 'citation statement-mark', 'aria-label': `${meaning}: ${reason}`, data: {state},
    on: {click: () => openPreview(mark, content)}}, sign);
  const content = () => [element('p', {class: 'card-meta'}, meaning), element('p', {}, sentenceCase(reason ?? ''))];
  previewed(mark, content);
  return mark;
}
