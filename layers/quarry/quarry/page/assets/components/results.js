/** Results in every domain: their cards, chips, order, export, comparison, and the button that saves their search.
 *
 * @typedef {import('../dom.js').Child} Child
 * @typedef {{id: string, name: string, rows: [name: string, value: Child][]}} Candidate to compare; all with the same rows
 * @typedef {{name: string, label: string, key?: (result: any) => any, isDescending?: boolean}} Order without a key, results keep their order
 * @typedef {{name: string, columns: string[], rows: any[][], json?: any, markdown?: string}} Table to export, by the name of its file; a
 *   cell with several values is a list. `json` replaces the rows, `markdown` the table */

import {pathOf, Problem} from '../api.js';
import {button, element, icon, marked, replace, taskButton, visible} from '../dom.js';
import {day} from '../format.js';
import {gettext, ngettext} from '../messages.js';
import {openPanel} from './panel.js';

const RESULTS_MAX = 200;

// --- chips

/** A label without an action. `tone` is `accent`, `warning` or empty. */
export function label(text, {tone = '', title} = {}) {
  return element('span', {class: `chip ${tone}`.trim(), title}, text);
}

/** The mark of a result that the saved search has not shown before. */
export function newMark(isNew) {
  return isNew && label(gettext('New'), {tone: 'accent'});
}

/** A row of buttons to choose from, as a group with a name. */
export function choices(name, texts, onchoose) {
  return element('ul', {class: 'choices', 'aria-label': name}, texts.map((text) =>
    element('li', {}, element('button', {type: 'button', class: 'choice', on: {click: () => onchoose(text)}}, element('span', {}, text), icon('chevron')))));
}

/** A chip that does something at a press. */
export function actionChip(text, onclick, {count = null, ...attributes} = {}) {
  return element('button', {type: 'button', class: 'chip toggle', on: {click: onclick}, ...attributes}, text,
    count !== null && element('span', {class: 'chip-count'}, count));
}

/** A filter that is on or off; `name` becomes its `data-filter`. */
export function toggle(text, {pressed, name, count = null, ontoggle}) {
  return actionChip(text, () => ontoggle(!pressed), {count, 'aria-pressed': String(pressed), data: {filter: name}});
}

/** An active item that can be removed; `label` says what the button does. */
export function removable(text, {label: title, tone = '', onremove}) {
  return element('span', {class: `chip removable ${tone}`.trim()}, text,
    element('button', {type: 'button', class: 'chip-remove', 'aria-label': title, title, on: {click: onremove}}, icon('close')));
}

// --- cards

/** The button that opens a result. The whole card is its target. */
function opener(text, onopen) {
  return element('button', {type: 'button', class: 'result-open', on: {click: onopen}}, text);
}

/** A result in a ranked list: what stands above its title, the title, and its passage. @param {{above: Child, title: string}} result */
export function resultItem({above, title, snippet}, onopen, heading = 'h3') {
  return [
    above && element('p', {class: 'card-meta'}, above),
    element(heading, {class: 'result-title'}, opener(title, onopen)),
    snippet && element('p', {class: 'card-text'}, marked(snippet)),
  ];
}

/** A result with its reasons: its title and a line below it, what stands beside them, and the rest. */
export function foundCard({title, line, beside}, onopen, heading, ...rest) {
  return element('article', {class: 'card found'},
    element('div', {class: 'found-head'},
      element('div', {}, element(heading, {class: 'card-title'}, opener(title, onopen)), line && element('p', {class: 'card-meta'}, line)), beside),
    rest);
}

/** A card that is a button as a whole. @param {{above?: Child, title: string, below?: Child}} result */
export function buttonCard({above, title, below, ...attributes}, onopen, ...rest) {
  return element('button', {type: 'button', on: {click: onopen}, ...attributes, class: `card ${attributes.class ?? ''}`.trim()},
    above && element('span', {class: 'card-meta'}, above), element('span', {class: 'card-title'}, title), below, rest);
}

/** The results in an order that the reader chooses, of them the first `most` until the reader wants all; and what can be done with them.
 * @param {{results: any[], orders: Order[], item: (result: any) => Element, table: (results: any[]) => Table, saver: Child, most?: number,
 *   of?: string, foot?: Child} & Record<string, any>} options `of` says which results are sorted, if not all; others are attributes of the list
 */
export function resultList({results, orders, item, table, saver, most = Infinity, of = '', foot = null, ...attributes}, context) {
  const list = element('ol', attributes);
  const end = element('div', {});
  let order = 'best';
  const show = (name) => {
    order = name;
    const [first, rest] = [sorted(results, orders, order).slice(0, most), sorted(results, orders, order).slice(most)];
    replace(list, first.map(item));
    replace(end, rest.length > 0 && button(ngettext('Show {number} more', 'Show {number} more', rest.length), {onclick: () => {
      const items = rest.map(item);
      list.append(...items);
      replace(end, foot);
      items[0].querySelector('button').focus();
    }}), foot);
  };
  show('best');
  const tools = element('div', {class: 'results-tools'}, results.length > 1 && sortControl(orders, 'best', show, of),
    results.length > 0 && exportMenu(() => table(sorted(results, orders, order)), context), saver);
  return [tools, results.length > 0 && list, end.hasChildNodes() && end];
}

// --- order

/** The results in an order; those without a value come last. @param {T[]} results @param {Order[]} orders @returns {T[]} */
export function sorted(results, orders, name) {
  const {key, isDescending = false} = orders.find((order) => order.name === name) ?? {};
  if (!key) return results;
  return results.toSorted((one, other) => {
    const [left, right] = [key(one) ?? null, key(other) ?? null];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    const order = typeof left === 'number' ? left - right : String(left).localeCompare(String(right));
    return isDescending ? -order : order;
  });
}

/** A select for the order. `of` says which results it sorts, if not all. @param {Order[]} orders */
export function sortControl(orders, selected, onchoose, of = '') {
  const select = element('select', {on: {change: ({target}) => onchoose(target.value)}, data: {sort: ''}},
    orders.map(({name, label: text}) => element('option', {value: name, selected: name === selected}, text)));
  return element('label', {class: 'sort'}, element('span', {}, gettext('Sort'), of && ` ${of}`), select);
}

// --- export

/** Where a spreadsheet would start a formula. In many countries Excel splits CSV at semicolons and recognises quotes only at the
 * start of a cell, so a formula may also follow a semicolon, a tab or a line break within a text. */
const FORMULA = /(^|[;\t\r\n])(?=[\s"']*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

const FORMATS = [
  {label: 'CSV', end: 'csv', type: 'text/csv', write: csv},
  {label: 'JSON', end: 'json', type: 'application/json', write: json},
  {label: 'Markdown', end: 'md', type: 'text/markdown', write: (table) => table.markdown ?? markdownTable(table)},
];

/** A menu of the formats to export a table in, and further entries. @param {() => Table} tableOf */
export function exportMenu(tableOf, context, others = []) {
  return menu(gettext('Export'), [...FORMATS.map(({label: format, end, type, write}) => ({label: format, onchoose: () => {
    const table = tableOf();
    save(`${fileName(table.name)}.${end}`, type, write(table));
    context.announce(gettext('Saved as {format}', {format}));
  }})), ...others]);
}

/** The Markdown of an answer and its results, one a line. */
export function answerMarkdown(question, text, lines, heading = '') {
  return `# ${markdownText(question)}\n\n${text}\n\n${heading}${lines.join('\n')}\n`;
}

/** A menu button. The menu closes on a choice, on Escape, and when the focus leaves it. Without room towards the edge of the page,
 * it opens the other way. */
function menu(name, actions) {
  const close = () => {
    root.open = false;
    root.querySelector('summary').focus();
  };
  const items = element('div', {class: 'menu-items'}, actions.map(({label: text, onchoose}) => button(text, {kind: 'quiet', onclick: () => { close(); onchoose(); }})));
  const root = element('details', {class: 'menu', on: {
    toggle: () => {
      delete items.dataset.from;
      if (items.getBoundingClientRect().right > document.documentElement.clientWidth) items.dataset.from = 'end';
    },
    keydown: (event) => { if (event.key === 'Escape' && root.open) { event.preventDefault(); close(); } },
    focusout: ({relatedTarget}) => { if (relatedTarget && !root.contains(relatedTarget)) root.open = false; },
  }}, element('summary', {class: 'button quiet'}, name), items);
  return root;
}

document.addEventListener('pointerdown', ({target}) => {
  for (const open of document.querySelectorAll('.menu[open]')) open.open = open.contains(target);
});

/** Rows as CSV by RFC 4180, in UTF-8 with the byte order mark that spreadsheets expect. */
function csv({columns, rows}) {
  return `\ufeff${[columns, ...rows].map((row) => row.map(csvField).join(',')).join('\r\n')}\r\n`;
}

function csvField(value) {
  const text = plainText(value);
  const guarded = typeof value === 'number' ? text : text.replace(FORMULA, "$1'");
  return /[",;\t\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

function json({columns, rows, json: whole}) {
  return JSON.stringify(whole ?? rows.map((row) => Object.fromEntries(columns.map((name, place) => [name, row[place] ?? null]))), null, 2);
}

function markdownTable({columns, rows}) {
  const line = (cells) => `| ${cells.map((cell) => markdownText(plainText(cell))).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line), ''].join('\n');
}

/** A text on one line, escaped so that Markdown shows it literally. */
export function markdownText(text) {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, '\\$&');
}

function plainText(value) {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.map(plainText).join('; ') : visible(String(value));
}

export function fileName(name) {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').slice(0, 60) || 'quarry';
}

export function save(name, type, content) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A button that copies a text. @param {() => string} text */
export function copyButton(name, text, {announce}) {
  return taskButton(name, async (control) => {
    await navigator.clipboard.writeText(text());
    control.textContent = gettext('Copied');
    announce(gettext('Copied'));
  }, () => gettext('Copying is not allowed here'));
}

/** The actions on one item: a copy of its link, which opens it without a search, and others. */
export function itemActions(type, id, context, ...others) {
  return element('div', {class: 'panel-actions'}, copyButton(gettext('Copy link'), () => context.itemAddress(type, id), context), others);
}

// --- saved searches

/** A button that saves a search.
 * @param {() => {domain: string, query: string, parameters: object, results?: {type: string, id: string}[]}} searchOf */
export function saver(context, searchOf, {text = gettext('Save search'), done = gettext('Saved'), announcement = gettext('Search saved')} = {}) {
  return taskButton([icon('bookmark'), text], async (control) => {
    control.disabled = true;
    const {results, ...search} = searchOf();
    await context.api.post('me/searches', {...search, ...(results && {results: results.slice(0, RESULTS_MAX)})});
    replace(control, icon('check'), done);
    context.announce(announcement);
  }, (error) => error.detail || gettext('Saving failed. Try again.'));
}

/** Report a saved search as run again. Resolves to its new results and a sentence about them, or null if that fails. */
export async function openedSearch(context, id, results) {
  try {
    const {new: added, opened_before: before} = await context.api.post(pathOf('me', 'searches', id, 'opened'), {
      results: results.slice(0, RESULTS_MAX).map(({type, id: own}) => ({type, id: own})),
    });
    const count = added.length === 0 ? gettext('Nothing is new') : ngettext('{number} new result', '{number} new results', added.length);
    return {keys: added.map((each) => `${each.type}/${each.id}`), text: gettext('{count} since you opened this on {day}.', {count, day: day(before)})};
  } catch {
    return null;
  }
}

// --- side by side

const COMPARED_MAX = 4;

/** The results that can be compared, at most four of them at once. */
export class Comparison {
  constructor(candidates, context) {
    Object.assign(this, {candidates, context, selected: new Set(), boxes: new Map()});
    this.bar = element('div', {class: 'compare-bar', hidden: true});
  }

  /** A checkbox that adds a result to the comparison; nothing if there is nothing to compare it with. */
  control(id) {
    if (this.candidates.length < 2) return null;
    const box = this.boxes.get(id) ?? element('input', {type: 'checkbox', on: {change: ({target}) => this.#choose(id, target.checked)}});
    this.boxes.set(id, box);
    const {name} = this.candidates.find((candidate) => candidate.id === id);
    box.setAttribute('aria-label', gettext('Compare {name}', {name}));
    return element('label', {class: 'compare-box'}, box, gettext('Compare'));
  }

  #choose(id, isSelected) {
    if (isSelected) this.selected.add(id);
    else this.selected.delete(id);
    const isFull = this.selected.size >= COMPARED_MAX;
    for (const [other, box] of this.boxes) box.disabled = isFull && !this.selected.has(other);
    this.bar.hidden = this.selected.size === 0;
    const number = this.selected.size;
    replace(this.bar,
      element('span', {}, number < 2 ? gettext('Choose another to compare')
        : isFull ? gettext('{number} chosen, the most that can be compared', {number}) : gettext('{number} chosen', {number})),
      number > 1 && button(gettext('Compare'), {kind: 'primary', onclick: () => this.context.open('compare', [...this.selected].join(','))}),
      button(gettext('Clear'), {kind: 'quiet', onclick: () => {
        const [first] = this.selected;
        this.boxes.get(first)?.focus();
        for (const box of this.boxes.values()) Object.assign(box, {checked: false, disabled: false});
        this.selected.clear();
        this.bar.hidden = true;
      }}));
  }
}

/** The comparison in a panel. @param {string[]} ids @param {() => Promise<Candidate[]>} candidatesOf */
export function openComparison(ids, candidatesOf, context) {
  return openPanel(gettext('Side by side'), async () => {
    const candidates = await candidatesOf();
    const compared = ids.slice(0, COMPARED_MAX).map((id) => candidates.find((candidate) => candidate.id === id)).filter(Boolean);
    if (compared.length === 0) throw new Problem('not_found', gettext('These are not among the results.'));
    const rows = compared[0].rows.map(([name], place) => [name, compared.map((candidate) => candidate.rows[place][1])])
      .filter(([, values]) => values.some((value) => value !== null && value !== undefined && value !== '' && value !== false));
    return element('div', {class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': gettext('Side by side')}, element('table', {class: 'compared'},
      element('thead', {}, element('tr', {}, element('td'), compared.map(({name}) => element('th', {scope: 'col'}, name)))),
      element('tbody', {}, rows.map(([name, values]) => element('tr', {}, element('th', {scope: 'row'}, name),
        values.map((value) => element('td', {}, value === null || value === undefined || value === '' ? '–' : value)))))));
  }, context, {isWide: true});
}
