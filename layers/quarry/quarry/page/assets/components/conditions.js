/** How a question was understood, in every domain: a Query's conditions with labels and pointers, as an answer has them and a request
 * sends them back. The meaningful words of the question are marked. Each condition is a chip: its meaning and value can be changed, and
 * it can be removed and restored; a change gives the understanding to send with the question. Each result shows which ones it meets.
 *
 * @typedef {'required' | 'assumed' | 'preferred' | 'excluded' | 'about'} Assertion how a condition is meant
 * @typedef {{label: string, value: string, type?: 'text' | 'number' | 'date'}} Input
 * @typedef {{label: string, pointer: string, choices?: Assertion[]}} Chip
 * @typedef {{query: any, assumed?: any[], preferred?: any[], about?: string, like?: string, chips?: Chip[], spans?: any[]}} Understood
 * @typedef {{chip: Chip, condition: any, assertion: Assertion, within: string | null}} Removed a condition without its place; `within` is
 *   the related row that it is about */

import {button, element, hiddenText, icon, textButton, uniqueId} from '../dom.js';
import {gettext, ngettext} from '../messages.js';
import {actionChip, removable, toggle} from './results.js';

/** The longest understanding in an address; a longer one leaves out what only explains. */
const ADDRESS_MAX = 4000;

/** A text with its meaningful words marked. Positions count code points; some take two units in the browser. */
export function highlighted(text, understood) {
  const letters = Array.from(text);
  const piece = (start, end) => letters.slice(start, end).join('');
  const parts = [];
  let at = 0;
  for (const {start, end, pointer} of (understood?.spans ?? []).toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    if (start < at || start >= end || end > letters.length) continue;
    parts.push(piece(at, start), element('mark', {class: assertionOf(understood, pointer) === 'excluded' ? 'is-negated' : null}, piece(start, end)));
    at = end;
  }
  return [...parts, piece(at)];
}

/** The labels of the conditions that a result meets and misses; nothing if there are none.
 * @param {{meets?: string[], misses?: string[]}} result */
export function standing({meets = [], misses = []}) {
  if (meets.length + misses.length === 0) return null;
  const item = (text, name, sign, word) => element('li', {class: name}, icon(sign), hiddenText(`${word}: `), element('span', {}, text));
  return element('ul', {class: 'standing', 'aria-label': gettext('Conditions')},
    meets.map((text) => item(text, 'is-met', 'check', gettext('Meets'))), misses.map((text) => item(text, 'is-missed', 'cross', gettext('Misses'))));
}

/** Whether a result meets every condition, and how many it misses; nothing without conditions.
 * @param {{meets?: string[], misses?: string[]}} result */
export function conditionsMet({meets = [], misses = []}) {
  if (meets.length + misses.length === 0) return null;
  return element('span', {class: 'conditions-met'}, misses.length === 0 ? gettext('Meets every condition') : ngettext('Misses {number} condition', 'Misses {number} conditions', misses.length));
}

/** The understanding for an address, as short as possible. */
export function packed({sentence, unread, ...understood}) {
  const text = JSON.stringify(understood);
  return text.length <= ADDRESS_MAX ? text : JSON.stringify({...understood, spans: []});
}

/** The understanding in an address, or null. */
export function unpacked(text) {
  const understood = parsed(text);
  return typeof understood?.query === 'object' ? understood : null;
}

/** The `constraints` of an address, as searches were saved before; or null. */
export function former(params) {
  return parsed(params.get('constraints'));
}

function parsed(text) {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** How the condition at a pointer is meant. */
function assertionOf(understood, pointer) {
  const [, part, place] = pointer.split('/');
  if (part === 'assumed' || part === 'preferred') return part;
  if (part === 'having') return 'required';
  if (part !== 'where') return 'about';
  return isExcluded(understood.query.where?.[place]) ? 'excluded' : 'required';
}

function isExcluded(condition) {
  return condition?.not !== undefined || ['!=', 'is_null'].includes(condition?.op);
}

/** The object that a pointer of a chip leads into, and its own steps there. */
function rootOf(understood, pointer) {
  const steps = pointer.split('/').slice(1);
  return [['where', 'having', 'text'].includes(steps[0]) ? understood.query : understood, steps];
}

function valueAt(understood, pointer) {
  const [root, steps] = rootOf(understood, pointer);
  return steps.reduce((part, step) => part?.[step], root);
}

/** The understanding without the condition of a chip, and that condition. @returns {{rest: Understood, removed: Removed}} */
export function without(understood, chip) {
  const rest = structuredClone(understood);
  const [root, steps] = rootOf(rest, chip.pointer);
  const removed = {chip, condition: valueAt(understood, chip.pointer), assertion: assertionOf(understood, chip.pointer), within: null};
  if (steps.length === 1) {
    root[steps[0]] = '';
    return {rest: withoutPointer(rest, chip.pointer), removed};
  }
  const [part, place] = steps;
  const inner = steps.length > 2 && root[part][place];
  if (inner) removed.within = inner.exists;
  if (inner && inner.where.length > 1) {
    inner.where.splice(Number(steps[3]), 1);
    return {rest: withoutPointer(rest, chip.pointer), removed};
  }
  root[part].splice(Number(place), 1);
  return {rest: withoutPointer(rest, `/${part}/${place}`), removed};
}

/** The chips and spans without those at a pointer; those behind it in the same list move up. */
function withoutPointer(understood, pointer) {
  const list = pointer.slice(0, pointer.lastIndexOf('/') + 1);
  const index = Number(pointer.slice(list.length));
  const moved = (each) => {
    if (each.pointer === pointer || each.pointer.startsWith(`${pointer}/`)) return [];
    if (!each.pointer.startsWith(list)) return [each];
    const [place, ...rest] = each.pointer.slice(list.length).split('/');
    return [Number(place) > index ? {...each, pointer: [`${list}${Number(place) - 1}`, ...rest].join('/')} : each];
  };
  return {...understood, chips: (understood.chips ?? []).flatMap(moved), spans: (understood.spans ?? []).flatMap(moved)};
}

/** The understanding with a condition, as it is now meant. What must be true of the same related row stands together. */
function put(understood, {chip, condition, assertion, within}) {
  const now = structuredClone(understood);
  const [root, [part]] = rootOf(now, chip.pointer);
  const at = (pointer) => ({...now, chips: [...(now.chips ?? []), {...chip, pointer}]});
  if (assertion === 'about') {
    root[part] = condition;
    return at(chip.pointer);
  }
  const bare = affirmed(condition);
  const [inner, related] = within === null && bare.exists ? [bare.where.at(-1), bare.exists] : [bare, within];
  if (assertion === 'required' && related) {
    now.query.where ??= [];
    let place = now.query.where.findIndex((each) => each.exists === related);
    if (place < 0) place = now.query.where.push({exists: related, where: []}) - 1;
    return at(`/where/${place}/where/${now.query.where[place].where.push(inner) - 1}`);
  }
  // what is excluded is a related row that also is what the required one must be
  const required = assertion === 'excluded' ? (now.query.where ?? []).find((each) => each.exists === related)?.where ?? [] : [];
  const whole = related ? {exists: related, where: [...required, inner]} : inner;
  const list = ['assumed', 'preferred'].includes(assertion) ? (now[assertion] ??= []) : (now.query.where ??= []);
  const place = list.push(assertion === 'excluded' ? {not: whole} : whole) - 1;
  return at(`/${list === now.query.where ? 'where' : assertion}/${place}`);
}

function affirmed(condition) {
  if (condition.not) return condition.not;
  return {'!=': {...condition, op: '='}, is_null: {...condition, op: 'not_null'}}[condition.op] ?? condition;
}

/** A condition with more values than this (a continent has many countries) cannot be edited. */
const VALUES_MAX = 6;
const ENDS = {between: [0, 1], '>=': [0, null], '<=': [null, 0]};

/** The one comparison, or words, that a condition comes to; undefined if there are several. */
function leafOf(condition) {
  if (typeof condition !== 'object') return condition;
  if (condition.not) return leafOf(condition.not);
  if (condition.exists) return leafOf(condition.where.at(-1));
  return condition.any_of || condition.all_of ? undefined : condition;
}

/** What can be typed for the condition of a chip. @returns {Input[]} */
function inputsOf(understood, {pointer}) {
  const leaf = leafOf(valueAt(understood, pointer));
  if (leaf === undefined) return [];
  if (typeof leaf === 'string') return [{label: pointer === '/about' ? gettext('About') : gettext('Words'), value: leaf}];
  if (leaf.words) return [{label: gettext('Words'), value: leaf.words}];
  const values = leaf.values ?? [leaf.value ?? []].flat();
  const isPlain = values.length > 0 && values.length <= VALUES_MAX && values.every((each) => ['string', 'number'].includes(typeof each));
  if (!isPlain) return [];
  const type = values.every((each) => typeof each === 'number') ? 'number' : values.every((each) => /^\d{4}-\d\d-\d\d$/.test(each)) ? 'date' : 'text';
  const ends = ENDS[leaf.op];
  if (ends && type !== 'text') return ends.map((place, end) => ({label: [gettext('From'), gettext('To')][end], type, value: place === null ? '' : String(values[place])}));
  return [{label: gettext('Value'), value: values.map((each) => String(each).replaceAll('_', ' ')).join(gettext(' or ')), type: type === 'number' && values.length === 1 ? 'number' : 'text'}];
}

/** The understanding with what was typed for a chip. @param {string[]} typed */
function changed(understood, chip, typed) {
  const now = structuredClone(understood);
  const [root, steps] = rootOf(now, chip.pointer);
  const label = typed.filter(Boolean).join(gettext(' to '));
  now.chips = (now.chips ?? []).map((each) => (each.pointer === chip.pointer ? {...each, label} : each));
  now.spans = (now.spans ?? []).filter(({pointer}) => pointer !== chip.pointer);
  if (steps.length === 1) {
    [root[steps[0]]] = typed;
    return now;
  }
  const leaf = leafOf(valueAt(now, chip.pointer));
  const isNumber = (leaf.values ?? [leaf.value]).every((each) => typeof each === 'number');
  const read = (text) => (isNumber && text !== '' && !Number.isNaN(Number(text)) ? Number(text) : text);
  if (leaf.words) [leaf.words] = typed;
  else if (typed.length === 2) Object.assign(leaf, ranged(typed.map(read)));
  // one value, or several: `pune or mumbai`
  else if (typed[0] !== '') leaf.values = typed[0].split(/\s+or\s+/i).map((each) => each.trim()).filter(Boolean).map(read);
  if (!leaf.words && leaf.values) delete leaf.value;
  return now;
}

function ranged([least, most]) {
  if (least !== '' && most !== '') return {op: 'between', values: [least, most]};
  return least === '' ? {op: '<=', values: [most]} : {op: '>=', values: [least]};
}

/** @type {[Assertion, name: string, tone: string][]} */
const GROUPS = [
  ['required', gettext('Must'), 'accent'], ['assumed', gettext('Assumed'), ''], ['preferred', gettext('Preferred'), ''], ['excluded', gettext('Not'), 'warning'], ['about', gettext('About'), ''],
];
const NAMES = new Map(GROUPS.map(([assertion, name]) => [assertion, name]));

/** Removed conditions by question; they can be restored while the page is open. @type {Map<string, Removed[]>} */
const removedOf = new Map();

/** The conditions in groups; nothing if there are none.
 * @param {{question: string, onchange: (understood: Understood) => void, note?: string}} options `note` says what a change costs */
export function conditionChips(understood, {question, onchange, note}) {
  const {chips = []} = understood;
  const labels = new Set(chips.map(({label}) => label));
  const removed = (removedOf.get(question) ?? []).filter(({chip: {label}}) => !labels.has(label));
  const options = {understood, question, onchange, note};
  const groups = GROUPS.map(([assertion, name, tone]) =>
    [name, chips.filter(({pointer}) => assertionOf(understood, pointer) === assertion).map((each) => chipOf(each, tone, options))]);
  return [...groups, [gettext('Removed'), removed.map((each) => element('li', {}, removedChip(each, options)))]]
    .filter(([, items]) => items.length > 0).map(([name, items]) => group(name, items));
}

/** Stop offering the removed conditions of a question. */
export function forgetRemoved(question) {
  removedOf.delete(question);
}

/** How a question was understood, to change; nothing without conditions.
 * @param {{question: string, onchange: (understood: Understood | null) => void, isChanged?: boolean}} options `onchange` takes null to read
 *   the question again; `isChanged`: the reader changed the understanding */
export function understoodSection(understood, {question, onchange, isChanged = false}) {
  const chips = understood ? conditionChips(understood, {question, onchange}) : [];
  if (!understood || (chips.length === 0 && !isChanged)) return null;
  const readAgain = () => { forgetRemoved(question); onchange(null); };
  return element('section', {class: 'understood', 'aria-label': gettext('How the question was understood')}, chips,
    isChanged && element('p', {class: 'fine'}, gettext('Answered with your changes. '), textButton(gettext('Read the question again'), readAgain), '.'));
}

function group(name, chips) {
  return element('div', {class: 'understood-group'}, element('span', {class: 'understood-name'}, name), element('ul', {class: 'chips', 'aria-label': name}, chips));
}

/** A condition: a press opens its editor, Delete or the cross removes it. */
function chipOf(chip, tone, options) {
  const {label: text, choices = []} = chip;
  const {understood, question, onchange} = options;
  const onremove = () => {
    const {rest, removed} = without(understood, chip);
    removedOf.set(question, [...(removedOf.get(question) ?? []).filter((each) => each.chip.label !== text), removed]);
    onchange(rest);
  };
  const onkeydown = (event) => { if (['Delete', 'Backspace'].includes(event.key)) { event.preventDefault(); onremove(); } };
  const item = element('li', {});
  const canChange = choices.length > 1 || inputsOf(understood, chip).length > 0;
  const opener = canChange && element('button', {
    type: 'button', class: 'chip-open', 'aria-expanded': 'false', title: gettext('Change'), on: {click: () => toggleEditor(item, opener, chip, options), keydown: onkeydown},
  }, text);
  item.append(removable(opener || text, {label: gettext('Remove: {label}', {label: text}), tone, onremove}));
  return item;
}

function removedChip(removed, {understood, question, onchange}) {
  const label = gettext('Add back: {label}', {label: removed.chip.label});
  return actionChip([icon('plus'), removed.chip.label], () => {
    removedOf.set(question, (removedOf.get(question) ?? []).filter((each) => each !== removed));
    onchange(put(understood, removed));
  }, {class: 'chip toggle is-taken', 'aria-label': label, title: label});
}

/** Only one editor is open at a time. */
function toggleEditor(item, opener, chip, options) {
  const isOpen = opener.getAttribute('aria-expanded') === 'true';
  for (const other of document.querySelectorAll('.condition-editor')) other.dispatchEvent(new Event('put-away'));
  if (isOpen) return;
  const close = () => { editor.remove(); opener.setAttribute('aria-expanded', 'false'); };
  const editor = element('li', {class: 'condition-editor', on: {
    'put-away': close, keydown: (event) => { if (event.key === 'Escape') { event.stopPropagation(); close(); opener.focus(); } },
  }}, editorOf(chip, options, () => { close(); opener.focus(); }));
  opener.setAttribute('aria-expanded', 'true');
  item.after(editor);
  editor.querySelector('button, input').focus();
}

function editorOf(chip, {understood, onchange, note}, onclose) {
  const {label: text, pointer, choices = []} = chip;
  const assertion = assertionOf(understood, pointer);
  const inputs = inputsOf(understood, chip);
  const assert = (other) => {
    if (other === assertion) return onclose();
    const {rest, removed} = without(understood, chip);
    return onchange(put(rest, {...removed, assertion: other}));
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
      toggle(NAMES.get(each), {pressed: each === assertion, ontoggle: () => assert(each)}))),
    fields.length > 0 && element('form', {class: 'condition-values', on: {submit: apply}},
      fields.map((parts) => element('span', {class: 'field'}, parts)), button(gettext('Apply'), {type: 'submit'})),
    note && element('p', {class: 'fine'}, note),
    button(gettext('Close'), {kind: 'quiet', onclick: onclose}));
}
