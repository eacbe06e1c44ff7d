/**
 * What was found, to be taken away: as CSV, JSON or Markdown, into a file.
 *
 * @typedef {object} Taken
 * @property {string} name of the file, without its end
 * @property {string[]} columns
 * @property {any[][]} rows a value for each column; several values are a list
 * @property {any} [json] in the place of the rows by their columns
 * @property {string} [markdown] in the place of a table
 */

import {button, element, visible} from '../dom.js';

/**
 * Where a spreadsheet would begin a formula. In many countries Excel divides CSV at semicolons and knows a field's quotes only where it
 * begins a cell, so a formula may also stand behind a semicolon, a tab or the end of a line within a text.
 */
const FORMULA = /(^|[;\t\r\n])(?=[\s"']*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

const FORMATS = [
  {label: 'CSV', end: 'csv', type: 'text/csv', write: csv},
  {label: 'JSON', end: 'json', type: 'application/json', write: json},
  {label: 'Markdown', end: 'md', type: 'text/markdown', write: (taken) => taken.markdown ?? markdownTable(taken)},
];

/**
 * A menu of the formats.
 * @param {() => Taken} take what there is when one is chosen
 * @param {(text: string) => void} announce
 */
export function takeaway(take, announce) {
  return menu('Export', FORMATS.map(({label, end, type, write}) => ({label, onchoose: () => {
    const taken = take();
    save(`${fileName(taken.name)}.${end}`, type, write(taken));
    announce(`Saved as ${label}`);
  }})));
}

/**
 * A few actions behind a button; it closes when one is chosen, on Escape and when the reader goes elsewhere. Where the page ends
 * before they do, they stand the other way.
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

/** Rows as RFC 4180 has them, in UTF-8 with the mark that spreadsheets look for. @param {Taken} taken */
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

/** A text that Markdown takes for nothing else, in one line. @param {string} text */
export function markdownText(text) {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, '\\$&');
}

function plainText(value) {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.map(plainText).join('; ') : visible(String(value));
}

/** @param {string} name */
function fileName(name) {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').slice(0, 60) || 'quarry';
}

function save(name, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], {type}));
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
      control.textContent = 'Copied';
      announce('Copied');
    } catch {
      control.textContent = 'Copying is not allowed here';
    }
  }});
  return control;
}

/**
 * The link to one thing, to be copied: whoever opens it needs no search.
 * @param {string} type
 * @param {string} id
 * @param {import('../app.js').Context} context
 * @param {...import('../dom.js').Child} others what else can be done with it
 */
export function itemActions(type, id, context, ...others) {
  return element('div', {class: 'panel-actions'}, copyButton('Copy link', () => context.itemAddress(type, id), context.announce), others);
}
