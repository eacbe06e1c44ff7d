/**
 * One question of a conversation and its answer: the steps as they happen, the text as it is written, then what it speaks of. Its nodes
 * live as long as the history entry that it belongs to.
 */

import {conditionChips, forgetTaken} from '../../components/conditions.js';
import {saver} from '../../components/kept.js';
import {remark} from '../../components/notice.js';
import {Streamed} from '../../components/streamed.js';
import {highlighted, packed} from '../../components/understood.js';
import {element, replace} from '../../dom.js';

const NDJSON = 'application/x-ndjson';

/**
 * @typedef {object} Asked
 * @property {string} question
 * @property {Turn[]} before what it follows on
 * @property {any} constraints what is searched by where the reader changed how the question was understood, else null
 */

/** What the kinds of conversation share. A kind says what it sends and what it makes of an event. */
export class Turn extends Streamed {
  /**
   * @param {Asked} asked
   * @param {import('../../app.js').Context} context
   * @param {string} domain which it asks
   */
  constructor({question, before, constraints}, context, domain) {
    super(context);
    this.question = question;
    this.before = before;
    this.constraints = constraints;
    this.domain = domain;
    /** @type {{onchange: () => void, onfollow: (question: string) => void, onedit: (constraints: any) => void}} */
    this.callbacks = {onchange() {}, onfollow() {}, onedit() {}};
    /** The last event's data, once it is there. */
    this.answer = null;
    /** What a saved search has not shown before. @type {{keys: string[], text: string} | null} */
    this.news = null;
    this.heading = element('h2', {class: 'question', tabindex: '-1'}, question);
    this.root = element('div', {class: 'turn-answer'});
    this.clear();
  }

  /** What is sent. */
  get body() {
    throw new Error('a kind of turn says what it sends');
  }

  /** One event, but for those that all kinds share. @param {{type: string, data: any}} event */
  take(event) {
    throw new Error(`a kind of turn takes its events: ${event.type}`);
  }

  /** What reads how the question was understood. @returns {import('../../components/conditions.js').Reader} */
  get reader() {
    throw new Error('a kind of turn reads what was understood');
  }

  /** What it found, as a saved search remembers it. @returns {{type: string, id: string}[]} */
  get results() {
    return [];
  }

  /** What saves the search. One that follows on others says nothing alone, and has none. @returns {import('../../dom.js').Child} */
  get saver() {
    if (this.before.length > 0) return null;
    const {context, domain, question: query, constraints} = this;
    return saver(context, {domain, query, parameters: constraints === null ? {} : {constraints: packed(constraints)}, results: () => this.results});
  }

  /** Say which results are new. @param {{keys: string[], text: string}} news */
  tellNews(news) {
    this.news = news;
    this.finish();
    this.context.announce(news.text);
  }

  isNew(type, id) {
    return this.news?.keys.includes(`${type}/${id}`) ?? false;
  }

  /** What draws the number that the text begins with. @returns {Element | null} */
  figure() {
    return null;
  }

  /** What stands below the finished text. @returns {import('../../dom.js').Child} */
  found() {
    return null;
  }

  /**
   * How the question was understood, its words marked above; a condition that is changed asks it again, by what is then wanted.
   * @returns {import('../../dom.js').Child}
   */
  understood(constraints = this.answer.constraints) {
    if (!constraints) return null;
    const {question} = this;
    const chips = conditionChips(this.reader, constraints, {question, onchange: (changed) => this.callbacks.onedit(changed)});
    if (chips.length === 0 && this.constraints === null) return null;
    const readAgain = () => { forgetTaken(question); this.callbacks.onedit(null); };
    return element('section', {class: 'understood', 'aria-label': 'How the question was understood'}, chips,
      this.constraints !== null && element('p', {class: 'fine'}, 'Answered with your changes. ',
        element('button', {type: 'button', class: 'text-button', on: {click: readAgain}}, 'Read the question again'), '.'));
  }

  /**
   * Where nothing was found: the conditions that the answer names as those which keep all out, each to be dropped by one press.
   * @returns {import('../../dom.js').Child}
   */
  #drops() {
    const {constraints} = this.answer;
    if (this.results.length > 0 || !constraints) return null;
    const named = this.reader.read(constraints, this.question).filter(({text}) => this.text.includes(`“${text}”`));
    return named.length > 0 && element('div', {class: 'chips', role: 'group', 'aria-label': 'Drop a condition'}, named.map((condition) =>
      element('button', {type: 'button', class: 'chip toggle', on: {click: () => this.callbacks.onedit(this.reader.without(constraints, condition))}}, `Without “${condition.text}”`)));
  }

  /** What is read out when the answer is there. */
  get summary() {
    return 'Answer ready';
  }

  /** What brings it back after a reload, or from where it was kept: all of it, or the run that it is of. */
  get kept() {
    const {question, constraints, state, text, answer, news, run} = this;
    return {question, constraints, state, text, answer, news, run};
  }

  /** Bring back what was kept; nothing is asked. @param {any} kept */
  restore({state = 'done', text = '', answer = null, news = null, run = null}) {
    if (state !== 'stopped' && (state !== 'done' || answer === null)) return this.followOn(run);
    Object.assign(this, {text, answer, news, run});
    return this.showKept(state);
  }

  /** Ask, once. What was begun before is read on. */
  async begin() {
    if (this.state !== 'new') return;
    await this.attempt(async (signal) => {
      this.context.announce('Searching');
      for await (const event of this.context.api.stream(`${this.domain}/chat`, {body: this.body, accept: NDJSON, signal, after: this.place})) this.#take(event);
      this.context.announce(this.summary);
    });
  }

  /** Show what the whole answer holds. */
  finish() {
    replace(this.notes);
    replace(this.heading, highlighted(this.question, this.answer?.constraints?.evidence ?? []));
    const figure = this.figure();
    if (figure && !this.view.figure) this.view.illustrate(figure);
    replace(this.after, this.#drops(), this.understood(), this.news && remark(this.news.text), this.found());
    this.enter('done');
  }

  /** A change that cannot be answered can be changed again. */
  below() {
    return this.constraints !== null && this.understood(this.constraints);
  }

  #take(event) {
    this.follow(event);
    // what happens says more than grey lines, which it would push down
    replace(this.notes);
    if (event.type === 'partial_text') {
      this.timeline.fold();
      this.text += event.data.text;
      this.flushSoon();
    } else if (event.type === 'final_answer') {
      this.answer = event.data;
      this.text = event.data.content ?? event.data.response ?? this.text;
    } else {
      this.take(event);
    }
  }

  clear() {
    this.reset('Search');
    this.answer = null;
    this.news = null;
    this.after = element('div', {class: 'turn-found'});
    replace(this.root, this.timeline.root, this.notes, this.prose, this.after);
  }
}
