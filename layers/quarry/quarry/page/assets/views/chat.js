/** A conversation: a question, its answer as it streams, and follow-up questions. Companies and campaigns work this way.
 *
 * The address holds the question (`q`), and how it is `understood` if the reader changed that. The earlier turns are stored with
 * the history entry, so that back and forward walk through the conversation. A question opened by its address alone starts a new
 * conversation. */

import {numbersNote} from '../components/charts.js';
import {former, highlighted, packed, understoodSection, unpacked, without} from '../components/conditions.js';
import {confidenceLevel} from '../components/confidence.js';
import {remark} from '../components/panel.js';
import {promptBar} from '../components/prompt.js';
import {actionChip, openedSearch, saver} from '../components/results.js';
import {Streamed} from '../components/streamed.js';
import {element, replace} from '../dom.js';
import {gettext} from '../messages.js';
import {ConversationView} from './view.js';

const NDJSON = 'application/x-ndjson';

/** @typedef {object} Asked
 * @property {string} question
 * @property {Turn[]} before the earlier turns
 * @property {import('../components/conditions.js').Understood | null} changes how the reader wants it understood
 * @property {any} [former] the same in the form of older addresses */

/** One question and its answer: the steps as they happen, the text as it streams, then the results. Its nodes live as long as its history
 * entry. A subclass has the `body` of the request, the `results` as a saved search remembers them, and a `summary` to announce; it takes
 * the events that are its own (`take`), and has what is shown below the text (`content`) and its `figure`. */
export class Turn extends Streamed {
  /** @param {Asked} asked @param {string} domain to ask */
  constructor({question, before, changes, former: constraints = null}, context, domain) {
    super(context);
    Object.assign(this, {question, before, changes, former: constraints, domain});
    /** @type {{onchange: () => void, onfollow: (question: string) => void, onedit: (understood: any) => void}} */
    this.callbacks = {onchange() {}, onfollow() {}, onedit() {}};
    this.heading = element('h2', {class: 'question', tabindex: '-1'}, question);
    this.root = element('div', {class: 'turn-answer'});
    this.clear();
  }

  get sentChanges() {
    if (this.changes !== null) return {understood: this.changes};
    return this.former === null || this.domain !== 'companies' ? {} : {constraints: this.former};
  }

  /** The button that saves the search. A follow-up question means nothing on its own, so it has none. */
  get saver() {
    if (this.before.length > 0) return null;
    const {context, domain, question: query, changes} = this;
    return saver(context, () => ({domain, query, parameters: changes === null ? {} : {understood: packed(changes)}, results: this.results}));
  }

  /** Mark the new results. @param {{keys: string[], text: string}} news */
  tellNews(news) {
    this.news = news;
    this.finish();
    this.context.announce(news.text);
  }

  isNew(type, id) {
    return this.news?.keys.includes(`${type}/${id}`) ?? false;
  }

  /** How the question was understood, with its words marked above. Changing a condition asks again. */
  understood(understood = this.answer.understood) {
    return understoodSection(understood, {question: this.question, isChanged: this.changes !== null, onchange: (changed) => this.callbacks.onedit(changed)});
  }

  /** If nothing was found: the conditions that the answer blames for it, each with a button to drop it. */
  #drops() {
    const {understood} = this.answer;
    if (this.results.length > 0 || !understood) return null;
    const chips = (understood.chips ?? []).filter(({label}) => this.text.includes(`“${label}”`));
    return chips.length > 0 && element('div', {class: 'chips', role: 'group', 'aria-label': gettext('Drop a condition')}, chips.map((chip) =>
      actionChip(gettext('Without “{label}”', {label: chip.label}), () => this.callbacks.onedit(without(understood, chip).rest))));
  }

  /** The state to restore after a reload or from a saved conversation: the whole answer, or its run. */
  get snapshot() {
    const {question, changes, state, text, answer, news, run} = this;
    return {question, changes, state, text, answer, news, run};
  }

  restore({state = 'done', text = '', answer = null, news = null, run = null}) {
    if (state !== 'stopped' && (state !== 'done' || answer === null)) return this.followOn(run);
    Object.assign(this, {text, answer, news, run, statements: answer?.statements ?? []});
    return this.showStored(state);
  }

  /** Ask, once. Resumes a run that was started before. */
  async begin() {
    if (this.state !== 'new') return;
    await this.attempt(async (signal) => {
      this.context.announce(gettext('Searching'));
      for await (const event of this.context.api.stream(`${this.domain}/chat`, {body: this.body, accept: NDJSON, signal, after: this.place})) this.#take(event);
      this.context.announce(this.summary);
    });
  }

  finish() {
    replace(this.notes);
    replace(this.heading, highlighted(this.question, this.answer?.understood));
    const figure = this.figure();
    if (figure && !this.view.figure) this.view.illustrate(figure);
    const {confidence, aggregation} = this.answer ?? {};
    replace(this.after, confidence && element('p', {class: 'fine'}, confidenceLevel(confidence.level, confidence.label)), numbersNote(aggregation ?? undefined, this),
      this.#drops(), this.understood(), this.news && remark(this.news.text), this.content());
    this.enter('done');
  }

  /** A change that fails can be changed again. */
  below() {
    return this.changes !== null && this.understood(this.changes);
  }

  #take(event) {
    this.follow(event);
    // the steps say more than placeholder lines, and would push them down
    replace(this.notes);
    if (event.type === 'partial_text') {
      this.timeline.fold();
      this.text += event.data.text;
      this.flushSoon();
    } else if (event.type === 'text_withdrawn') {
      this.withdraw();
    } else if (event.type === 'final_answer') {
      this.answer = event.data;
      this.text = event.data.content ?? event.data.response ?? this.text;
      this.statements = event.data.statements ?? [];
    } else {
      this.take(event);
    }
  }

  clear() {
    this.reset(gettext('Search'));
    /** The data of the last event, once it has come. */
    this.answer = null;
    /** The results that a saved search has not shown before. @type {{keys: string[], text: string} | null} */
    this.news = null;
    this.after = element('div', {class: 'turn-found'});
    replace(this.root, this.timeline.root, this.notes, this.prose, this.after);
  }
}

/** The view of a domain that is a conversation. A subclass makes its turns (`turn`) and opens what they found (`open`). */
export class Chat extends ConversationView {
  /** @param {{title: string, lead: string, label: string, placeholder: string}} texts of the first page and the input */
  constructor(root, context, domain, texts) {
    const {label, placeholder} = texts;
    super(root, context, domain, {label, placeholder, onsubmit: (text) => this.#ask(text), onstop: () => this.entry?.turn?.stop()});
    Object.assign(this, {domain, texts});
    /** The turns before the next question. @type {Turn[]} */
    this.next = [];
  }

  show(params, entry) {
    if (this.entry !== entry) this.close();
    this.entry = entry;
    entry.before ??= entry.saved.before?.map((stored) => this.#restored(stored)) ?? this.next;
    this.next = [];
    this.conversation.follow(params.get('kept'), entry);
    const question = (params.get('q') ?? '').trim();
    if (!question) {
      if (params.has('kept')) this.openKept(entry);
      else this.showHero({title: this.texts.title, lead: this.texts.lead}, (text) => this.#ask(text));
      return;
    }
    const isNew = entry.turn === undefined;
    entry.turn ??= this.turn({question, before: entry.before, changes: unpacked(params.get('understood')), former: former(params)});
    entry.turn.callbacks = {
      onchange: () => this.#changed(entry.turn), onfollow: (text) => this.#ask(text), onedit: (understood) => this.#edit(entry.turn, understood),
    };
    if (isNew && entry.saved.turn) entry.turn.restore(entry.saved.turn);
    this.context.setTitle(question);
    this.#lay(entry);
    this.#changed(entry.turn);
    const run = entry.turn.begin();
    entry.running ??= run;
    if (params.has('saved')) this.#tellNews(params.get('saved'), entry);
  }

  close() {
    this.entry?.turn?.stop();
  }

  /** The answers of an entry, the latest first, once its turn is over. */
  async answersOf(entry) {
    await entry.running;
    return [...(entry.before ?? []), entry.turn].flatMap((turn) => turn?.answer ?? []).reverse();
  }

  /** Show the new results of a saved search, once. */
  async #tellNews(id, entry) {
    await entry.running;
    const {turn} = entry;
    if (entry.saved.isOpened || turn.state !== 'done') return;
    entry.save({isOpened: true});
    const news = await openedSearch(this.context, id, turn.results);
    if (news !== null) turn.tellNews(news);
  }

  #restored(stored) {
    return this.turn({question: stored.question, before: [], changes: stored.changes ?? null}).restore(stored);
  }

  restoreTurns({turns}, entry) {
    const stored = turns.map(({question, answer}) => ({...answer, question, state: 'done', answer: answer.answer ?? null}));
    const last = stored.at(-1);
    entry.before = stored.slice(0, -1).map((turn) => this.#restored(turn));
    entry.save({before: stored.slice(0, -1), turn: last});
    this.context.go({q: last.question, understood: last.changes && packed(last.changes), kept: entry.conversation}, {replace: true});
  }

  #lay({turn, before}) {
    Object.assign(this.prompt, {value: '', busy: turn.state === 'running'});
    this.prompt.input.placeholder = gettext('Ask a follow-up');
    replace(this.root, element('div', {class: 'wide workspace chat'},
      element('h1', {class: 'visually-hidden'}, this.texts.title),
      promptBar(this.prompt, () => this.context.go({})),
      element('div', {class: 'turns'}, [...before, turn].map((each, place) =>
        element('section', {class: 'turn', 'aria-label': gettext('Question {number}', {number: place + 1})}, each.heading, each.root))),
      this.conversation.root));
    const heading = this.root.querySelector('.turn:last-child .question');
    if (before.length > 0) heading.scrollIntoView({block: 'start'});
    if (document.activeElement === document.body) heading.focus({preventScroll: true});
  }

  #changed(turn) {
    if (this.entry?.turn !== turn) return;
    this.prompt.busy = turn.state === 'running';
    if (turn.state === 'new') return;
    this.entry.save({before: this.entry.before.map((each) => each.snapshot), turn: turn.snapshot});
    if (turn.state === 'done') this.conversation.offer([...this.entry.before, turn].map(savedTurn));
    else this.conversation.withdraw();
  }

  /** Ask the same question in the same place understood otherwise; null: as it was read. */
  #edit(turn, understood) {
    this.close();
    this.next = turn.before;
    this.context.go({q: turn.question, understood: understood && packed(understood), kept: this.entry?.conversation});
  }

  #ask(text) {
    const {turn, before = []} = this.entry ?? {};
    turn?.stop();
    this.next = turn?.state === 'done' ? [...before, turn] : before;
    this.context.go({q: text, kept: this.entry?.conversation});
  }
}

/** A turn in the format of a saved conversation. */
function savedTurn({snapshot: {question, changes, text, answer}}) {
  return {question, answer: {changes, text, answer}};
}
