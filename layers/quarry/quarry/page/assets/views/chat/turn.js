/**
 * One question of a conversation and its answer: the steps as they happen, the text as it streams, then the results. Its nodes
 * live as long as its history entry.
 */

import {conditionChips, forgetTaken} from '../../components/conditions.js';
import {confidenceLevel} from '../../components/confidence.js';
import {saver} from '../../components/kept.js';
import {remark} from '../../components/notice.js';
import {numbersNote} from '../../components/numbers.js';
import {Streamed} from '../../components/streamed.js';
import {highlighted, packed, without} from '../../components/understood.js';
import {element, replace} from '../../dom.js';
import {gettext} from '../../messages.js';

const NDJSON = 'application/x-ndjson';

/**
 * @typedef {object} Asked
 * @property {string} question
 * @property {Turn[]} before the earlier turns
 * @property {import('../../components/conditions.js').Understood | null} changes how the reader wants it understood
 * @property {any} [former] the same in the form of older addresses
 */

/** What all kinds of conversations share. A subclass says what it sends and how it handles events. */
export class Turn extends Streamed {
  /**
   * @param {Asked} asked
   * @param {import('../../app.js').Context} context
   * @param {string} domain to ask
   */
  constructor({question, before, changes, former = null}, context, domain) {
    super(context);
    this.question = question;
    this.before = before;
    this.changes = changes;
    this.former = former;
    this.domain = domain;
    /** @type {{onchange: () => void, onfollow: (question: string) => void, onedit: (understood: any) => void}} */
    this.callbacks = {onchange() {}, onfollow() {}, onedit() {}};
    /** The data of the last event, once it has come. */
    this.answer = null;
    /** The results that a saved search has not shown before. @type {{keys: string[], text: string} | null} */
    this.news = null;
    this.heading = element('h2', {class: 'question', tabindex: '-1'}, question);
    this.root = element('div', {class: 'turn-answer'});
    this.clear();
  }

  /** The request body. */
  get body() {
    throw new Error('a kind of turn says what it sends');
  }

  /** How the question is to be understood, for the request. */
  get sentChanges() {
    if (this.changes !== null) return {understood: this.changes};
    return this.former === null || this.domain !== 'companies' ? {} : {constraints: this.former};
  }

  /** Handle one event that is not common to all kinds. @param {{type: string, data: any}} event */
  take(event) {
    throw new Error(`a kind of turn takes its events: ${event.type}`);
  }

  /** The results, as a saved search remembers them. @returns {{type: string, id: string}[]} */
  get results() {
    return [];
  }

  /** The button that saves the search. A follow-up question means nothing on its own, so it has none. @returns {import('../../dom.js').Child} */
  get saver() {
    if (this.before.length > 0) return null;
    const {context, domain, question: query, changes} = this;
    return saver(context, {domain, query, parameters: changes === null ? {} : {understood: packed(changes)}, results: () => this.results});
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

  /** The chart for the number that the text starts with. @returns {Element | null} */
  figure() {
    return null;
  }

  /** The content below the finished text. @returns {import('../../dom.js').Child} */
  found() {
    return null;
  }

  /**
   * How the question was understood, with its words marked above. Changing a condition asks again.
   * @returns {import('../../dom.js').Child}
   */
  understood(understood = this.answer.understood) {
    if (!understood) return null;
    const {question} = this;
    const chips = conditionChips(understood, {question, onchange: (changed) => this.callbacks.onedit(changed)});
    if (chips.length === 0 && this.changes === null) return null;
    const readAgain = () => { forgetTaken(question); this.callbacks.onedit(null); };
    return element('section', {class: 'understood', 'aria-label': gettext('How the question was understood')}, chips,
      this.changes !== null && element('p', {class: 'fine'}, gettext('Answered with your changes. '),
        element('button', {type: 'button', class: 'text-button', on: {click: readAgain}}, gettext('Read the question again')), '.'));
  }

  /**
   * If nothing was found: the conditions that the answer blames for it, each with a button to drop it.
   * @returns {import('../../dom.js').Child}
   */
  #drops() {
    const {understood} = this.answer;
    if (this.results.length > 0 || !understood) return null;
    const named = (understood.chips ?? []).filter(({label}) => this.text.includes(`“${label}”`));
    return named.length > 0 && element('div', {class: 'chips', role: 'group', 'aria-label': gettext('Drop a condition')}, named.map((chip) =>
      element('button', {type: 'button', class: 'chip toggle', on: {click: () => this.callbacks.onedit(without(understood, chip).left)}}, gettext('Without “{label}”', {label: chip.label}))));
  }

  /** The announcement for screen readers when the answer is complete. */
  get summary() {
    return gettext('Answer ready');
  }

  /** The state to restore after a reload or from a saved conversation: the whole answer, or its run. */
  get kept() {
    const {question, changes, state, text, answer, news, run} = this;
    return {question, changes, state, text, answer, news, run};
  }

  /** Restore the state, without asking. @param {any} kept */
  restore({state = 'done', text = '', answer = null, news = null, run = null}) {
    if (state !== 'stopped' && (state !== 'done' || answer === null)) return this.followOn(run);
    Object.assign(this, {text, answer, news, run, statements: answer?.statements ?? []});
    return this.showKept(state);
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

  /** Show the content of the whole answer. */
  finish() {
    replace(this.notes);
    replace(this.heading, highlighted(this.question, this.answer?.understood));
    const figure = this.figure();
    if (figure && !this.view.figure) this.view.illustrate(figure);
    const {confidence} = this.answer ?? {};
    replace(this.after, confidence && element('p', {class: 'fine'}, confidenceLevel(confidence.level, confidence.label)), numbersNote(this.answer?.aggregation ?? undefined, this), this.#drops(), this.understood(), this.news && remark(this.news.text), this.found());
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
    this.answer = null;
    this.news = null;
    this.after = element('div', {class: 'turn-found'});
    replace(this.root, this.timeline.root, this.notes, this.prose, this.after);
  }
}
