/**
 * Downloads of results as CSV, JSON or Markdown.
 *
 * @typedef {object} Taken
 * @property {string} name of the file, without its extension
 * @property {string[]} columns
 * @property {any[][]} rows one value per column; several values as a list
 * @property {any} [json] replaces the rows
 * @property {string} [markdown] replaces the table
 */

import {button, element, visible} from '../dom.js';
import {gettext} from '../messages.js';

/**
 * Where a spreadsheet would start a formula. In many countries Excel splits CSV at semicolons and recognises quotes only at the
 * start of a cell, so a formula may also follow a semicolon, a tab or a line break within a text.
 */
const FORMULA = /(^|[;\t\r\n])(?=[\s"']*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

const FORMATS = [
  {label: 'CSV', end: 'csv', type: 'text/csv', write: csv},
  {label: 'JSON', end: 'json', type: 'application/json', write: json},
  {label: 'Markdown', end: 'md', type: 'text/markdown', write: (taken) => taken.markdown ?? markdownTable(taken)},
];

/**
 * A menu of the formats.
 * @param {() => Taken} take called when one is chosen
 * @param {(text: string) => void} announce
 * @param {{label: string, onchoose: () => void}[]} [others] further entries
 */
export function takeaway(take, announce, others = []) {
  return menu(gettext('Export'), [...FORMATS.map(({label, end, type, write}) => ({label, onchoose: () => {
    const taken = take();
    save(`${fileName(taken.name)}.${end}`, type, write(taken));
    announce(gettext('Saved as {format}', {format: label}));
  }})), ...others]);
}

/**
 * A menu button. The menu closes on a choice, on Escape, and when the focus leaves it. Without room towards the edge of the page,
 * it opens the other way.
 * @param {import('../dom.js').Child} label
 * @param {{label: string, onchoose: () => void}[]} actions
 */
function menu(label, actions) {
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
  }}, element('summary', {class: 'button quiet'}, label), items);
  return root;
}

document.addEventListener('pointerdown', ({target}) => {
  for (const open of document.querySelectorAll('.menu[open]')) open.open = open.contains(target);
});

/** Rows as CSV by RFC 4180, in UTF-8 with the byte order mark that spreadsheets expect. @param {Taken} taken */
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

/** @param {Taken} taken */
function markdownTable({columns, rows}) {
  const line = (cells) => `| ${cells.map((cell) => markdownText(plainText(cell))).join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line), ''].join('\n');
}

/** A text on one line, escaped so that Markdown shows it literally. @param {string} text */
export function markdownText(text) {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, '\\$&');
}

function plainText(value) {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.map(plainText).join('; ') : visible(String(value));
}

/** @param {string} name */
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

/**
 * A button that copies a text.
 * @param {string} label
 * @param {() => string} text
 * @param {(text: string) => void} announce
 */
export function copyButton(label, text, announce) {
  const control = button(label, {kind: 'quiet', onclick: async () => {
    try {
      await navigator.clipboard.writeText(text());
      control.textContent = gettext('Copied');
      announce(gettext('Copied'));
    } catch {
      control.textContent = gettext('Copying is not allowed here');
    }
  }});
  return control;
}

/**
 * A button that copies the link to one item. The link opens it without a search.
 * @param {string} type
 * @param {string} id
 * @param {import('../app.js').Context} context
 * @param {...import('../dom.js').Child} others other actions
 */
export function itemActions(type, id, context, ...others) {
  return element('div', {class: 'panel-actions'}, copyButton(gettext('Copy link'), () => context.itemAddress(type, id), context.announce), others);
}
