/**
 * Tables that the reader sorts by a click on a heading.
 */

import {element, replace} from '../dom.js';

/** The value of a cell to sort by: a number where its text is one, as people write it. */
function keyOf(row, place) {
  const {textContent: text, dataset} = row.cells[place] ?? {textContent: '', dataset: {}};
  const number = Number(dataset.value ?? text.replace(/[\s,%]|^[^\d.\-]+/g, ''));
  return {text, number: text.trim() !== '' && Number.isFinite(number) && /\d/.test(text) ? number : null};
}

/** Make the headings of a table buttons that sort its rows. @param {HTMLTableElement} table */
export function sortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, place) => {
    const button = element('button', {type: 'button', class: 'sort-heading', on: {click: () => {
      const isDescending = heading.getAttribute('aria-sort') === 'ascending';
      for (const each of headings) each.removeAttribute('aria-sort');
      heading.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
      const rows = [...table.tBodies[0].rows].map((row) => ({row, ...keyOf(row, place)}));
      const areNumbers = rows.every(({text, number}) => number !== null || ['', '–'].includes(text.trim()));
      rows.sort((one, other) => (areNumbers ? (one.number ?? -Infinity) - (other.number ?? -Infinity) : one.text.localeCompare(other.text)));
      table.tBodies[0].append(...(isDescending ? rows.reverse() : rows).map(({row}) => row));
    }}}, ...heading.childNodes);
    replace(heading, button);
  });
  return table;
}

/**
 * A sortable table, which scrolls where it is too wide.
 * @param {string[]} columns
 * @param {{shown: string, value?: number | null}[][]} rows
 */
export function dataTable(columns, rows) {
  return element('div', {class: 'table-scroll', tabindex: '0'}, sortable(element('table', {},
    element('thead', {}, element('tr', {}, columns.map((name) => element('th', {scope: 'col'}, name)))),
    element('tbody', {}, rows.map((row) => element('tr', {}, row.map(({shown, value}) => element('td', {class: value !== undefined && 'is-number', data: {value}}, shown))))))));
}
