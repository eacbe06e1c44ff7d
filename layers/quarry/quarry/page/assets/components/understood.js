/**
 * How a question was understood, as an answer has it and a request sends it back: a Query's conditions with labels and pointers. Its
 * meaningful words are marked, and each result shows the conditions it meets. The conditions themselves are chips (`conditions.js`).
 *
 * @typedef {import('./conditions.js').Understood} Understood
 */

import {element, hiddenText, icon} from '../dom.js';
import {gettext, ngettext} from '../messages.js';


/** The longest understanding in an address; a longer one leaves out what only explains. */
const ADDRESS_MAX = 4000;

/**
 * A text with its meaningful words marked. Positions count code points; some take two units in the browser.
 * @param {string} text
 * @param {Understood | null} understood
 * @returns {import('../dom.js').Child[]}
 */
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

/**
 * The labels of the conditions that a result meets and misses; nothing if there are none.
 * @param {{meets?: string[], misses?: string[]}} result
 */
export function standing({meets = [], misses = []}) {
  if (meets.length + misses.length === 0) return null;
  const item = (text, name, sign, word) => element('li', {class: name}, icon(sign), hiddenText(`${word}: `), element('span', {}, text));
  return element('ul', {class: 'standing', 'aria-label': gettext('Conditions')},
    meets.map((text) => item(text, 'is-met', 'check', gettext('Meets'))), misses.map((text) => item(text, 'is-missed', 'cross', gettext('Misses'))));
}

/**
 * Whether a result meets every condition, and how many it misses; nothing without conditions.
 * @param {{meets?: string[], misses?: string[]}} result
 */
export function conditionsMet({meets = [], misses = []}) {
  if (meets.length + misses.length === 0) return null;
  return element('span', {class: 'conditions-met'}, misses.length === 0 ? gettext('Meets every condition') : ngettext('Misses {number} condition', 'Misses {number} conditions', misses.length));
}

/** The understanding for an address, as short as possible. @param {Understood} understood */
export function packed({sentence, unread, ...understood}) {
  const text = JSON.stringify(understood);
  return text.length <= ADDRESS_MAX ? text : JSON.stringify({...understood, spans: []});
}

/**
 * The understanding in an address, or null.
 * @param {string | null} text
 * @returns {Understood | null}
 */
export function unpacked(text) {
  try {
    const understood = JSON.parse(text ?? 'null');
    return typeof understood?.query === 'object' ? understood : null;
  } catch {
    return null;
  }
}

/** The `constraints` of an address, as searches were saved before; or null. @param {URLSearchParams} params */
export function former(params) {
  try {
    return JSON.parse(params.get('constraints') ?? 'null');
  } catch {
    return null;
  }
}

/** How the condition at a pointer is meant. @returns {import('./conditions.js').Assertion} */
export function assertionOf(understood, pointer) {
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
  return steps.reduce((held, step) => held?.[step], root);
}

/**
 * The understanding without the condition of a chip, and what was taken.
 * @param {Understood} understood
 * @param {import('./conditions.js').Chip} chip
 */
export function without(understood, chip) {
  const left = structuredClone(understood);
  const [root, steps] = rootOf(left, chip.pointer);
  const held = {chip, condition: valueAt(understood, chip.pointer), assertion: assertionOf(understood, chip.pointer), within: null};
  if (steps.length === 1) {
    root[steps[0]] = '';
    return {left: withoutPointer(left, chip.pointer), held};
  }
  const [part, place] = steps;
  const inner = steps.length > 2 && root[part][place];
  if (inner) held.within = inner.exists;
  if (inner && inner.where.length > 1) {
    inner.where.splice(Number(steps[3]), 1);
    return {left: withoutPointer(left, chip.pointer), held};
  }
  root[part].splice(Number(place), 1);
  return {left: withoutPointer(left, `/${part}/${place}`), held};
}

/** The chips and spans without those at a pointer; those behind it in the same list move up. */
function withoutPointer(understood, pointer) {
  const list = pointer.slice(0, pointer.lastIndexOf('/') + 1);
  const gone = Number(pointer.slice(list.length));
  const moved = (each) => {
    if (each.pointer === pointer || each.pointer.startsWith(`${pointer}/`)) return [];
    if (!each.pointer.startsWith(list)) return [each];
    const [place, ...rest] = each.pointer.slice(list.length).split('/');
    return [Number(place) > gone ? {...each, pointer: [`${list}${Number(place) - 1}`, ...rest].join('/')} : each];
  };
  return {...understood, chips: (understood.chips ?? []).flatMap(moved), spans: (understood.spans ?? []).flatMap(moved)};
}

/**
 * The understanding with a condition, as it is now meant. What must be true of the same related row stands together.
 * @param {Understood} understood
 * @param {{chip: import('./conditions.js').Chip, condition: any, assertion: import('./conditions.js').Assertion, within: string | null}} held
 */
export function put(understood, {chip, condition, assertion, within}) {
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

/** A condition without its negation. */
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

/**
 * What can be typed for the condition of a chip.
 * @returns {import('./conditions.js').Input[]}
 */
export function inputsOf(understood, {pointer}) {
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
  return [{label: gettext('Value'), value: values.map(spelt).join(gettext(' or ')), type: type === 'number' && values.length === 1 ? 'number' : 'text'}];
}

/** The understanding with what was typed for a chip. @param {string[]} typed */
export function changed(understood, chip, typed) {
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
  else if (typed[0] !== '') Object.assign(leaf, {values: alternatives(typed[0]).map(read)});
  if (!leaf.words && leaf.values) delete leaf.value;
  return now;
}

function ranged([least, most]) {
  if (least !== '' && most !== '') return {op: 'between', values: [least, most]};
  return least === '' ? {op: '<=', values: [most]} : {op: '>=', values: [least]};
}

/** A value to type. */
function spelt(value) {
  return typeof value === 'string' ? value.replaceAll('_', ' ') : String(value);
}

/** The alternatives in a typed value: `pune or mumbai`. */
function alternatives(text) {
  return text.split(/\s+or\s+/i).map((each) => each.trim()).filter(Boolean);
}
