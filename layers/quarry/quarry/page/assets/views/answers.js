/**
 * A domain without a view of its own: a question, its answer, and the rows that it speaks of, each whole next to the list.
 *
 * The address is the state: `q`, the question.
 */

import {pathOf} from '../api.js';
import {answerSection} from '../components/answer.js';
import {choices} from '../components/chips.js';
import {endedNotice} from '../components/notice.js';
import {loading, openPanel} from '../components/panel.js';
import {Prompt, promptBar} from '../components/prompt.js';
import {propertyFacts} from '../components/properties.js';
import {labelOf} from '../domains.js';
import {element, marked, replace} from '../dom.js';
import {gettext} from '../messages.js';

/** @param {string} domain */
export function viewOf(domain) {
  return {title: labelOf(domain), mount: (root, context) => new AnswersView(domain, root, context)};
}

class AnswersView {
  constructor(domain, root, context) {
    Object.assign(this, {domain, root, context});
    this.prompt = new Prompt({
      label: gettext('Ask about {name}', {name: labelOf(domain)}), placeholder: gettext('Ask about {name} …', {name: labelOf(domain).toLowerCase()}),
      onsubmit: (text) => context.go({q: text}), onstop: () => this.controller?.abort(),
    });
  }

  /** @param {URLSearchParams} params */
  show(params, entry) {
    this.close();
    this.entry = entry;
    this.question = (params.get('q') ?? '').trim();
    this.context.setTitle(this.question);
    Object.assign(this.prompt, {value: this.question, busy: false});
    if (!this.question) {
      const {examples} = this.context;
      replace(this.root, element('div', {class: 'column hero'}, element('h1', {}, labelOf(this.domain)), this.prompt.root,
        examples.length > 0 && choices(gettext('Questions to try'), examples, (text) => this.context.go({q: text}))));
      this.prompt.focus();
      return;
    }
    this.body = element('div', {'aria-live': 'polite'});
    replace(this.root, element('div', {class: 'wide workspace'}, promptBar(this.prompt, () => this.context.go({})),
      element('h1', {class: 'visually-hidden', tabindex: '-1'}, `${labelOf(this.domain)}: ${this.question}`), this.body));
    entry.answer ??= entry.saved.answer;
    if (entry.answer) this.#showAnswer(entry.answer);
    else this.#ask(entry);
  }

  close() {
    this.controller?.abort();
  }

  open(type, id, hint) {
    return openPanel(hint?.title ?? labelOf(this.domain), async (panel) => {
      const {id: _, title, ...row} = await this.context.api.get(pathOf(this.domain, id));
      panel.setTitle(title ?? id, labelOf(this.domain));
      return [propertyFacts(row)];
    }, {kicker: labelOf(this.domain), signIn: () => this.context.session.signIn()});
  }

  async #ask(entry, understood = null) {
    this.controller = new AbortController();
    this.prompt.busy = true;
    replace(this.body, loading(3));
    try {
      const body = {question: this.question, ...(understood !== null && {understood})};
      entry.answer = await this.context.api.post(`${this.domain}/ask`, body, {signal: this.controller.signal});
      entry.save({answer: entry.answer});
      if (this.entry === entry) this.#showAnswer(entry.answer);
    } catch (error) {
      if (this.entry === entry) replace(this.body, endedNotice(error, gettext('Ask again'), () => this.#ask(entry, understood), this.context.session));
    } finally {
      if (this.entry === entry) this.prompt.busy = false;
    }
  }

  #showAnswer(answer) {
    replace(this.body, answerSection(answer, {
      question: this.question, onchange: (changed) => this.#ask(this.entry, changed),
      result: (result) => [
        element('h3', {class: 'result-title'}, element('button', {type: 'button', class: 'result-open', on: {click: () => this.context.open(this.domain, result.id, result)}}, result.title)),
        result.snippet && element('p', {class: 'card-text'}, marked(result.snippet)),
      ],
    }));
  }
}
