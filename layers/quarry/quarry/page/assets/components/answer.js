/** An answer in one piece: its text, how it was understood, and the rows that it speaks of. */

import {conditionChips} from './conditions.js';
import {statementMark, withStatementPlaces} from './statements.js';
import {element} from '../dom.js';
import {number} from '../format.js';
import {MarkdownView} from '../markdown.js';
import {gettext} from '../messages.js';

/** @param {object} answer @param {{question: string, onchange: (understood: object) => void, result: (row: object) => unknown}} how */
export function answerSection({response, results, total, confidence, understood, statements = []}, {question, onchange, result}) {
  const prose = element('div', {class: 'prose'});
  new MarkdownView(prose, {cite: (n, isStatement) => (isStatement ? statementMark(statements[n]) : null)}).show(withStatementPlaces(response, statements));
  return element('section', {class: 'entity-group', 'aria-label': gettext('Answer')},
    element('h2', {class: 'section-label'}, gettext('Answer')), prose,
    confidence && element('p', {class: 'fine'}, confidence.label),
    understood && element('section', {class: 'understood', 'aria-label': gettext('How the question was understood')}, conditionChips(understood, {question, onchange})),
    results.length > 0 && element('ol', {class: 'results'}, results.map((each) => element('li', {class: 'result'}, result(each)))),
    total > results.length && element('p', {class: 'fine'}, gettext('The first {shown} of {all}.', {shown: number(results.length), all: number(total)})));
}
