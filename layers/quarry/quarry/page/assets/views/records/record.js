/**
 * One record: a card in a list, a preview of a citation, and the whole in the panel.
 */

import {pathOf} from '../../api.js';
import {label} from '../../components/chips.js';
import {facts, openPanel} from '../../components/panel.js';
import {copyButton, itemActions} from '../../components/takeaway.js';
import {element, icon, marked, outsideLink} from '../../dom.js';
import {day, words} from '../../format.js';
import {collections, languageOf, written} from './declared.js';
import {gettext, ngettext} from '../../messages.js';

/** An icon for each kind of city record. Other collections are distinguished by whether they have a date. */
const ICON_OF = {motion: 'gavel', agenda_item: 'list', matter: 'folder', document_section: 'document', key_statement: 'speech', transcript_segment: 'speech'};

/**
 * The type and date above a record's title.
 * @param {{type: string, date?: string}} record
 */
export function kicker({type, date}) {
  return [words(type), date && day(date, languageOf(type))].filter(Boolean).join(' · ');
}

/**
 * A numbered source of an answer; opens the whole record.
 * @param {any} source
 * @param {import('../../app.js').Context} context
 */
export function sourceCard(source, context) {
  return element('button', {type: 'button', class: 'card source', data: {n: source.n, type: source.type}, on: {click: () => context.open(source.type, source.id, source)}},
    element('span', {class: 'card-meta'}, element('span', {class: 'source-number'}, source.n), icon(ICON_OF[source.type] ?? (source.date ? 'calendar' : 'document')), kicker(source)),
    element('span', {class: 'card-title'}, source.title),
    element('span', {class: 'card-text'}, marked(source.snippet)));
}

/** The preview of a citation. */
export function sourcePreview(source) {
  return [
    element('p', {class: 'card-meta'}, kicker(source)),
    element('p', {class: 'card-title'}, source.title),
    element('p', {class: 'card-text'}, marked(source.snippet)),
  ];
}

/**
 * A result; its title opens the record.
 * @param {any} result
 * @param {import('../../app.js').Context} context
 * @param {boolean} isNew the saved search has not shown it before
 */
export function resultCard(result, context, isNew) {
  return element('li', {class: 'result', data: {type: result.type, key: `${result.type}/${result.id}`}},
    element('p', {class: 'card-meta'}, kicker(result), found(result.matched), isNew && label(gettext('New'), {tone: 'accent'})),
    element('h2', {class: 'result-title'}, element('button', {type: 'button', class: 'result-open', on: {click: () => context.open(result.type, result.id, result)}}, result.title)),
    element('p', {class: 'card-text'}, marked(result.snippet)),
    result.also?.length > 0 && element('details', {class: 'result-also'},
      element('summary', {}, ngettext('{number} more that says the same', '{number} more that say the same', result.also.length)),
      element('ul', {}, result.also.map((each) => element('li', {},
        element('button', {type: 'button', class: 'also-open', on: {click: () => context.open(each.type, each.id, each)}}, each.title), ' ',
        element('span', {class: 'card-meta'}, kicker(each)))))));
}

/** How a record was found, if only one of the two searches found it. */
function found({text_rank: byWords, semantic_rank: byMeaning}) {
  if (byWords && !byMeaning) return label(gettext('by its words'));
  if (byMeaning && !byWords) return label(gettext('by its meaning'));
  return null;
}

/** How to cite a record: its title, type, date and address. */
export function citationText({type, id, title, date, url}) {
  return [`${title}.`, [words(type), id].join(' '), date && day(date, languageOf(type)), url].filter(Boolean).join(', ').replace('.,', '.');
}

/**
 * The whole record in the panel.
 * @param {{type: string, id: string, title?: string, date?: string}} record
 * @param {import('../../app.js').Context} context
 * @param {string} [quote] the cited passage, to mark and scroll to
 */
export function openRecord(record, context, quote) {
  return openPanel(record.title ?? words(record.type), async (panel) => {
    const [found, types] = await Promise.all([context.api.get(pathOf('records', record.type, record.id)), collections(context)]);
    const facets = types.find(({name}) => name === record.type)?.facets ?? [];
    // the label of a facet with several values describes a single value
    const labels = facets.filter(({kind}) => kind !== 'array').map(({name, label: called}) => [name, words(called)]);
    panel.setTitle(found.title, kicker(found));
    return [
      whole(found, Object.fromEntries(labels)),
      itemActions(found.type, found.id, context, copyButton(gettext('Copy citation'), () => citationText(found), context.announce)),
    ];
  },
    {kicker: kicker(record), signIn: () => context.session.signIn(), onshown: ({dialog}) => { if (quote) showQuote(dialog, quote); }});
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
  const read = nodes.map(({data}) => data).reverse().join('\n');
  const found = placesOf(quote, read);
  const marks = [];
  let place = read.length + 1;
  // from the end, since cutting a node keeps the positions before the cut
  for (const node of nodes) {
    place -= node.length + 1;
    for (const {index, 0: {length}} of found) {
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
function placesOf(quote, read) {
  const placeOf = (text) => {
    const row = text.match(/[\p{L}\p{N}]+/gu)?.join('[^\\p{L}\\p{N}]+');
    return row && new RegExp(`(?<![\\p{L}\\p{N}])${row}(?![\\p{L}\\p{N}])[.!?…]*["”’»)]*`, 'iu').exec(read);
  };
  const whole = placeOf(quote);
  if (whole) return [whole];
  const places = quote.split(/\n|(?<=[.!?])\s+(?=\p{L}+: )/u).filter((line) => line.trim()).map(placeOf);
  return places.every(Boolean) ? places.sort((one, other) => other.index - one.index) : [];
}

// Shown elsewhere in the panel, or meaningless to a reader.
const LEFT_OUT = /^(id|url|date|title)$|_id$/;
const LONG_TEXT_MIN = 160;

function whole({type, fields, texts: given = [], meeting, title, url}, labels) {
  const isLong = (value) => typeof value === 'string' && value.length >= LONG_TEXT_MIN;
  const named = [...new Set([...given, ...Object.keys(fields).filter((name) => isLong(fields[name]))])];
  const texts = named.filter((name) => fields[name] && fields[name] !== title);
  const others = Object.entries(fields).filter(([name]) => !LEFT_OUT.test(name) && !named.includes(name));
  return [
    texts.length > 0 && element('div', {class: 'record-texts'}, texts.map((name, index) => element('section', {},
      (texts.length > 1 || index > 0) && element('h3', {class: 'section-label'}, words(name)), element('p', {class: 'record-text'}, String(fields[name]))))),
    facts(others.map(([name, value]) => [labels[name] ?? words(name.replace(/_seconds$/, '')), written(type, name, value) ?? fieldValue(name, value, languageOf(type))])),
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

/** A link to the record's position in a recording. */
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
  const isLink = ([name, value]) => name.endsWith('_url') && value;
  const others = Object.entries(fields).filter(([name]) => name !== 'id' && !name.endsWith('_url'));
  const links = Object.entries(fields).filter(isLink);
  return element('section', {class: 'record-parent'},
    title && element('h3', {}, String(title)),
    summary && element('p', {class: 'card-text'}, String(summary)),
    facts(others.map(([name, value]) => [words(name), fieldValue(name, value, language)])),
    links.length > 0 && element('p', {class: 'record-links'}, links.map(([name, address]) => outsideLink(address, words(name.slice(0, -4)), ' ', icon('outside')))));
}
