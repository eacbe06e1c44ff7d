/** The numbers of an exact result, as an answer's `aggregation` has them: charts and tables of them, and the statement that runs. */

import {element, replace, svg, uniqueId} from '../dom.js';
import {amount, number, percent, sentenceCase} from '../format.js';
import {gettext, ngettext} from '../messages.js';
import {fill} from './panel.js';
import {copyButton, exportMenu, fileName, save, saver} from './results.js';

/** Names, bars in proportion to the largest value, and the values.
 * @param {{label: string, value: number | null}[]} entries null is no number, which has no bar
 * @param {{max?: number, isSorted?: boolean, textOf?: (value: number) => string}} [options] `max`: show at most this many and sum up the
 *   others in words. `isSorted`: keep the given order */
export function barChart(title, entries, {max = Infinity, isSorted = false, textOf = number} = {}) {
  const id = uniqueId('bars');
  // the others are summed up in words: their bar would be the longest
  const sorted = isSorted ? entries : [...entries].sort((one, other) => (other.value ?? -Infinity) - (one.value ?? -Infinity) || one.label.localeCompare(other.label));
  const shown = sorted.slice(0, sorted.length === max + 1 ? sorted.length : max);
  const rest = sorted.slice(shown.length);
  const others = rest.reduce((sum, {value}) => sum + value, 0);
  const largest = Math.max(...shown.map(({value}) => Math.abs(value))) || 1;
  const text = (value) => (value === null ? '–' : textOf(value));
  return element('figure', {class: 'bars', 'aria-labelledby': id},
    element('figcaption', {id}, title),
    element('dl', {style: {'--digits': Math.max(...shown.map(({value}) => text(value).length))}}, shown.map(({label, value}) => element('div', {class: 'bar-row'},
      element('dt', {}, label),
      element('dd', {}, value !== null && element('span', {class: value < 0 ? 'bar is-negative' : 'bar', 'aria-hidden': 'true', style: {'--share': Math.abs(value) / largest}}), text(value))))),
    rest.length > 0 && element('p', {class: 'fine'}, ngettext('and {number} other: {sum} in all', 'and {number} others: {sum} in all', rest.length, {sum: textOf(others)})));
}

/** With more points, only the values of the ends and of the highest are shown; all are in the table. */
const VALUES_MAX = 13;

/** A line of a number over periods, in their order. @param {{label: string, value: number | null}[]} entries null is a gap */
function lineChart(title, entries, textOf) {
  const id = uniqueId('line');
  const values = entries.flatMap(({value}) => value ?? []);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const share = (value) => (value - low) / (high - low || 1);
  const across = (place) => (place + 0.5) / entries.length;
  const [last, middle, highest] = [entries.length - 1, Math.floor((entries.length - 1) / 2), entries.findIndex(({value}) => value === Math.max(...values))];
  const isLabelled = (place) => entries.length <= VALUES_MAX || [0, last, highest].includes(place);
  const points = entries.flatMap(({value}, place) => (value === null ? [] : `${100 * across(place)},${100 * (1 - share(value))}`));
  return element('figure', {class: 'bars lines', 'aria-labelledby': id},
    element('figcaption', {id}, title),
    element('div', {class: 'line-room'},
      svg('svg', {viewBox: '0 0 100 100', preserveAspectRatio: 'none', 'aria-hidden': 'true'}, svg('polyline', {points: points.join(' '), fill: 'none', 'vector-effect': 'non-scaling-stroke'})),
      element('dl', {}, entries.map(({label, value}, place) => element('div', {class: 'line-point', style: {'--share': share(value ?? 0)}},
        element('dt', {class: [0, middle, last].includes(place) ? null : 'visually-hidden'}, label),
        element('dd', {class: isLabelled(place) ? null : 'visually-hidden'}, value === null ? '–' : textOf(value)))))));
}

/** The value of a cell to sort by: a number where its text is one, as people write it. */
function keyOf(row, place) {
  const {textContent: text, dataset} = row.cells[place] ?? {textContent: '', dataset: {}};
  const number = Number(dataset.value ?? text.replace(/[\s,%]|^[^\d.\-]+/g, ''));
  return {text, number: text.trim() !== '' && Number.isFinite(number) && /\d/.test(text) ? number : null};
}

/** Make the headings of a table buttons that sort its rows. */
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

/** A sortable table, which scrolls where it is too wide.
 * @param {string[]} columns
 * @param {{shown: string, value?: number | null}[][]} rows */
function dataTable(columns, rows) {
  return element('div', {class: 'table-scroll', tabindex: '0'}, sortable(element('table', {},
    element('thead', {}, element('tr', {}, columns.map((name) => element('th', {scope: 'col'}, name)))),
    element('tbody', {}, rows.map((row) => element('tr', {}, row.map(({shown, value}) => element('td', {class: value !== undefined && 'is-number', data: {value}}, shown))))))));
}

const [WIDTH, ROW, TOP, LEFT, RIGHT, SCALE] = [900, 34, 64, 240, 130, 2];
const [INK, MUTED, COLOUR] = ['#181c1b', '#5a625f', '#0e6b60'];

/** A chart as a PNG, for slides and letters: drawn as SVG in plain colours. @param {{label: string, value: number | null, text: string}[]} entries */
async function picture(title, entries) {
  const height = TOP + entries.length * ROW + 16;
  const largest = Math.max(...entries.map(({value}) => Math.abs(value ?? 0))) || 1;
  const text = (x, y, content, attributes) => svg('text', {x, y, 'font-family': 'system-ui, sans-serif', 'font-size': 16, fill: INK, ...attributes}, content);
  const drawing = svg('svg', {xmlns: 'http://www.w3.org/2000/svg', width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}`},
    svg('rect', {width: WIDTH, height, fill: '#ffffff'}),
    text(20, 36, title, {'font-size': 20, 'font-weight': 600}),
    entries.flatMap(({label, value, text: valueLabel}, place) => {
      const y = TOP + place * ROW;
      const width = (Math.abs(value ?? 0) / largest) * (WIDTH - LEFT - RIGHT);
      return [text(LEFT - 12, y + 21, label.length > 28 ? `${label.slice(0, 27)}…` : label, {'text-anchor': 'end', fill: MUTED}),
        value !== null && svg('rect', {x: LEFT, y: y + 6, width: Math.max(width, 2), height: ROW - 14, rx: 3, fill: COLOUR}), text(LEFT + width + 10, y + 21, valueLabel)];
    }));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(drawing))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement('canvas'), {width: WIDTH * SCALE, height: height * SCALE});
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, 'image/png'); });
}

const GROUPS_MAX = 20;
/** Periods that make a line. */
const LINE_MIN = 3;
/** What bars can show. Years and ranks are no amounts. */
const DRAWN = new Set(['number', 'money']);

/** A chart of a number of the groups, and a select where they have several; of very many groups, the latest periods or the first
 * ones. Null without groups. `language` is that of the data. */
export function numberCharts({query, columns = [], groups = [], group_count: all = 0} = {}, context, language) {
  const {group: keys = [], aggregate = []} = lastOf(query);
  if (keys.length === 0 || groups.length < 2) return null;
  const isInOrder = keys.length === 1 && Boolean(keys[0].period);
  const drawn = isInOrder ? groups.slice(-GROUPS_MAX) : groups.slice(0, GROUPS_MAX);
  const by = columns.slice(0, keys.length).map(({label}) => label).join(gettext(' and '));
  const numbers = columns.slice(keys.length);
  const textOf = (column, value) => (value === null ? '–' : valueText(column, value, language));
  const charts = numbers.map((column, place) => {
    const entries = drawn.map((group) => ({label: group.label, value: valueOf(group[column.name]), text: textOf(column, valueOf(group[column.name]))}));
    if (!DRAWN.has(column.kind) || aggregate[place]?.fn === 'rank' || entries.every(({value}) => value === null)) return null;
    const title = gettext('{label} by {keys}', {label: sentenceCase(column.label), keys: by});
    const draw = isInOrder && entries.length >= LINE_MIN ? lineChart : (...chart) => barChart(...chart.slice(0, 2), {isSorted: true, textOf: chart[2]});
    return {title, entries, figure: draw(title, entries, (value) => textOf(column, value))};
  }).filter(Boolean);
  if (charts.length === 0) return null;
  const count = Math.max(all, groups.length);
  const table = dataTable([sentenceCase(by), ...numbers.map(({label}) => sentenceCase(label))], groups.map((group) =>
    [{shown: group.label}, ...numbers.map((column) => ({shown: textOf(column, valueOf(group[column.name])), value: valueOf(group[column.name])}))]));
  let chart = charts[0];
  const figure = element('div', {}, chart.figure);
  const choice = charts.length > 1 && element('label', {class: 'sort'}, element('span', {}, gettext('Chart')),
    element('select', {on: {change: ({target}) => { chart = charts[target.selectedIndex]; replace(figure, chart.figure); }}},
      charts.map(({title}) => element('option', {}, title))));
  const asPicture = {label: gettext('Picture'), onchoose: async () => {
    save(`${fileName(chart.title)}.png`, 'image/png', await picture(chart.title, chart.entries));
    context.announce(gettext('Saved as a picture'));
  }};
  const rows = () => groups.map((group) => [group.label, ...numbers.map(({name}) => valueOf(group[name]))]);
  return element('div', {class: 'number-charts'}, choice, figure,
    count > drawn.length && element('p', {class: 'fine'}, gettext('{shown} of {all} are shown.', {shown: drawn.length, all: number(count)})),
    element('div', {class: 'chart-tools'}, element('details', {}, element('summary', {}, gettext('Show as a table')), table),
      exportMenu(() => ({name: charts[0].title, columns: [by, ...numbers.map(({label}) => label)], rows: rows()}), context, [asPicture])));
}

/** Whether a list repeats what the charts show, so that it is left out beside them. */
export function repeats(list, charts) {
  const labels = [...charts.querySelectorAll('tbody td:first-child')].map(({textContent}) => textContent);
  return Boolean(list?.matches('ul')) && [...list.children].every(({textContent}, place) => labels[place] !== undefined && textContent.startsWith(labels[place]));
}

/** What the numbers are, unless the text of the answer says so; the statement that runs; and a button that keeps the result on the board. */
export function numbersNote({query, sentence} = {}, {question, text, context, domain = 'records'}) {
  if (!query || !(query.aggregate || query.group)) return null;
  const {spans, ...board} = query;
  const isInText = !sentence || text.includes(sentence.replace(/\.$/, ''));
  return element('div', {class: 'numbers-note'}, !isInText && element('p', {class: 'fine'}, sentence), statementControl(query, question, context),
    saver(context, () => ({domain, query: question, parameters: {board}}),
      {text: gettext('Keep on the board'), done: gettext('On the board'), announcement: gettext('Kept on the board')}));
}

export function statementControl(query, question, context) {
  const body = element('div', {});
  const load = async () => shownStatement((await context.api.post('query/explain', {question, query})).statement, context);
  return element('details', {class: 'statement', on: {toggle: ({target}) => { if (target.open && !body.hasChildNodes()) fill(body, load, context, {lines: 2}); }}},
    element('summary', {}, gettext('Show the SQL')), body);
}

/** A statement with numbered places, and the value of each. It is copied with the values in it, to be run as it is. */
function shownStatement({sql, parameters}, context) {
  const names = Object.keys(parameters);
  const placed = (of) => sql.replaceAll(/%\((\w+)\)s|%%/g, (place, name) => (name ? of(name) : '%'));
  const lines = placed((name) => `$${names.indexOf(name) + 1}`).replaceAll(/, ("?\w+"? as (?:(?:not )?materialized )?\()/g, ',\n$1');
  return [
    element('pre', {tabindex: '0', 'aria-label': gettext('The statement')}, lines),
    names.length > 0 && element('ol', {class: 'parameters', 'aria-label': gettext('Its parameters')}, names.map((name, place) => element('li', {}, `$${place + 1} = `, element('code', {}, literal(parameters[name]))))),
    copyButton(gettext('Copy with its values'), () => `${placed((name) => literal(parameters[name]))};`, context),
  ];
}

function literal(value) {
  return typeof value === 'string' ? `'${value.replaceAll('\'', '\'\'')}'` : String(value);
}

/** The query whose rows a result has: itself, or what it asks about its groups. */
function lastOf(query) {
  return query?.then ? lastOf(query.then) : query ?? {};
}

/** A number; null where there is none. One that JSON cannot hold comes as text. */
function valueOf(value) {
  return value === null || value === undefined || !Number.isFinite(Number(value)) ? null : Number(value);
}

/** A number of a column in words: its currency or unit, parts of 1 in percent. */
export function valueText({kind, unit, share}, value, language) {
  if (share) return percent(value, language);
  if (kind === 'money') return amount(value, unit, language, true);
  return unit ? `${number(value, language)} ${unit}` : number(value, language);
}
