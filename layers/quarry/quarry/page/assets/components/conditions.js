/**
 * How a question was understood, condition by condition, in every domain. Each is a chip: its meaning and value can be changed, and it
 * can be removed and restored. A change gives the understanding to send with the question.
 *
 * @typedef {'required' | 'assumed' | 'preferred' | 'excluded' | 'about'} Assertion how a condition is meant
 * @typedef {{label: string, value: string, type?: 'text' | 'number' | 'date'}} Input
 * @typedef {{label: string, pointer: string, choices?: Assertion[]}} Chip
 * @typedef {{query: any, assumed?: any[], preferred?: any[], about?: string, like?: string, chips?: Chip[], spans?: any[]}} Understood
 */

import {button, element, icon, uniqueId} from '../dom.js';
import {assertionOf, changed, inputsOf, put, without} from './understood.js';
import {gettext} from '../messages.js';

/** @type {[Assertion, name: string, tone: string][]} */
const GROUPS = [
  ['required', gettext('Must'), 'accent'], ['assumed', gettext('Assumed'), ''], ['preferred', gettext('Preferred'), ''], ['excluded', gettext('Not'), 'warning'], ['about', gettext('About'), ''],
];
const NAMES = new Map(GROUPS.map(([assertion, name]) => [assertion, name]));

/** Removed conditions by question; they can be restored while the page is open. @type {Map<string, {chip: Chip, held: any}[]>} */
const taken = new Map();

/**
 * The conditions in groups; nothing if there are none.
 * @param {Understood} understood
 * @param {{question: string, onchange: (understood: Understood) => void, note?: string}} options `note` says what a change costs
 */
export function conditionChips(understood, {question, onchange, note}) {
  const {chips = []} = understood;
  const isThere = new Set(chips.map(({label}) => label));
  const gone = (taken.get(question) ?? []).filter(({chip: {label}}) => !isThere.has(label));
  const parts = {understood, question, onchange, note};
  const groups = GROUPS.map(([assertion, name, tone]) => [name, tone, chips.filter(({pointer}) => assertionOf(understood, pointer) === assertion)]);
  return [
    ...groups.filter(([, , held]) => held.length > 0).map(([name, tone, held]) => group(name, held.map((each) => chipOf(each, tone, parts)))),
    gone.length > 0 && group(gettext('Removed'), gone.map((each) => element('li', {}, takenChip(each, parts)))),
  ].filter(Boolean);
}

/** Stop offering removed conditions of a question. */
export function forgetTaken(question) {
  taken.delete(question);
}

function group(name, chips) {
  return element('div', {class: 'understood-group'}, element('span', {class: 'understood-name'}, name), element('ul', {class: 'chips', 'aria-label': name}, chips));
}

/** A condition: a press opens its editor, Delete or the cross removes it. */
function chipOf(chip, tone, parts) {
  const {label: text, choices = []} = chip;
  const remove = () => takeAway(chip, parts);
  const onkeydown = (event) => { if (event.key === 'Delete' || event.key === 'Backspace') { event.preventDefault(); remove(); } };
  const item = element('li', {});
  const canChange = choices.length > 1 || inputsOf(parts.understood, chip).length > 0;
  const opener = canChange && element('button', {
    type: 'button', class: 'chip-open', 'aria-expanded': 'false', title: gettext('Change'), on: {click: () => toggleEditor(item, opener, chip, parts), keydown: onkeydown},
  }, text);
  item.append(element('span', {class: `chip removable ${tone}`.trim()}, opener || text,
    element('button', {type: 'button', class: 'chip-remove', 'aria-label': gettext('Remove: {label}', {label: text}), title: gettext('Remove: {label}', {label: text}), on: {click: remove}}, icon('close'))));
  return item;
}

function takenChip(gone, {understood, question, onchange}) {
  const label = gettext('Add back: {label}', {label: gone.chip.label});
  return element('button', {type: 'button', class: 'chip toggle is-taken', 'aria-label': label, title: label, on: {click: () => {
    taken.set(question, (taken.get(question) ?? []).filter((each) => each !== gone));
    onchange(put(understood, gone));
  }}}, icon('plus'), gone.chip.label);
}

function takeAway(chip, {understood, question, onchange}) {
  const {left, held} = without(understood, chip);
  taken.set(question, [...(taken.get(question) ?? []).filter((each) => each.chip.label !== chip.label), held]);
  onchange(left);
}

/** Only one editor is open at a time. */
function toggleEditor(item, opener, chip, parts) {
  const isOpen = opener.getAttribute('aria-expanded') === 'true';
  for (const other of document.querySelectorAll('.condition-editor')) other.dispatchEvent(new Event('put-away'));
  if (isOpen) return;
  const close = () => { editor.remove(); opener.setAttribute('aria-expanded', 'false'); };
  const editor = element('li', {class: 'condition-editor', on: {
    'put-away': close, keydown: (event) => { if (event.key === 'Escape') { event.stopPropagation(); close(); opener.focus(); } },
  }}, editorOf(chip, parts, () => { close(); opener.focus(); }));
  opener.setAttribute('aria-expanded', 'true');
  item.after(editor);
  editor.querySelector('button, input').focus();
}

function editorOf(chip, {understood, onchange, note}, onclose) {
  const {label: text, pointer, choices = []} = chip;
  const assertion = assertionOf(understood, pointer);
  const inputs = inputsOf(understood, chip);
  const mean = (chosen) => {
    if (chosen === assertion) return onclose();
    const {left, held} = without(understood, chip);
    return onchange(put(left, {...held, assertion: chosen}));
  };
  const fields = inputs.map(({label, value, type = 'text'}) => {
    const id = uniqueId('condition');
    return [element('label', {for: id}, label), element('input', {id, type, value, maxlength: '200', step: type === 'number' ? 'any' : null, autocomplete: 'off'})];
  });
  const apply = (event) => {
    event.preventDefault();
    const values = fields.map(([, input]) => input.value.trim());
    const isSame = values.every((value, place) => value === inputs[place].value);
    if (isSame || values.every((value) => value === '')) onclose();
    else onchange(changed(understood, chip, values));
  };
  return element('div', {role: 'group', 'aria-label': gettext('Change: {label}', {label: text})},
    choices.length > 1 && element('div', {class: 'chips', role: 'group', 'aria-label': gettext('How it is meant')}, choices.map((each) =>
      element('button', {type: 'button', class: 'chip toggle', 'aria-pressed': String(each === assertion), on: {click: () => mean(each)}}, NAMES.get(each)))),
    fields.length > 0 && element('form', {class: 'condition-values', on: {submit: apply}},
      fields.map((parts) => element('span', {class: 'field'}, parts)), button(gettext('Apply'), {type: 'submit'})),
    note && element('p', {class: 'fine'}, note),
    button(gettext('Close'), {kind: 'quiet', onclick: onclose}));
}
