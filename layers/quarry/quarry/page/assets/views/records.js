/** Records: one input; an answer that cites its sources, or a ranked list, depending on the question.
 *
 * The address is the state: `q`, the question; `id`, the stored answer; `tab`, the chosen tab; `type`, `from` and `to`, the
 * filters. */

import {remark} from '../components/panel.js';
import {promptBar} from '../components/prompt.js';
import {openedSearch, removable, saver} from '../components/results.js';
import {element, replace, uniqueId} from '../dom.js';
import {MarkdownView} from '../markdown.js';
import {gettext} from '../messages.js';
import {Answer} from './records/answer.js';
import {collections, exampleQuestions, kicker, openRecord, typeLabel} from './records/record.js';
import {Results} from './records/results.js';
import {ConversationView} from './view.js';

const HISTORY_MAX = 5;

/** The parameters of an address that are not facets, including those of a sign-in. */
const NO_FACETS = new Set(['q', 'id', 'tab', 'type', 'from', 'to', 'domain', 'limit', 'offset', 'ranking', 'must', 'by', 'of', 'context', 'code', 'state', 'error', 'error_description', 'kept', 'saved']);

/** Tabs by the ARIA pattern: one tab is in the tab order; arrows, Home and End move between tabs. */
class Tabs {
  /** @param {{name: string, label: string}[]} tabs @param {(name: string) => void} onselect called when the reader selects one */
  constructor(label, tabs, onselect) {
    this.tabs = new Map(tabs.map(({name, label: text}) => {
      const id = uniqueId('tab');
      const count = element('span', {class: 'tab-count'});
      const tab = element('button', {
        type: 'button', class: 'tab', role: 'tab', id, 'aria-controls': `${id}-panel`, data: {tab: name}, on: {click: () => onselect(name)},
      }, text, count);
      const panel = element('div', {class: 'tab-panel', role: 'tabpanel', id: `${id}-panel`, 'aria-labelledby': id, tabindex: '-1'});
      return [name, {tab, panel, count}];
    }));
    const all = [...this.tabs.values()];
    this.list = element('div', {class: 'tabs', role: 'tablist', 'aria-label': label, on: {keydown: move}}, all.map(({tab}) => tab));
    this.panels = all.map(({panel}) => panel);
    this.select(tabs[0].name);
  }

  panel(name) {
    return this.tabs.get(name).panel;
  }

  /** Show a number next to a tab's name; null removes it. */
  setCount(name, count) {
    this.tabs.get(name).count.textContent = count === null ? '' : ` ${count}`;
  }

  select(name) {
    for (const [each, {tab, panel}] of this.tabs) {
      tab.setAttribute('aria-selected', String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      panel.hidden = each !== name;
    }
  }
}

function move(event) {
  const tabs = [...event.currentTarget.children];
  const index = tabs.indexOf(event.target);
  const next = {ArrowRight: (index + 1) % tabs.length, ArrowLeft: (index + tabs.length - 1) % tabs.length, Home: 0, End: tabs.length - 1}[event.key];
  if (next === undefined) return;
  event.preventDefault();
  tabs[next].click();
  tabs[next].focus();
}

export class RecordsView extends ConversationView {
  constructor(root, context) {
    super(root, context, 'records', {
      label: gettext('Ask or search the records'), placeholder: gettext('Ask, or search by words'),
      onsubmit: (text) => this.#ask(text), onstop: () => this.entry?.answer.stop(), suggest: (text, signal) => this.#suggest(text, signal),
    });
    /** What the next question follows: turns of this conversation. */
    this.nextHistory = [];
    /** What a change of filters keeps: the answer, and the focused control. */
    Object.assign(this, {carried: null, control: null});
    const tabs = [{name: 'answer', label: gettext('Answer')}, {name: 'results', label: gettext('Results')}];
    this.tabs = new Tabs(gettext('Answer or results'), tabs, (tab) => this.#chooseTab(tab));
  }

  show(params, entry) {
    const before = this.entry;
    this.entry = entry;
    this.search = searchOf(params);
    entry.history ??= entry.saved.history ?? this.nextHistory;
    const {carried, control} = this;
    Object.assign(this, {nextHistory: [], carried: null, control: null});
    this.conversation.follow(params.get('kept'), entry);
    if (!this.search.q && !params.has('id')) {
      leave(before, entry);
      if (params.has('kept')) this.openKept(entry);
      else this.#showFirst();
      return;
    }
    entry.answer ??= carried ?? this.#newAnswer(entry);
    this.#list(entry, before?.answer?.question === this.search.q ? before.results?.counts : {});
    entry.results.focused = control;
    this.#connect(entry, params);
    leave(before, entry);
    this.context.setTitle(this.search.q || gettext('A stored answer'));
    this.#lay(entry);
    this.#begin(params, entry);
    if (control) this.root.querySelector(`[data-filter="${control}"]`)?.focus({preventScroll: true});
    // the focused element was removed
    if (document.activeElement === document.body) this.heading.focus({preventScroll: true});
  }

  close() {
    leave(this.entry, {});
  }

  open(type, id, hint, quote) {
    return openRecord({...hint, type, id}, this.context, quote);
  }

  #newAnswer(entry) {
    const answer = new Answer(this.search.q, {history: entry.history.slice(-HISTORY_MAX), types: this.search.type, filters: filtersOf(this.search)}, this.context);
    return entry.saved.answer ? answer.restore(entry.saved.answer) : answer;
  }

  /** Match the list next to an answer to the types and filters that the answer was made from, also if it inherited them from the
   * previous question. Drops a list with others, and returns whether it did. */
  #list(entry, counts = {}) {
    const {answer, history} = entry;
    const search = inForce(this.search, answer.state === 'done' ? answer.applied : history.at(-1)?.applied);
    if (entry.results && sameScope(entry.results.search, search)) return false;
    if (entry.results) {
      entry.results.stop();
      entry.save({results: null});
    }
    const results = new Results(search, this.context, counts).restore(entry.saved.results);
    results.saver = saver(this.context, () => ({domain: 'records', query: search.q, parameters: parametersOf(search), results: results.rows.map(({type, id}) => ({type, id}))}));
    entry.results = results;
    return true;
  }

  /** The last answer, after the earlier ones. */
  restoreTurns({turns, title}, entry) {
    const {question, answer} = turns.at(-1);
    entry.history = turns.slice(0, -1).map((turn) => ({question: turn.question, answer: turn.answer.text ?? '', id: turn.answer.id, applied: turn.answer.applied}));
    entry.save({history: entry.history, answer: {sources: [], citations: [], ...answer, question, state: 'done'}});
    this.context.go({q: question, id: answer.id, kept: entry.conversation}, {replace: true});
    this.context.announce(title);
  }

  /** A history entry may come from an earlier visit of this domain. */
  #connect(entry, params) {
    const {answer, results} = entry;
    answer.callbacks = {
      onchange: () => this.#answerChanged(answer),
      onfollow: (question) => this.#ask(question),
      onagain: () => this.context.go({q: answer.question}),
    };
    results.callbacks = {
      onfilter: (filters, control) => this.#filter(filters, control),
      onretry: () => this.#begin(params, entry),
      onchange: () => entry.save({results: results.snapshot}),
    };
  }

  #showFirst() {
    this.showHero({title: gettext('Ask the records'), lead: gettext('A question gets an answer that cites its sources; a few words get a list.')}, (text) => this.#ask(text));
    if (this.context.examples.length === 0) collections(this.context).then((types) => this.offer(exampleQuestions(types)));
  }

  #lay(entry) {
    const turns = entry.answer.topicChanged ? [] : entry.history;
    replace(this.root, element('div', {class: 'wide workspace'},
      promptBar(this.prompt, () => { this.nextHistory = []; this.context.go({}); }),
      turns.length > 0 && element('section', {class: 'trail', 'aria-label': gettext('Earlier in this conversation')}, turns.map((turn) => this.#earlier(turn))),
      this.heading = element('h1', {class: 'question', tabindex: '-1'}, entry.answer.question),
      this.newsRemark = element('div', {hidden: true}),
      this.tabs.list, this.tabs.panels));
    this.prompt.busy = entry.answer.state === 'running';
    this.scope = element('div', {class: 'scope', hidden: true});
    replace(this.tabs.panel('answer'), this.scope, entry.answer.root, this.conversation.root);
    this.#showScope(entry);
    replace(this.tabs.panel('results'), entry.results.root);
    this.#count(entry.results);
    this.#showNews(entry);
  }

  /** An earlier question; its answer opens below it. */
  #earlier({question, answer, id}) {
    const prose = element('div', {class: 'prose'});
    const whole = element('details', {class: 'earlier'}, element('summary', {}, question), prose,
      id && element('p', {class: 'fine'}, element('a', {href: this.context.address({q: question, id})}, gettext('Open this answer with its sources'))));
    whole.addEventListener('toggle', () => { if (prose.childElementCount === 0) new MarkdownView(prose).show(answer); });
    return whole;
  }

  /** Says that only some records are asked, possibly as in the previous question, and links to all. */
  #showScope({answer, history}) {
    const {type} = this.search;
    const isFiltered = type.length > 0 || Object.keys(filtersOf(this.search)).length > 0;
    const types = type.map((name) => typeLabel(name).toLowerCase()).join(', ');
    const label = answer.applied?.label ?? (isFiltered ? types || gettext('some records') : null);
    this.scope.hidden = label === null;
    replace(this.scope, label !== null && removable(gettext('Only {label}', {label}), {label: gettext('Ask all records'), onremove: () => {
      this.nextHistory = history.map((turn) => ({...turn, applied: null}));
      this.context.go({q: this.search.q || answer.question, tab: 'answer'});
    }}));
  }

  async #begin(params, entry) {
    const {answer, results} = entry;
    const tab = params.get('tab') ?? entry.tab;
    if (params.has('id')) {
      this.#select(tab ?? 'answer');
      if (tab === 'results') this.#run(results);
      await answer.open(params.get('id'));
      return;
    }
    this.#select(tab ?? likelyTab(this.search.q));
    if (answer.place) {
      // the answer that was in progress when the reader left the page
      entry.tab ??= 'answer';
      this.#run(results);
      await answer.ask();
      return;
    }
    const response = await this.#run(results);
    if (this.entry !== entry || response === null) return;
    if (params.has('saved') && !entry.saved.isOpened) this.#tellNews(params.get('saved'), entry);
    // the reader may have chosen a tab in the meantime
    entry.tab ??= params.get('tab') ?? (response.intent === 'question' ? 'answer' : 'results');
    this.#select(entry.tab);
    if (entry.tab === 'answer') await answer.ask();
    else this.context.announce(gettext('{number} results', {number: results.countText(results.total)}));
  }

  async #run(results) {
    const response = await results.run().catch((error) => {
      if (this.entry?.results === results && this.entry.answer.state === 'new') this.entry.answer.refuse(error, results.callbacks.onretry);
      return null;
    });
    if (this.entry?.results === results) this.#count(results);
    return response;
  }

  async #tellNews(id, entry) {
    const news = await openedSearch(this.context, id, entry.results.rows);
    if (news === null || this.entry !== entry) return;
    entry.save({isOpened: true, news: news.text});
    entry.results.tellNews(news.keys);
    this.context.announce(news.text);
    this.#showNews(entry);
  }

  #showNews({saved: {news}}) {
    this.newsRemark.hidden = !news;
    replace(this.newsRemark, news && remark(news));
  }

  /** Show a tab. In the answer tab the question is a heading; in the list tab it stays editable in the input. */
  #select(tab) {
    const isAnswer = tab === 'answer';
    this.tabs.select(tab);
    this.heading.classList.toggle('visually-hidden', !isAnswer);
    this.prompt.input.placeholder = isAnswer ? gettext('Ask a follow-up') : this.placeholder;
    const {question} = this.entry.answer;
    if (['', question].includes(this.prompt.value)) this.prompt.value = isAnswer ? '' : question;
  }

  #count(results) {
    this.tabs.setCount('results', results.response === null ? null : results.countText(results.total));
  }

  /** Give a finished answer its own address, so that it can be shared and reopened without asking again. */
  #answerChanged(answer) {
    if (this.entry?.answer !== answer) return;
    this.entry.save({answer: answer.snapshot, history: this.entry.history});
    if (answer.state === 'done') {
      const before = answer.topicChanged ? [] : this.entry.history;
      this.conversation.offer([...before.map(({question, answer: text, id, applied}) => ({question, answer: {text, id, applied}})), savedTurn(answer)]);
    } else this.conversation.withdraw();
    this.prompt.busy = answer.state === 'running';
    if (answer.question) {
      this.heading.textContent = answer.question;
      this.context.setTitle(answer.question);
    }
    // a revoked one has none
    if (answer.state === 'done') this.#address({q: answer.question, id: answer.id});
    if (answer.state === 'done' && this.search.q && this.#list(this.entry)) this.#listAgain(this.entry);
    this.#showScope(this.entry);
    if (answer.topicChanged) this.root.querySelector('.trail')?.remove();
  }

  /** Reload the list if the answer turned out to be made from other records. */
  #listAgain(entry) {
    this.#connect(entry, new URLSearchParams(location.search));
    replace(this.tabs.panel('results'), entry.results.root);
    this.#run(entry.results);
  }

  #chooseTab(tab) {
    this.entry.tab = tab;
    this.#select(tab);
    this.#address({tab});
    if (tab === 'answer') this.entry.answer.ask();
    else this.#run(this.entry.results);
  }

  /** Change the address of the current state without showing it again. */
  #address(changes) {
    const now = new URLSearchParams(location.search);
    this.context.go({...this.search, id: now.get('id'), tab: now.get('tab'), kept: now.get('kept'), saved: now.get('saved'), ...changes}, {replace: true});
  }

  /** Titles for what is typed, of the records that are searched now. */
  async #suggest(text, signal) {
    const {q, ...filters} = this.entry?.results?.search ?? {};
    const [{suggestions}] = await Promise.all([
      this.context.api.get('records/suggest', {query: {...filters, q: text}, signal}), collections(this.context)]);
    return suggestions.map((each) => ({title: each.title, kicker: kicker(each), open: () => this.context.open(each.type, each.id, each)}));
  }

  #ask(text) {
    const {answer, history = []} = this.entry ?? {};
    const finished = answer?.state === 'done' && answer.text ? [answer.turn] : [];
    this.nextHistory = answer?.topicChanged ? finished : [...history, ...finished].slice(-HISTORY_MAX);
    this.context.go({q: text, kept: this.nextHistory.length > 0 ? this.entry?.conversation : null});
  }

  #filter(filters, control) {
    const {answer, history, results} = this.entry;
    const next = {...results.search, ...filters, q: this.search.q || answer.question};
    // an answer was made from the requested types and filters; without any, from all records
    const nextHistory = history.map((turn) => ({...turn, applied: null}));
    Object.assign(this, {carried: sameScope(next, results.search) ? answer : null, nextHistory, control: control ?? null});
    this.context.go({...next, tab: 'results'});
  }
}

/** An answer in the format of a saved conversation. */
function savedTurn(answer) {
  const {state, run, ...snapshot} = answer.snapshot;
  return {question: answer.question, answer: snapshot};
}

/** The filters of a search other than types, in the format of a question. */
function filtersOf({q, type, from, to, ...facets}) {
  const chosen = Object.fromEntries(Object.entries(facets).filter(([, values]) => values.length > 0));
  return {...(from && {from}), ...(to && {to}), ...(Object.keys(chosen).length > 0 && {facets: chosen})};
}

function sameScope(one, other) {
  return one.type.join() === other.type.join() && JSON.stringify(filtersOf(one)) === JSON.stringify(filtersOf(other));
}

/** The search, with the types and filters of an answer if it has none of its own. */
function inForce(search, applied) {
  if (!applied || search.type.length > 0 || Object.keys(filtersOf(search)).length > 0) return search;
  const {from, to, facets} = applied.filters ?? {};
  return {...search, ...facets, type: applied.types ?? [], from: from ?? '', to: to ?? ''};
}

/** The parts of a saved search's address other than the question. */
function parametersOf({q, ...filters}) {
  return {...Object.fromEntries(Object.entries(filters).filter(([, value]) => value.length > 0)), tab: 'results'};
}

/** The tab until the service says what the question asks for. If the guess is right, nothing jumps. */
function likelyTab(question) {
  return question.endsWith('?') || question.split(/\s+/).length > 3 ? 'answer' : 'results';
}

/** Stop what runs for one history entry, except what the next one also shows. */
function leave(entry, next) {
  if (!entry) return;
  if (entry.answer !== next.answer) entry.answer?.stop();
  if (entry.results !== next.results) entry.results?.stop();
}

function searchOf(params) {
  const facets = [...new Set(params.keys())].filter((name) => !NO_FACETS.has(name) && /^-?[a-z][a-z0-9_]{0,47}$/.test(name));
  return {
    q: (params.get('q') ?? '').trim(),
    type: [...new Set(params.getAll('type').filter((name) => /^[a-z][a-z0-9_]{0,47}$/.test(name)))],
    from: params.get('from') ?? '',
    to: params.get('to') ?? '',
    ...Object.fromEntries(facets.map((name) => [name, params.getAll(name)])),
  };
}
