/** One record: a card in a list, a preview of a citation, and the whole in the panel. */

import {isStopped, pathOf} from '../../api.js';
import {facts, openPanel} from '../../components/panel.js';
import {buttonCard, copyButton, itemActions, label, newMark, resultItem} from '../../components/results.js';
import {element, icon, marked, outsideLink, replace, uniqueId} from '../../dom.js';
import {amount, day, NONE, number, words} from '../../format.js';
import {gettext, ngettext} from '../../messages.js';

// --- the record types that the service declares: their filters, and questions that they can answer

/** The value that selects rows without a value; the empty option means any. */
const BLANK = ' ';
const VALUES_MAX = 60;
const EXAMPLES_MAX = 5;
const VALUES_LISTED = 12;
const LISTED = new Set(['value', 'name', 'place', 'array', 'boolean', 'title']);
const NUMBERS = new Set(['number', 'money', 'year']);

let loading = null;

/** The types once loaded, in order; empty before that. @type {any[]} */
let types = [];

/** The record types, loaded once; empty if that fails. @returns {Promise<any[]>} */
export function collections(context) {
  loading ??= context.api.get('collections').then((response) => { types = response.collections; return types; }).catch(() => { loading = null; return []; });
  return loading;
}

/** The label of a type, or its name in words if the service has not declared it. */
export function typeLabel(type) {
  return types.find(({name}) => name === type)?.label ?? words(type);
}

/** The language code of a type's records; undefined if unknown. */
export function languageOf(type) {
  return types.find(({name}) => name === type)?.language;
}

/** A value of a field in the format of the type's language: numbers, money and dates of facets; null for all others. */
function valueText(type, name, value) {
  const {kind, currency} = types.find((each) => each.name === type)?.facets.find((each) => each.name === name) ?? {};
  const isNumber = value !== '' && value !== null && typeof value !== 'boolean' && Number.isFinite(Number(value));
  if ((kind === 'number' || kind === 'money') && isNumber) return amount(Number(value), currency, languageOf(type), kind === 'money');
  return kind === 'date' && /^\d{4}-\d\d-\d\d$/.test(value) ? day(value, languageOf(type)) : null;
}

/** A filter's value, or range of values, in words. */
export function filterValue(type, name, value) {
  if (value === '') return NONE;
  return value.split('..').map((end) => valueText(type, name, end) ?? end).join(gettext(' to '));
}

/** The types to choose from: all declared ones and the chosen ones. @param {string[]} chosen */
export function offered(chosen) {
  return [...new Set([...types.map(({name}) => name), ...chosen])];
}

/** Questions that the declared collections can answer. @param {any[]} types */
export function exampleQuestions(types) {
  const ofTypes = types.map(({label, facets, fields, date}) => {
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
  return [0, 1, 2, 3].flatMap((turn) => ofTypes.map((questions) => questions[turn])).filter(Boolean).slice(0, EXAMPLES_MAX);
}

/** The filters of one type: for facets with values, a list of them with counts; for numbers, the ends of a range. */
export function facetFields(type, search, {context, signal, onfilter}) {
  const fields = type.facets.filter(({kind}) => LISTED.has(kind) || NUMBERS.has(kind)).map((facet) =>
    (NUMBERS.has(facet.kind) ? rangeField(facet, search, onfilter) : valueField(facet, type, search, {context, signal, onfilter})));
  return element('div', {class: 'date-fields'}, fields);
}

function valueField(facet, type, search, {context, signal, onfilter}) {
  const [filter] = search[facet.name] ?? [];
  const value = filter === '' ? BLANK : filter ?? '';
  const onchange = ({target}) => onfilter({[facet.name]: target.value === BLANK ? [''] : target.value.trim() ? [target.value.trim()] : []}, facet.name);
  const select = element('select', {data: {filter: facet.name}, on: {change: onchange}});
  const list = (hasOther, options = []) => {
    replace(select, element('option', {value: ''}, gettext('Any')), hasOther && element('option', {value}, filterValue(type.name, facet.name, filter)), options);
    select.value = value;
  };
  list(value);
  const field = element('label', {class: 'field'}, words(facet.label), select);
  context.api.get('records/facets', {query: {type: type.name, by: facet.name}, signal}).then(({groups}) => {
    if (groups.length > VALUES_MAX) typedField(select, groups.filter((group) => group.value !== null).slice(0, VALUES_MAX), value, onchange);
    else {
      list(value && !groups.some((group) => String(group.value ?? BLANK) === value),
        groups.map((group) => element('option', {value: String(group.value ?? BLANK)}, `${group.value ?? NONE} (${number(group.count)})`)));
    }
  }).catch((error) => {
    if (!isStopped(error)) field.append(element('span', {class: 'fine'}, gettext('Its values could not be fetched.')));
  });
  return field;
}

/** A facet with very many values takes typed text, and suggests the most common values. */
function typedField(select, groups, text, onchange) {
  const id = uniqueId('values');
  const isAt = document.activeElement === select;
  const input = element('input', {type: 'search', list: id, value: text, placeholder: gettext('Any'), maxlength: '200', data: {...select.dataset}, on: {change: onchange}});
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

// --- records

/** An icon for each kind of city record. Other collections are distinguished by whether they have a date. */
const ICON_OF = {motion: 'gavel', agenda_item: 'list', matter: 'folder', document_section: 'document', key_statement: 'speech', transcript_segment: 'speech'};

/** The type and date above a record's title. @param {{type: string, date?: string}} record */
export function kicker({type, date}) {
  return [words(type), date && day(date, languageOf(type))].filter(Boolean).join(' · ');
}

/** A numbered source of an answer; opens the whole record. */
export function sourceCard(source, context) {
  const {n, type, title, date, snippet} = source;
  const above = [element('span', {class: 'source-number'}, n), icon(ICON_OF[type] ?? (date ? 'calendar' : 'document')), kicker(source)];
  return buttonCard({class: 'source', data: {n, type}, above, title}, () => context.open(type, source.id, source), element('span', {class: 'card-text'}, marked(snippet)));
}

export function sourcePreview(source) {
  return [
    element('p', {class: 'card-meta'}, kicker(source)),
    element('p', {class: 'card-title'}, source.title),
    element('p', {class: 'card-text'}, marked(source.snippet)),
  ];
}

/** A result; its title opens the record. */
export function resultCard(result, context, isNew) {
  const open = (each) => () => context.open(each.type, each.id, each);
  return element('li', {class: 'result', data: {type: result.type, key: `${result.type}/${result.id}`}},
    resultItem({...result, above: [kicker(result), matchLabel(result.matched), newMark(isNew)]}, open(result), 'h2'),
    result.also?.length > 0 && element('details', {class: 'result-also'},
      element('summary', {}, ngettext('{number} more that says the same', '{number} more that say the same', result.also.length)),
      element('ul', {}, result.also.map((each) => element('li', {},
        element('button', {type: 'button', class: 'also-open', on: {click: open(each)}}, each.title), ' ', element('span', {class: 'card-meta'}, kicker(each)))))));
}

/** How a record was found, if only one of the two searches found it. */
function matchLabel({text_rank: byWords, semantic_rank: byMeaning}) {
  if (byWords && !byMeaning) return label(gettext('by its words'));
  if (byMeaning && !byWords) return label(gettext('by its meaning'));
  return null;
}

/** How to cite a record: its title, type, date and address. */
export function citationText({type, id, title, date, url}) {
  return [`${title}.`, [words(type), id].join(' '), date && day(date, languageOf(type)), url].filter(Boolean).join(', ').replace('.,', '.');
}

/** The whole record in the panel; `quote` is the cited passage, to mark and scroll to. */
export function openRecord({type, id, title, date}, context, quote) {
  return openPanel(title ?? words(type), async (panel) => {
    const [record, loaded] = await Promise.all([context.api.get(pathOf('records', type, id)), collections(context)]);
    const facets = loaded.find(({name}) => name === type)?.facets ?? [];
    // the label of a facet with several values describes a single value
    const labels = facets.filter(({kind}) => kind !== 'array').map((facet) => [facet.name, words(facet.label)]);
    panel.setTitle(record.title, kicker(record));
    return [
      whole(record, Object.fromEntries(labels)),
      itemActions(record.type, record.id, context, copyButton(gettext('Copy citation'), () => citationText(record), context)),
    ];
  }, context, {kicker: kicker({type, date}), onshown: ({dialog}) => { if (quote) showQuote(dialog, quote); }});
}

/** Mark a quote and scroll to it; nothing if the record does not contain it, or no longer does. */
function showQuote(root, quote) {
  const [first] = markQuote(root, quote);
  if (!first) return;
  first.tabIndex = -1;
  // screen readers continue here, unless the reader has moved the focus
  if (document.activeElement.tabIndex < 0) first.focus({preventScroll: true});
  first.scrollIntoView();
}

/** @returns {HTMLElement[]} one mark for each text node that contains part of it */
function markQuote(root, quote) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.unshift(walker.currentNode);
  const text = nodes.map(({data}) => data).reverse().join('\n');
  const matches = placesOf(quote, text);
  const marks = [];
  let place = text.length + 1;
  // from the end, since cutting a node keeps the positions before the cut
  for (const node of nodes) {
    place -= node.length + 1;
    for (const {index, 0: {length}} of matches) {
      const start = Math.max(index - place, 0);
      const end = Math.min(index + length - place, node.length);
      if (start >= end || !node.data.slice(start, end).trim()) continue;
      const range = new Range();
      range.setStart(node, start);
      range.setEnd(node, end);
      marks.unshift(element('mark', {class: 'cited'}));
      range.surroundContents(marks[0]);
    }
  }
  return marks;
}

/** The positions of the words of a quote in a row, or of each of its lines and facts, which may be shown apart; last first. */
function placesOf(quote, text) {
  const placeOf = (part) => {
    const row = part.match(/[\p{L}\p{N}]+/gu)?.join('[^\\p{L}\\p{N}]+');
    return row && new RegExp(`(?<![\\p{L}\\p{N}])${row}(?![\\p{L}\\p{N}])[.!?…]*["”’»)]*`, 'iu').exec(text);
  };
  const whole = placeOf(quote);
  if (whole) return [whole];
  const places = quote.split(/\n|(?<=[.!?])\s+(?=\p{L}+: )/u).filter((line) => line.trim()).map(placeOf);
  return places.every(Boolean) ? places.sort((one, other) => other.index - one.index) : [];
}

// Shown elsewhere in the panel, or meaningless to a reader.
const LEFT_OUT = /^(id|url|date|title)$|_id$/;
const LONG_TEXT_MIN = 160;

function whole({type, fields, texts: declared = [], meeting, title, url}, labels) {
  const isLong = (value) => typeof value === 'string' && value.length >= LONG_TEXT_MIN;
  const names = [...new Set([...declared, ...Object.keys(fields).filter((name) => isLong(fields[name]))])];
  const texts = names.filter((name) => fields[name] && fields[name] !== title);
  const others = Object.entries(fields).filter(([name]) => !LEFT_OUT.test(name) && !names.includes(name));
  return [
    texts.length > 0 && element('div', {class: 'record-texts'}, texts.map((name, index) => element('section', {},
      (texts.length > 1 || index > 0) && element('h3', {class: 'section-label'}, words(name)), element('p', {class: 'record-text'}, String(fields[name]))))),
    facts(others.map(([name, value]) => [labels[name] ?? words(name.replace(/_seconds$/, '')), valueText(type, name, value) ?? fieldValue(name, value, languageOf(type))])),
    url && element('p', {}, outsideLink(url, gettext('Open at its source '), icon('outside'))),
    momentLink(fields, meeting?.video_url ?? url),
    meeting && parentOf(meeting, languageOf(type)),
  ];
}

function fieldValue(name, value, language) {
  if (Array.isArray(value)) return value.map(String).join(', ');
  if (name.endsWith('_seconds') && typeof value === 'number') return clock(value);
  if (/^date$|_on$|_date$/.test(name) && typeof value === 'string') return day(value, language);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value === null ? null : String(value);
}

/** Seconds into a recording as `h:mm:ss`. */
function clock(seconds) {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  return `${hours ? `${hours}:${String(minutes).padStart(2, '0')}` : minutes}:${String(rest).padStart(2, '0')}`;
}

function momentLink({start_seconds: start}, video) {
  if (typeof start !== 'number' || typeof video !== 'string' || !/^https?:/i.test(video) || !URL.canParse(video)) return null;
  const address = new URL(video);
  // these players have their own parameter; all others follow Media Fragments
  if (/(^|\.)(youtube\.com|youtu\.be)$/.test(address.hostname)) address.searchParams.set('t', `${Math.floor(start)}s`);
  else address.hash = `t=${Math.floor(start)}`;
  return element('p', {}, outsideLink(address.href, gettext('Watch from {time} ', {time: clock(start)}), icon('outside')));
}

/** The parent of a record: its title, summary, and other properties. */
function parentOf({title, summary, ...fields}, language) {
  const others = Object.entries(fields).filter(([name]) => name !== 'id' && !name.endsWith('_url'));
  const links = Object.entries(fields).filter(([name, value]) => name.endsWith('_url') && value);
  return element('section', {class: 'record-parent'},
    title && element('h3', {}, String(title)),
    summary && element('p', {class: 'card-text'}, String(summary)),
    facts(others.map(([name, value]) => [words(name), fieldValue(name, value, language)])),
    links.length > 0 && element('p', {class: 'record-links'}, links.map(([name, address]) => outsideLink(address, words(name.slice(0, -4)), ' ', icon('outside')))));
}
