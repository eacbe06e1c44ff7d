/**
 * The board: exact results that a user keeps with their Query, as saved searches, and sees as they are now.
 */

import {button, element, replace} from '../dom.js';
import {month, NONE} from '../format.js';
import {noticeOf} from './notice.js';
import {numberCharts, statementControl, written} from './numbers.js';
import {loading} from './panel.js';
import {gettext} from '../messages.js';

/** Whether a saved search is a result on the board. */
export const isOnBoard = ({parameters}) => Boolean(parameters.board);

/**
 * A result of the board as it is now, with its statement.
 * @param {{query: string, parameters: {board: any}}} item
 * @param {import('../app.js').Context} context
 */
export function boardResult({query: question, parameters: {board}}, context) {
  const body = element('div', {});
  const load = async () => {
    replace(body, loading(2));
    try {
      const result = await context.api.post('query', board);
      replace(body, numberCharts(asAggregation(result, board), undefined, context.announce) ?? plainResult(result),
        element('p', {class: 'fine'}, result.sentence),
        element('div', {class: 'chart-tools'}, statementControl(board, question, context), button(gettext('Refresh'), {kind: 'quiet', onclick: load})));
    } catch (error) {
      replace(body, noticeOf(error, {retry: load, signIn: () => context.session.signIn()}));
    }
  };
  load();
  return body;
}

function plainResult({columns, rows: [row]}) {
  return row && columns.length === 1 && element('p', {class: 'board-number'}, row[0] === null ? '–' : written(columns[0], Number(row[0])));
}

/** A result in the form that answers have. */
function asAggregation({columns, rows}, query) {
  const keys = query.group?.length ?? 0;
  const label = (value, place) => (value === null ? NONE : query.group[place].period === 'month' ? month(`${value}-01`) : String(value));
  return {query, columns, group_count: rows.length, groups: rows.map((row) => ({
    label: row.slice(0, keys).map(label).join(', '),
    ...Object.fromEntries(columns.slice(keys).map(({name}, place) => [name, row[keys + place]])),
  }))};
}
