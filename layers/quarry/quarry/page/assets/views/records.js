/**
 * Civic records: one input; an answer that cites its sources, or a ranked list, whichever the question asks for.
 *
 * The address is the state: `q`, the question; `id`, the stored answer that is shown; `tab`, where the reader chose one; `type`, `from`
 * and `to`, the filters.
 */

import {choices} from '../components/chips.js';
import {Prompt} from '../components/prompt.js';
import {Tabs} from '../components/tabs.js';
import {button, element, icon, replace} from '../dom.js';
import {Answer} from './records/answer.js';
import {TYPES} from './records/record.js';
import {Results} from './records/results.js';

export const title = 'Records';
export const stylesheet = 'views/records.css';

const HISTORY_MAX = 5;

/** @param {HTMLElement} root @param {import('../app.js').Context} context */
export function mount(root, context) {
  return new RecordsView(root, context);
}

class RecordsView {
  constructor(root, context) {
    this.root = root;
    this.context = context;
    this.entry = null;
    /** What the next state follows on: turns of this conversation. */
    this.nextHistory = [];
    this.prompt = new Prompt({
      label: 'Ask or search the records',
      placeholder: 'Ask a question, or search by words',
      onsubmit: (text) => this.#ask(text),
      onstop: () => this.#stop(),
    });
    this.tabs = new Tabs('Answer or results', [{name: 'answer', label: 'Answer'}, {name: 'results', label: 'Results'}], {
      onselect: (tab) => this.#chooseTab(tab),
    });
  }

  /** @param {URLSearchParams} params */
  show(params, entry) {
    if (this.entry !== null && this.entry !== entry) this.#stop();
    this.entry = entry;
    this.search = searchOf(params);
    entry.history ??= this.nextHistory;
    this.nextHistory = [];
    this.prompt.value = this.search.q;
    this.prompt.busy = false;
    if (!this.search.q && !params.has('id')) {
      this.#showFirst();
      return;
    }
    entry.answer ??= this.carried?.question === this.search.q && !params.has('id') ? this.carried : this.#newAnswer(entry);
    this.carried = null;
    entry.results ??= new Results(this.search, this.context, (filters) => this.#filter(filters));
    this.context.setTitle(this.search.q || 'A stored answer');
    this.#lay(entry);
    this.#begin(params, entry);
  }

  close() {
    this.#stop();
  }

  #newAnswer(entry) {
    const scope = {history: entry.history.slice(-HISTORY_MAX), types: this.search.type};
    const answer = new Answer(this.search.q, scope, this.context, {
      onchange: () => this.#answerChanged(answer),
      onfollow: (question) => this.#ask(question),
      onagain: () => this.context.go({q: answer.question}),
    });
    return answer;
  }

  #showFirst() {
    this.context.setTitle('');
    const {examples} = this.context;
    replace(this.root, element('div', {class: 'column hero'},
      element('div', {}, element('h1', {}, 'Ask the record'),
        element('p', {class: 'lead'}, 'Motions, agendas, documents and what was said. A question gets an answer that cites its sources; a few words get a list.')),
      this.prompt.root,
      examples.length > 0 && element('section', {'aria-label': 'Examples'},
        choices('Questions to try', examples, (text) => this.#ask(text)))));
    this.prompt.focus();
  }

  #lay(entry) {
    const turns = entry.answer.topicChanged ? [] : entry.history;
    replace(this.root, element('div', {class: 'wide records'},
      element('div', {class: 'records-top'}, this.prompt.root,
        button([icon('plus'), element('span', {}, 'New search')], {kind: 'quiet new-search', onclick: () => this.#newSearch()})),
      turns.length > 0 && element('nav', {class: 'turns', 'aria-label': 'Earlier in this conversation'}, element('ol', {}, turns.map((turn) =>
        element('li', {}, turn.id ? element('a', {href: this.context.address({q: turn.question, id: turn.id})}, turn.question) : turn.question)))),
      this.heading = element('h1', {class: 'question', tabindex: '-1'}, entry.answer.question),
      this.tabs.list, this.tabs.panels));
    replace(this.tabs.panel('answer'), entry.answer.root);
    replace(this.tabs.panel('results'), entry.results.root);
    this.#count(entry.results);
  }

  async #begin(params, entry) {
    const {answer, results} = entry;
    const chosen = params.get('tab');
    if (params.has('id')) {
      this.tabs.select(chosen ?? 'answer');
      if (chosen === 'results') this.#run(results);
      await answer.open(params.get('id'));
      return;
    }
    this.tabs.select(chosen ?? entry.tab ?? 'results');
    const response = await this.#run(results);
    if (this.entry !== entry) return;
    entry.tab ??= response?.intent === 'question' ? 'answer' : 'results';
    this.tabs.select(chosen ?? entry.tab);
    this.#count(results);
    if ((chosen ?? entry.tab) === 'answer') await answer.ask();
    else if (response) this.context.announce(`${results.total} results`);
  }

  async #run(results) {
    const response = await results.run().catch(() => null);
    if (this.entry?.results === results) this.#count(results);
    return response;
  }

  #count(results) {
    this.tabs.setCount('results', results.response === null ? null : results.total);
  }

  /** A finished answer gets its own address, so that it can be shared and opened again without asking anew. */
  #answerChanged(answer) {
    if (this.entry?.answer !== answer) return;
    this.prompt.busy = answer.state === 'running';
    if (this.heading && answer.question) this.heading.textContent = answer.question;
    if (!this.search.q && answer.question) {
      this.prompt.value = answer.question;
      this.context.setTitle(answer.question);
    }
    if (answer.state === 'done' && answer.id !== null) this.#address({q: answer.question, id: answer.id});
    if (answer.topicChanged) this.root.querySelector('.turns')?.remove();
  }

  #chooseTab(tab) {
    this.entry.tab = tab;
    this.#address({tab});
    if (tab === 'answer') this.entry.answer.ask();
    else this.#run(this.entry.results);
  }

  /** Change the present state's address without showing it anew. */
  #address(changes) {
    const now = new URLSearchParams(location.search);
    this.context.go({...this.search, id: now.get('id'), tab: now.get('tab'), ...changes}, {replace: true});
  }

  #ask(text) {
    const {answer, history = []} = this.entry ?? {};
    const finished = answer?.text && answer.question !== text ? [answer.turn] : [];
    this.nextHistory = answer?.topicChanged ? finished : [...history, ...finished].slice(-HISTORY_MAX);
    this.context.go({q: text});
  }

  #newSearch() {
    this.nextHistory = [];
    this.context.go({});
  }

  #filter(filters) {
    this.carried = this.entry.answer;
    this.nextHistory = this.entry.history;
    const next = {...this.search, ...filters};
    // an answer was made from the types that were asked for
    if (next.type.join() !== this.search.type.join()) this.carried = null;
    this.context.go({...next, q: this.search.q || this.entry.answer.question, tab: 'results'});
  }

  #stop() {
    this.entry?.answer?.stop();
    this.entry?.results?.stop();
  }
}

/** @param {URLSearchParams} params @returns {import('./records/results.js').Search} */
function searchOf(params) {
  return {
    q: (params.get('q') ?? '').trim(),
    type: params.getAll('type').filter((name) => Object.hasOwn(TYPES, name)),
    from: params.get('from') ?? '',
    to: params.get('to') ?? '',
  };
}
