/**
 * How a question was understood, condition by condition. Each is a chip: its meaning and value can be changed, and it can be
 * removed and restored. Only a domain's reader knows the format of its constraints.
 *
 * @typedef {'required' | 'assumed' | 'preferred' | 'excluded' | 'about'} Assertion how a condition is meant
 * @typedef {{label: string, value: string, type?: 'text' | 'number' | 'date'}} Input
 * @typedef {object} Condition
 * @property {string} text the condition in words, whatever its assertion
 * @property {Assertion} assertion
 * @property {Assertion[]} choices the assertions it can be changed to
 * @property {Input[]} inputs its values, if they can be changed
 * @property {any} held data of its reader
 *
 * @typedef {object} Reader
 * @property {(constraints: any, question: string) => Condition[]} read
 * @property {(constraints: any, condition: Condition) => any} without the constraints without the condition
 * @property {(constraints: any, condition: Condition, assertion: Assertion) => any} put the constraints plus the condition with this assertion
 * @property {(condition: Condition, values: string[]) => Condition} changed the condition with these values of its inputs
 */

import {button, element, icon, replace, uniqueId} from '../dom.js';

/** @type {[Assertion, name: string, tone: string][]} */
const GROUPS = [
  ['required', 'Must', 'accent'], ['assumed', 'Assumed', ''], ['preferred', 'Preferred', ''], ['excluded', 'Not', 'warning'], ['about', 'About', ''],
];
const NAMES = new Map(GROUPS.map(([assertion, name]) => [assertion, name]));

/** Removed conditions by question; they can be restored while the page is open. @type {Map<string, Condition[]>} */
const taken = new Map();

/**
 * The conditions in groups; nothing if there are none.
 * @param {Reader} reader
 * @param {any} constraints
 * @param {{question: string, onchange: (constraints: any) => void, note?: string}} options `note` says what a change costs
 */
export function conditionChips(reader, constraints, {question, onchange, note}) {
  const conditions = reader.read(constraints, question);
  const isThere = new Set(conditions.map(({text}) => text));
  const gone = (taken.get(question) ?? []).filter(({text}) => !isThere.has(text));
  const parts = {reader, constraints, question, onchange, note};
  const groups = GROUPS.map(([assertion, name, tone]) => [name, tone, conditions.filter((each) => each.assertion === assertion)]);
  return [
    ...groups.filter(([, , held]) => held.length > 0).map(([name, tone, held]) => group(name, held.map((each) => chip(each, tone, parts)))),
    gone.length > 0 && group('Removed', gone.map((each) => element('li', {}, takenChip(each, parts)))),
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
function chip(condition, tone, parts) {
  const {text, choices, inputs} = condition;
  const remove = () => takeAway(condition, parts);
  const onkeydown = (event) => { if (event.key === 'Delete' || event.key === 'Backspace') { event.preventDefault(); remove(); } };
  const item = element('li', {});
  const canChange = choices.length > 1 || inputs.length > 0;
  const opener = canChange && element('button', {
    type: 'button', class: 'chip-open', 'aria-expanded': 'false', title: 'Change', on: {click: () => toggleEditor(item, opener, condition, parts), keydown: onkeydown},
  }, text);
  item.append(element('span', {class: `chip removable ${tone}`.trim()}, opener || text,
    element('button', {type: 'button', class: 'chip-remove', 'aria-label': `Remove: ${text}`, title: `Remove: ${text}`, on: {click: remove}}, icon('close'))));
  return item;
}

function takenChip(condition, {reader, constraints, question, onchange}) {
  const label = `Add back: ${condition.text}`;
  return element('button', {type: 'button', class: 'chip toggle is-taken', 'aria-label': label, title: label, on: {click: () => {
    taken.set(question, (taken.get(question) ?? []).filter((each) => each !== condition));
    onchange(reader.put(constraints, condition, condition.assertion));
  }}}, icon('plus'), condition.text);
}

function takeAway(condition, {reader, constraints, question, onchange}) {
  taken.set(question, [...(taken.get(question) ?? []).filter(({text}) => text !== condition.text), condition]);
  onchange(reader.without(constraints, condition));
}

/** Only one editor is open at a time. */
function toggleEditor(item, opener, condition, parts) {
  const isOpen = opener.getAttribute('aria-expanded') === 'true';
  for (const other of document.querySelectorAll('.condition-editor')) other.dispatchEvent(new Event('put-away'));
  if (isOpen) return;
  const close = () => { editor.remove(); opener.setAttribute('aria-expanded', 'false'); };
  const editor = element('li', {class: 'condition-editor', on: {
    'put-away': close, keydown: (event) => { if (event.key === 'Escape') { event.stopPropagation(); close(); opener.focus(); } },
  }}, editorOf(condition, parts, () => { close(); opener.focus(); }));
  opener.setAttribute('aria-expanded', 'true');
  item.after(editor);
  editor.querySelector('button, input').focus();
}

function editorOf(condition, {reader, constraints, onchange, note}, onclose) {
  const {text, assertion, choices, inputs} = condition;
  const without = () => reader.without(constraints, condition);
  const mean = (chosen) => (chosen === assertion ? onclose() : onchange(reader.put(without(), condition, chosen)));
  const fields = inputs.map(({label, value, type = 'text'}) => {
    const id = uniqueId('condition');
    return [element('label', {for: id}, label), element('input', {id, type, value, maxlength: '200', step: type === 'number' ? 'any' : null, autocomplete: 'off'})];
  });
  const apply = (event) => {
    event.preventDefault();
    const values = fields.map(([, input]) => input.value.trim());
    const isSame = values.every((value, place) => value === inputs[place].value);
    if (isSame || values.every((value) => value === '')) onclose();
    else onchange(reader.put(without(), reader.changed(condition, values), assertion));
  };
  return element('div', {role: 'group', 'aria-label': `Change: ${text}`},
    choices.length > 1 && element('div', {class: 'chips', role: 'group', 'aria-label': 'How it is meant'}, choices.map((each) =>
      element('button', {type: 'button', class: 'chip toggle', 'aria-pressed': String(each === assertion), on: {click: () => mean(each)}}, NAMES.get(each)))),
    fields.length > 0 && element('form', {class: 'condition-values', on: {submit: apply}},
      fields.map((parts) => element('span', {class: 'field'}, parts)), button('Apply', {type: 'submit'})),
    note && element('p', {class: 'fine'}, note),
    button('Close', {kind: 'quiet', onclick: onclose}));
}

/**
 * The evidence without some of it, and the evidence of a condition with its new assertion.
 * @param {import('./understood.js').Evidence[]} evidence
 * @param {Assertion} assertion
 */
export function reasserted(evidence, assertion) {
  const said = {excluded: 'negated', preferred: 'preferred'}[assertion] ?? 'affirmed';
  return evidence.map((each) => ({...each, assertion: said}));
}

/** The alternatives in a typed value: `pune or mumbai`. */
export function alternatives(text) {
  return text.split(/\s+or\s+/i).map((each) => each.trim()).filter(Boolean);
}
