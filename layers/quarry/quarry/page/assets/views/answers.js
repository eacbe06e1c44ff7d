/** A domain without a view of its own: a question, its answer, and the rows that it speaks of, each whole next to the list. */

import {pathOf} from '../api.js';
import {understoodSection} from '../components/conditions.js';
import {statementMark, withStatementPlaces} from '../components/confidence.js';
import {openPanel, propertyFacts} from '../components/panel.js';
import {resultItem} from '../components/results.js';
import {element, replace} from '../dom.js';
import {labelOf, number} from '../format.js';
import {MarkdownView} from '../markdown.js';
import {gettext} from '../messages.js';
import {View} from './view.js';

export class AnswersView extends View {
  constructor(domain, root, context, prompt) {
    const name = labelOf(domain);
    super(root, context, {
      label: gettext('Ask about {name}', {name}), placeholder: gettext('Ask about {name} …', {name: name.toLowerCase()}),
      onsubmit: (text) => this.context.go({q: text}), ...prompt,
    });
    this.domain = domain;
  }

  showFirst() {
    this.showHero({title: labelOf(this.domain)}, (text) => this.context.go({q: text}));
  }

  showSearch(params, entry) {
    this.answerPlace = element('div', {'aria-live': 'polite'});
    this.lay(`${labelOf(this.domain)}: ${this.search.q}`, this.answerPlace);
    if (!this.showStored()) this.ask(entry);
  }

  open(type, id, hint) {
    return openPanel(hint?.title ?? labelOf(this.domain), async (panel) => {
      const {id: _, title, ...row} = await this.context.api.get(pathOf(this.domain, id));
      panel.setTitle(title ?? id, labelOf(this.domain));
      return [propertyFacts(row)];
    }, this.context, {kicker: labelOf(this.domain)});
  }

  get filters() {
    return {};
  }

  result(result) {
    return resultItem(result, () => this.context.open(this.domain, result.id, result));
  }

  /** Ask the question, as it is to be understood. */
  ask(entry, understood = null) {
    const how = {place: this.answerPlace, lines: 3, label: gettext('Ask again'), again: () => this.ask(entry, understood)};
    return this.attempt(entry, how, async (signal) => {
      const body = {question: this.search.q, ...this.filters, ...(understood !== null && {understood})};
      entry.answer = await this.context.api.post(`${this.domain}/ask`, body, {signal});
      entry.save({answer: entry.answer});
      if (this.entry === entry) this.#showAnswer(entry.answer);
    });
  }

  /** Show the answer of this history entry; whether there is one. */
  showStored() {
    const {entry} = this;
    entry.answer ??= entry.saved.answer;
    if (entry.answer) this.#showAnswer(entry.answer);
    return Boolean(entry.answer);
  }

  #showAnswer({response, results, total, confidence, understood, statements = []}) {
    const prose = element('div', {class: 'prose'});
    new MarkdownView(prose, {cite: (n, isStatement) => (isStatement ? statementMark(statements[n]) : null)}).show(withStatementPlaces(response, statements));
    replace(this.answerPlace, element('section', {class: 'entity-group', 'aria-label': gettext('Answer')},
      element('h2', {class: 'section-label'}, gettext('Answer')), prose,
      confidence && element('p', {class: 'fine'}, confidence.label),
      understoodSection(understood, {question: this.search.q, onchange: (changed) => this.ask(this.entry, changed)}),
      results.length > 0 && element('ol', {class: 'results'}, results.map((each) => element('li', {class: 'result'}, this.result(each)))),
      total > results.length && element('p', {class: 'fine'}, gettext('The first {shown} of {all}.', {shown: number(results.length), all: number(total)}))));
  }
}
