/**
 * The numbers of an exact result, as an answer's `aggregation` has them: a chart of one of them, what they are, and the statement
 * that runs.
 */

import {button, element, icon, replace} from '../dom.js';
import {amount, number, percent, sentenceCase} from '../format.js';
import {barChart} from './bars.js';
import {lineChart} from './lines.js';
import {noticeOf} from './notice.js';
import {loading} from './panel.js';
import {picture} from './picture.js';
import {dataTable} from './table.js';
import {copyButton, fileName, save, takeaway} from './takeaway.js';
import {gettext} from '../messages.js';

const GROUPS_MAX = 20;
/** Periods that make a line. */
const LINE_MIN = 3;
/** What bars can show. Years and ranks are no amounts. */
const DRAWN = new Set(['number', 'money']);

/**
 * A chart of a number of the groups, and a select where they have several; of very many groups, the latest periods or the first
 * ones. Null without groups.
 * @param {any} aggregation
 * @param {string} [language] that of the data
 * @param {(text: string) => void} [announce]
 */
export function numberCharts({query, columns = [], groups = [], group_count: all = 0} = {}, language, announce = () => {}) {
  const {group: keyed = [], aggregate = []} = lastOf(query);
  if (keyed.length === 0 || groups.length < 2) return null;
  const isInOrder = keyed.length === 1 && Boolean(keyed[0].period);
  const drawn = isInOrder ? groups.slice(-GROUPS_MAX) : groups.slice(0, GROUPS_MAX);
  const by = columns.slice(0, keyed.length).map(({label}) => label).join(gettext(' and '));
  const numbers = columns.slice(keyed.length);
  const charts = numbers.map((column, place) => {
    const entries = drawn.map((group) => ({label: group.label, value: valueOf(group[column.name])}));
    const isDrawn = DRAWN.has(column.kind) && aggregate[place]?.fn !== 'rank' && entries.some(({value}) => value !== null);
    const [title, said] = [gettext('{label} by {keys}', {label: sentenceCase(column.label), keys: by}), (value) => written(column, value, language)];
    return isDrawn && {title, entries, said, figure: isInOrder && entries.length >= LINE_MIN ? lineChart(title, entries, said) : barChart(title, entries, {isSorted: true, written: said})};
  }).filter(Boolean);
  if (charts.length === 0) return null;
  const count = Math.max(all, groups.length);
  const cell = (column, value) => ({shown: value === null ? '–' : written(column, value, language), value});
  const table = dataTable([sentenceCase(by), ...numbers.map(({label}) => sentenceCase(label))],
    groups.map((group) => [{shown: group.label}, ...numbers.map((column) => cell(column, valueOf(group[column.name])))]));
  let chosen = charts[0];
  const figure = element('div', {}, chosen.figure);
  const choice = charts.length > 1 && element('label', {class: 'sort'}, element('span', {}, gettext('Chart')),
    element('select', {on: {change: ({target}) => { chosen = charts[target.selectedIndex]; replace(figure, chosen.figure); }}},
      charts.map(({title}) => element('option', {}, title))));
  const pictures = [{label: gettext('Picture'), onchoose: async () => {
    const {title, entries, said} = chosen;
    save(`${fileName(title)}.png`, 'image/png', await picture(title, entries.map((each) => ({...each, shown: each.value === null ? '–' : said(each.value)}))));
    announce(gettext('Saved as a picture'));
  }}];
  const taken = () => ({name: charts[0].title, columns: [by, ...numbers.map(({label}) => label)], rows: groups.map((group) => [group.label, ...numbers.map(({name}) => valueOf(group[name]))])});
  return element('div', {class: 'number-charts'}, choice, figure,
    count > drawn.length && element('p', {class: 'fine'}, gettext('{shown} of {all} are shown.', {shown: drawn.length, all: number(count)})),
    element('div', {class: 'chart-tools'}, element('details', {}, element('summary', {}, gettext('Show as a table')), table), takeaway(taken, announce, pictures)));
}

/** Whether a list repeats what the charts show, so that it is left out beside them. @param {Element | null} list @param {Element} charts */
export function repeats(list, charts) {
  const labels = [...charts.querySelectorAll('tbody td:first-child')].map(({textContent}) => textContent);
  return Boolean(list?.matches('ul')) && [...list.children].every(({textContent}, place) => labels[place] !== undefined && textContent.startsWith(labels[place]));
}

/**
 * What the numbers are, unless the text of the answer says so, and the statement that runs, for who wants to see it.
 * @param {any} aggregation
 * @param {{question: string, text: string, domain?: string, context: import('../app.js').Context}} answer
 */
export function numbersNote({query, sentence} = {}, {question, text, context, domain}) {
  if (!query || !(query.aggregate || query.group)) return null;
  const isSaid = !sentence || text.includes(sentence.replace(/\.$/, ''));
  return element('div', {class: 'numbers-note'}, !isSaid && element('p', {class: 'fine'}, sentence), statementControl(query, question, context), boardButton(query, {question, domain, context}));
}

/**
 * A button that keeps a result on the board (board.js).
 * @param {any} query
 * @param {{question: string, domain?: string, context: import('../app.js').Context}} answer
 */
function boardButton(query, {question, domain = 'records', context}) {
  const {spans, ...board} = query;
  const control = button([icon('bookmark'), gettext('Keep on the board')], {kind: 'quiet', onclick: async () => {
    control.disabled = true;
    try {
      await context.api.post('me/searches', {domain, query: question, parameters: {board}});
      replace(control, icon('check'), gettext('On the board'));
      context.announce(gettext('Kept on the board'));
    } catch (error) {
      control.disabled = false;
      replace(control, error.detail || gettext('Saving failed. Try again.'));
    }
  }});
  return control;
}

export function statementControl(query, question, context) {
  const body = element('div', {});
  const load = async () => {
    replace(body, loading(2));
    try {
      const {statement} = await context.api.post('query/explain', {question, query});
      replace(body, shownStatement(statement, context));
    } catch (error) {
      replace(body, noticeOf(error, {retry: load, signIn: () => context.session.signIn()}));
    }
  };
  return element('details', {class: 'statement', on: {toggle: ({target}) => { if (target.open && !body.hasChildNodes()) load(); }}},
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
    copyButton(gettext('Copy with its values'), () => `${placed((name) => literal(parameters[name]))};`, context.announce),
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
export function written({kind, unit, share}, value, language) {
  if (share) return percent(value, language);
  if (kind === 'money') return amount(value, unit, language, true);
  return unit ? `${number(value, language)} ${unit}` : number(value, language);
}
