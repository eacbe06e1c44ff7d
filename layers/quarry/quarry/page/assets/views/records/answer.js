/**
 * One answer: asked and shown as it streams, or opened as stored. Its nodes live as long as its history entry.
 */

import {Problem, pathOf} from '../../api.js';
import {choices} from '../../components/chips.js';
import {conditionChips, forgetTaken} from '../../components/conditions.js';
import {degradedRemark, note, noticeOf, remark} from '../../components/notice.js';
import {numberCharts, numbersNote} from '../../components/numbers.js';
import {openPreview, previewed} from '../../components/popover.js';
import {Streamed} from '../../components/streamed.js';
import {button, element, replace} from '../../dom.js';
import {day, words} from '../../format.js';
import {languageOf} from './declared.js';
import {answerFoot} from './foot.js';
import {sourceCard, sourcePreview} from './record.js';
import {gettext, ngettext} from '../../messages.js';

const STEP_WORDS = {
  records_research: gettext('further research'), records_answer: gettext('the writing of the answer'), records_followups: gettext('the follow-up questions'),
  query_embedding: gettext('search by meaning'), answer_correction: gettext('the correction of the answer'),
};

/** @typedef {{question: string, answer: string, applied?: any}} Turn */

/** One answer, shown in `root`. */
export class Answer extends Streamed {
  /**
   * @param {string} question
   * @param {{history: Turn[], types: string[], filters: any}} scope without types and filters, those of the previous turn apply
   * @param {import('../../app.js').Context} context
   */
  constructor(question, scope, context) {
    super(context);
    this.question = question;
    this.scope = scope;
    /**
     * `onchange` is called when it begins or ends, `onfollow` with a follow-up question, `onagain` to ask the same question again.
     * @type {{onchange: () => void, onfollow: (question: string) => void, onagain: () => void}}
     */
    this.callbacks = {onchange() {}, onfollow() {}, onagain() {}};
    this.id = null;
    this.topicChanged = false;
    /** The types and filters that it was made from. */
    this.applied = null;
    /** Whether whoever has its link can open it. */
    this.isShared = true;
    /** How the reader wants the question understood. */
    this.changes = null;
    // whether to bypass the stored answer
    this.fresh = false;
    this.clear();
  }

  /** The question and answer, for follow-up questions. */
  get turn() {
    return {question: this.question, answer: this.text, id: this.id, applied: this.applied};
  }

  /** The state to restore after a reload: the whole answer, or its run. */
  get kept() {
    const {question, state, id, run, text, confidence, citations, statements, unsupported, changed, followups, topicChanged, applied, isOwn, isShared, count, understood, changes} = this;
    return {question, state, id, run, text, confidence, citations, statements, unsupported, changed, followups, topicChanged, applied, isOwn, isShared, count, understood, changes, sources: [...this.sources.values()]};
  }

  /** Restore the state, without asking. @param {any} kept */
  restore(kept) {
    if (!['done', 'stopped'].includes(kept.state)) return this.followOn(kept.run);
    Object.assign(this, kept, {sources: new Map()});
    if (kept.sources.length > 0) this.#showSources(kept.sources);
    if (kept.count) this.#draw(kept.count);
    return this.showKept(kept.state);
  }

  /** Show that it could not be asked. @param {unknown} error @param {() => void} again */
  refuse(error, again) {
    replace(this.notes);
    replace(this.after, noticeOf(error, {retry: again, signIn: () => this.context.session.signIn()}));
  }

  /** Ask once, and show what comes. Resumes a run that was started before. */
  async ask() {
    if (this.state !== 'new') return;
    const {question, context, scope} = this;
    const history = scope.history.map(({question: asked, answer, applied}) =>
      ({question: asked, answer, ...(applied ? {types: applied.types, filters: applied.filters} : {})}));
    const own = scope.types.length || Object.keys(scope.filters).length ? {types: scope.types, filters: scope.filters} : {};
    const body = {question, history, ...own, ...(this.changes && {understood: this.changes}), ...(this.fresh ? {fresh: true} : {})};
    await this.attempt(async (signal) => {
      context.announce(gettext('Searching the records'));
      for await (const event of context.api.stream('records/ask', {body, signal, after: this.place})) {
        // nothing is shown of what comes first
        if (event.type !== 'intent') replace(this.notes);
        this.#take(event);
      }
      context.announce(gettext('Answer ready. {label}', {label: this.confidence?.label ?? ''}));
    });
  }

  /** Show the stored answer with an id; no model is called. */
  async open(id) {
    if (this.state !== 'new') return;
    this.id = id;
    await this.attempt(async (signal) => {
      const own = this.#isRevocable(id, signal);
      const stored = await this.context.api.get(pathOf('answers', id), {signal, isPublic: true});
      this.question = stored.query;
      replace(this.notes, note(gettext('This answer was given on {day}. Its link works until {last}.', {day: day(stored.created_at), last: day(stored.expires_at)}), ' ',
        element('button', {type: 'button', class: 'text-button', on: {click: this.callbacks.onagain}}, gettext('Ask again'))));
      this.#take({type: 'sources', sources: stored.sources});
      this.#take({type: 'final_answer_chunk', chunk: stored.answer});
      this.#take({...stored, type: 'citations'});
      this.changed = stored.changed_since;
      this.isOwn = await own;
      if (stored.confidence) this.#take({type: 'confidence', level: stored.confidence, label: stored.confidence_label});
      this.#take({type: 'followups', questions: stored.suggested_followups});
    });
  }

  /** Whether the reader may revoke it; not without a sign-in. */
  async #isRevocable(id, signal) {
    const {api, session} = this.context;
    if (session.isNeeded && !session.isSignedIn) return false;
    return api.get(pathOf('me/answers', id), {signal}).then(({revocable}) => revocable, () => false);
  }

  /** It no longer has an address. */
  forgetAddress() {
    this.id = null;
    this.callbacks.onchange();
    this.#showAfter();
  }

  /** Ask, or open the stored answer. */
  begin() {
    return this.id === null || this.fresh ? this.ask() : this.open(this.id);
  }

  clear() {
    this.reset(gettext('Research'), {cite: (n) => this.#citation(n), above: 1});
    /** @type {Map<number, any>} */
    this.sources = new Map();
    this.confidence = null;
    /** @type {any[]} */
    this.citations = [];
    /** @type {string[]} */
    this.unsupported = [];
    /** @type {any[]} */
    this.changed = [];
    this.count = null;
    this.followups = [];
    this.understood = null;
    this.remarks = [];
    this.after = element('div', {class: 'answer-after'});
    this.aside = element('aside', {class: 'sources', 'aria-label': gettext('Sources'), hidden: true});
    this.article = element('article', {class: 'answer'}, this.timeline.root, this.notes, this.prose, this.after);
    this.root ??= element('div', {class: 'answer-grid'});
    replace(this.root, this.article, this.aside);
  }

  noticeOf(error) {
    if (!(error instanceof Problem && error.kind === 'not_found' && this.id !== null)) return null;
    return [noticeOf(new Problem('not_found', gettext('This answer has expired or is not shared, or the link is incomplete.'))),
      this.question && button(gettext('Ask this question'), {kind: 'primary', onclick: this.callbacks.onagain})];
  }

  finish() {
    this.enter('done');
    this.#showAfter();
  }

  #askFresh() {
    this.fresh = true;
    this.again();
  }

  /** One event of the stream; unknown events are ignored. */
  #take(event) {
    this.follow(event);
    switch (event.type) {
      case 'tool_call':
        this.called(event, callLabel(event));
        break;
      case 'tool_observation':
        this.observed(event);
        break;
      case 'sources':
        this.#showSources(event.sources);
        if (this.timeline.steps.size) this.timeline.set({id: 'answer', label: gettext('Writing the answer'), status: 'running'});
        this.timeline.fold();
        break;
      case 'understood':
        this.understood = event;
        break;
      case 'aggregation':
        this.#draw(event);
        break;
      case 'final_answer_chunk':
        this.text += event.chunk;
        this.flushSoon();
        break;
      case 'text_withdrawn':
        this.withdraw();
        this.count = null;
        this.view.illustrate(null);
        break;
      case 'citations':
        this.citations = event.citations;
        this.unsupported = event.unsupported ?? [];
        this.statements = event.statements ?? [];
        this.flush();
        // what no sentence cites is only near
        if (this.citations.length === 0 && this.sources.size > 0) replace(this.aside.querySelector('h2'), gettext('Nearest records'));
        if (this.timeline.steps.size) this.timeline.set({id: 'answer', label: gettext('Writing the answer'), status: 'completed'});
        this.#showAfter();
        break;
      case 'confidence':
        this.confidence = event;
        this.#showAfter();
        break;
      case 'followups':
        this.followups = event.questions;
        this.#showAfter();
        break;
      case 'done':
        this.id = event.answer_id;
        this.topicChanged = event.topic_changed;
        this.applied = event.applied ?? null;
        this.isShared = event.shared ?? true;
        this.isOwn = this.id !== null;
        // below the text, so that it does not push the text down
        this.remarks = [degradedRemark(event.degraded ?? [], STEP_WORDS), event.cached && note(gettext('Saved answer: the data behind it has not changed. '),
          element('button', {type: 'button', class: 'text-button', on: {click: () => this.#askFresh()}}, gettext('Ask again')))];
        this.#showAfter();
        break;
      default:
    }
  }

  #draw(count) {
    this.count = count;
    this.view.illustrate(numberCharts(count, languageOf(count.query?.source), this.context.announce));
  }

  /** What the numbers are, and the records that they are of. */
  #numbers() {
    const {types = [], from, to, facets = {}} = this.count?.filters ?? {};
    return this.count && this.state !== 'running' && element('div', {class: 'count'}, numbersNote(this.count, this),
      // without request names for its conditions, a list would show other rows
      types.length > 0 && element('p', {}, element('a', {href: this.context.address({q: this.question, tab: 'results', type: types, from, to, ...facets})}, gettext('Show the records behind this'))));
  }

  flush() {
    super.flush();
    for (const card of this.aside.querySelectorAll('.source')) {
      card.classList.toggle('is-cited', this.prose.querySelector(`[data-cites="${card.dataset.n}"]`) !== null);
    }
    for (const mark of this.prose.querySelectorAll('.citation[data-cites]')) {
      const citation = this.#citationOf(mark);
      mark.classList.toggle('is-unsupported', citation !== undefined && this.unsupported.includes(citation.sentence));
      mark.classList.toggle('is-verified', citation?.verified === true);
    }
  }

  /** What a mark refers to: marks of one source follow the order of its citations. */
  #citationOf(mark) {
    const n = Number(mark.dataset.cites);
    const place = [...this.prose.querySelectorAll(`[data-cites="${n}"]`)].indexOf(mark);
    return this.citations.filter((citation) => citation.n === n)[place];
  }

  #showSources(sources) {
    this.sources = new Map(sources.map((source) => [source.n, source]));
    this.aside.hidden = sources.length === 0;
    replace(this.aside, element('h2', {class: 'section-label'}, ngettext('{number} source', '{number} sources', sources.length)),
      element('ol', {class: 'cards'}, sources.map((source) => element('li', {}, sourceCard(source, this.context)))));
  }

  /** The mark of `[n]`: shows its source on hover, focus and tap; opens the record at the cited passage on click and Enter. */
  #citation(n) {
    const source = this.sources.get(n);
    if (source === undefined) return null;
    const content = () => {
      const [kicker, title, snippet] = sourcePreview(source);
      const citation = this.#citationOf(mark);
      return [kicker, title, ...(citation?.quote ? quoted(citation) : [snippet])];
    };
    const open = () => this.context.open(source.type, source.id, source, this.#citationOf(mark)?.quote);
    let touched = false;
    const mark = element('button', {
      type: 'button', class: 'citation', 'aria-label': gettext('Source {number}: {title}', {number: n, title: source.title}), data: {cites: n, label: gettext('Source {number}: {title}', {number: n, title: source.title})},
      on: {
        pointerdown: (event) => { touched = event.pointerType === 'touch'; },
        click: () => {
          if (touched) openPreview(mark, () => [...content(), button(gettext('Open'), {onclick: open})]);
          else open();
          touched = false;
        },
      },
    }, n);
    previewed(mark, content);
    return mark;
  }

  /** How the question was understood; a change asks again. */
  #conditions() {
    if (!this.understood) return null;
    const ask = (changes) => { this.changes = changes; this.again(); };
    const {type, ...read} = this.understood;
    const chips = conditionChips(read, {question: this.question, onchange: ask});
    return (chips.length > 0 || this.changes) && element('section', {class: 'understood', 'aria-label': gettext('How the question was understood')}, chips,
      this.changes && element('p', {class: 'fine'}, gettext('Answered with your changes. '),
        element('button', {type: 'button', class: 'text-button', on: {click: () => { forgetTaken(this.question); ask(null); }}}, gettext('Read the question again')), '.'));
  }

  #showAfter() {
    const questions = this.followups;
    replace(this.after, this.remarks,
      this.changed.length > 0 && remark(gettext('Changed since this answer was given: {titles}.', {titles: this.changed.map(changedTitle).join(', ')})),
      this.#numbers(),
      this.#conditions(),
      this.text && this.state !== 'new' && answerFoot(this),
      questions.length > 0 && element('section', {class: 'followups'},
        element('h2', {class: 'section-label'}, gettext('Ask next')), choices(gettext('Follow-up questions'), questions, this.callbacks.onfollow)));
  }
}

/** The basis of a citation: the passage, and whether the claim was checked against it. */
function quoted({quote, verified}) {
  const how = verified ? gettext('Checked') : gettext('Nearest passage');
  return [element('p', {class: 'card-meta'}, how), element('blockquote', {class: 'quote'}, quote)];
}

function changedTitle({title, change}) {
  return change === 'gone' ? gettext('{title} (gone)', {title}) : title;
}

function callLabel({tool, arguments: given}) {
  const where = [given.source ?? []].flat().map(words).join(', ').toLowerCase();
  switch (tool) {
    case 'query':
      return gettext('Counting over {where}', {where});
    case 'get':
      return gettext('Reading {where} {id}', {where, id: given.id});
    case 'values':
      return gettext('Looking up {field} of {where}', {field: given.field, where});
    case 'describe_collections':
      return gettext('Looking at what data there is');
    default: {
      const everywhere = gettext('all records');
      return gettext('Searching {where} for “{text}”', {where: where || everywhere, text: given.text ?? ''});
    }
  }
}
