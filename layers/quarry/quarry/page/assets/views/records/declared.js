/**
 * The record types that the service declares: their filters, and questions that they can answer.
 */

import {isStopped} from '../../api.js';
import {element, replace, uniqueId} from '../../dom.js';
import {NONE, amount, day, number, words} from '../../format.js';
import {gettext} from '../../messages.js';

/** The value that selects rows without a value; the empty option means any. */
const BLANK = ' ';
const VALUES_MAX = 60;
const EXAMPLES_MAX = 5;
const VALUES_LISTED = 12;
const LISTED = new Set(['value', 'name', 'place', 'array', 'boolean', 'title']);
const NUMBERS = new Set(['number', 'money', 'year']);

/** @type {Promise<any[]> | null} */
let known = null;

/** The same types once loaded, in order; empty before that. @type {any[]} */
let types = [];

/** The record types, loaded once; empty if that fails.
 * @param {import('../../app.js').Context} context
 * @returns {Promise<any[]>}
 */
export function collections(context) {
  known ??= context.api.get('collections').then((told) => { types = told.collections; return types; }).catch(() => { known = null; return []; });
  return known;
}

/** The label of a type, or its name in words if the service has not declared it.
 * @param {string} type
 */
export function typeLabel(type) {
  return types.find(({name}) => name === type)?.label ?? words(type);
}

/** The language code of a type's records; undefined if unknown. @param {string} type */
export function languageOf(type) {
  return types.find(({name}) => name === type)?.language;
}

function facetOf(type, name) {
  return types.find((each) => each.name === type)?.facets.find((each) => each.name === name);
}

/** A value of a field in the format of the type's language: numbers, money and dates of facets; null for all others.
 * @param {string} type
 * @param {string} name
 * @param {any} value
 */
export function written(type, name, value) {
  const {kind, currency} = facetOf(type, name) ?? {};
  const isNumber = value !== '' && value !== null && typeof value !== 'boolean' && Number.isFinite(Number(value));
  if ((kind === 'number' || kind === 'money') && isNumber) return amount(Number(value), currency, languageOf(type), kind === 'money');
  return kind === 'date' && /^\d{4}-\d\d-\d\d$/.test(value) ? day(value, languageOf(type)) : null;
}

/** A filter's value, or range of values, in words. @param {string} type @param {string} name @param {string} value */
export function filterValue(type, name, value) {
  if (value === '') return NONE;
  return value.split('..').map((end) => written(type, name, end) ?? end).join(gettext(' to '));
}

/** The types to choose from: all declared ones and the chosen ones.
 * @param {string[]} chosen
 */
export function offered(chosen) {
  return [...new Set([...types.map(({name}) => name), ...chosen])];
}

/** Questions that the declared collections can answer.
 * @param {any[]} types
 */
export function exampleQuestions(types) {
  const asked = types.map(({label, facets, fields, date}) => {
    const many = label.charAt(0).toLowerCase() + label.slice(1);
    const valuesOf = (name) => fields.find((field) => field.name === name)?.values?.length ?? 0;
    // a field with many values lists only the first ones, and would have as many groups as rows
    const listed = facets.find(({name, kind}) => kind === 'value' && valuesOf(name) > 1 && valuesOf(name) < VALUES_LISTED);
    const measured = facets.find(({kind}) => kind === 'money') ?? facets.find(({kind}) => kind === 'number');
    return [
      gettext('How many {rows} are there?', {rows: many}),
      listed && gettext('How many {rows} are there for each {label}?', {rows: many, label: listed.label}),
      measured && gettext('What is the average {label} of {rows}?', {label: measured.label, rows: many}),
      date && gettext('How many {rows} are there each month?', {rows: many}),
    ].filter(Boolean);
  });
  // one question from each collection, then a second
  const turns = [0, 1, 2, 3].flatMap((turn) => asked.map((questions) => questions[turn]));
  return turns.filter(Boolean).slice(0, EXAMPLES_MAX);
}

/**
 * The filters of one type: for facets with values, a list of them with counts; for numbers, the ends of a range.
 * @param {any} type as the service declares it
 * @param {Record<string, any>} search
 * @param {{context: import('../../app.js').Context, signal: AbortSignal, onfilter: (filters: Record<string, string[]>, control: string) => void}} options
 */
export function facetFields(type, search, {context, signal, onfilter}) {
  const fields = type.facets.filter(({kind}) => LISTED.has(kind) || NUMBERS.has(kind)).map((facet) =>
    (NUMBERS.has(facet.kind) ? rangeField(facet, search, onfilter) : valueField(facet, type, search, {context, signal, onfilter})));
  return element('div', {class: 'date-fields'}, fields);
}

function valueField(facet, type, search, {context, signal, onfilter}) {
  const [filtered] = search[facet.name] ?? [];
  const chosen = filtered === '' ? BLANK : filtered ?? '';
  const choose = ({target}) => onfilter({[facet.name]: target.value === BLANK ? [''] : target.value.trim() ? [target.value.trim()] : []}, facet.name);
  const select = element('select', {
    data: {filter: facet.name}, on: {change: choose},
  }, element('option', {value: ''}, gettext('Any')), chosen && element('option', {value: chosen}, filterValue(type.name, facet.name, filtered)));
  select.value = chosen;
  const field = element('label', {class: 'field'}, words(facet.label), select);
  context.api.get('records/facets', {query: {type: type.name, by: facet.name}, signal}).then(({groups}) => {
    if (groups.length > VALUES_MAX) {
      typedField(select, groups.filter(({value}) => value !== null).slice(0, VALUES_MAX), chosen, choose);
      return;
    }
    const isLeftOut = chosen && !groups.some(({value}) => String(value ?? BLANK) === chosen);
    replace(select, element('option', {value: ''}, gettext('Any')), isLeftOut && element('option', {value: chosen}, filterValue(type.name, facet.name, filtered)),
      groups.map(({value, count}) => element('option', {value: String(value ?? BLANK)}, `${value ?? NONE} (${number(count)})`)));
    select.value = chosen;
  }).catch((error) => {
    if (!isStopped(error)) field.append(element('span', {class: 'fine'}, gettext('Its values could not be fetched.')));
  });
  return field;
}

/** A facet with very many values takes typed text, and suggests the most common values. */
function typedField(select, groups, chosen, choose) {
  const id = uniqueId('values');
  const isAt = document.activeElement === select;
  const input = element('input', {type: 'search', list: id, value: chosen, placeholder: gettext('Any'), maxlength: '200', data: {...select.dataset}, on: {change: choose}});
  select.replaceWith(input, element('datalist', {id}, groups.map(({value, count}) => element('option', {value: String(value)}, number(count)))));
  if (isAt) input.focus({preventScroll: true});
}

function rangeField(facet, search, onfilter) {
  const [least = '', most = ''] = (search[facet.name]?.[0] ?? '').split('..');
  const ends = {least, most};
  const input = (end, label) => element('input', {
    type: 'number', step: 'any', value: ends[end], data: {filter: `${facet.name}-${end}`}, 'aria-label': `${words(facet.label)}, ${label}`, placeholder: label,
    on: {change: ({target}) => {
      ends[end] = target.value;
      onfilter({[facet.name]: ends.least || ends.most ? [`${ends.least}..${ends.most}`] : []}, `${facet.name}-${end}`);
    }},
  });
  return element('div', {class: 'field', role: 'group', 'aria-label': words(facet.label)}, element('span', {}, words(facet.label)),
    element('div', {class: 'range'}, input('least', 'least'), input('most', 'most')));
}
