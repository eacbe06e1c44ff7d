/** One answer: asked and shown as it streams, or opened as stored. Its nodes live as long as its history entry. */

import {pathOf, Problem} from '../../api.js';
import {numberCharts, numbersNote} from '../../components/charts.js';
import {understoodSection} from '../../components/conditions.js';
import {confidenceLevel, explanationControl} from '../../components/confidence.js';
import {degradedRemark, note, noticeOf, openPreview, previewed, remark} from '../../components/panel.js';
import {answerMarkdown, choices, exportMenu, markdownText} from '../../components/results.js';
import {Streamed} from '../../components/streamed.js';
import {button, element, icon, replace, taskButton, textButton} from '../../dom.js';
import {day, words} from '../../format.js';
import {gettext, ngettext} from '../../messages.js';
import {citationText, languageOf, sourceCard, sourcePreview} from './record.js';

const STEP_WORDS = {
  records_research: gettext('further research'), records_answer: gettext('the writing of the answer'), records_followups: gettext('the follow-up questions'),
  query_embedding: gettext('search by meaning'), answer_correction: gettext('the correction of the answer'),
};

/** What is stored of an answer, besides its sources. */
const STORED = ['question', 'state', 'id', 'run', 'text', 'confidence', 'citations', 'statements', 'unsupported', 'changed', 'followups', 'topicChanged', 'applied', 'isOwn', 'isShared', 'count', 'understood', 'changes'];

/** @typedef {{question: string, answer: string, applied?: any}} Turn */

export class Answer extends Streamed {
  /** @param {{history: Turn[], types: string[], filters: any}} scope without types and filters, those of the previous turn apply */
  constructor(question, scope, context) {
    super(context);
    Object.assign(this, {question, scope});
    /** `onchange` is called when it begins or ends, `onfollow` with a follow-up question, `onagain` to ask the same question again.
     * @type {{onchange: () => void, onfollow: (question: string) => void, onagain: () => void}} */
    this.callbacks = {onchange() {}, onfollow() {}, onagain() {}};
    // `applied`: the types and filters that it was made from; `isShared`: whoever has its link can open it;
    // `changes`: how the reader wants the question understood; `fresh`: bypasses the stored answer
    Object.assign(this, {id: null, topicChanged: false, applied: null, isShared: true, changes: null, fresh: false});
    this.clear();
  }

  /** The question and answer, for follow-up questions. */
  get turn() {
    return {question: this.question, answer: this.text, id: this.id, applied: this.applied};
  }

  /** The state to restore after a reload: the whole answer, or its run. */
  get snapshot() {
    return {...Object.fromEntries(STORED.map((name) => [name, this[name]])), sources: [...this.sources.values()]};
  }

  restore(snapshot) {
    if (!['done', 'stopped'].includes(snapshot.state)) return this.followOn(snapshot.run);
    Object.assign(this, snapshot, {sources: new Map()});
    if (snapshot.sources.length > 0) this.#showSources(snapshot.sources);
    if (snapshot.count) this.#draw(snapshot.count);
    return this.showStored(snapshot.state);
  }

  /** Show that it could not be asked. */
  refuse(error, again) {
    replace(this.notes);
    replace(this.after, noticeOf(error, {retry: again, context: this.context}));
  }

  /** Ask once, and show what comes. Resumes a run that was started before. */
  async ask() {
    if (this.state !== 'new') return;
    const {question, context, scope} = this;
    const history = scope.history.map(({question: before, answer, applied}) =>
      ({question: before, answer, ...(applied ? {types: applied.types, filters: applied.filters} : {})}));
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
        textButton(gettext('Ask again'), this.callbacks.onagain)));
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
    /** By their numbers. @type {Map<number, any>} */
    this.sources = new Map();
    Object.assign(this, {confidence: null, citations: [], unsupported: [], changed: [], count: null, followups: [], understood: null, remarks: []});
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

  /** One event of the stream; unknown events are ignored. */
  #take(event) {
    this.follow(event);
    this.#handlers[event.type]?.(event);
    if (['citations', 'confidence', 'followups', 'done'].includes(event.type)) this.#showAfter();
  }

  #handlers = {
    tool_call: (event) => this.called(event, callLabel(event)),
    tool_observation: (event) => this.observed(event),
    sources: ({sources}) => {
      this.#showSources(sources);
      if (this.timeline.steps.size) this.timeline.set({id: 'answer', label: gettext('Writing the answer'), status: 'running'});
      this.timeline.fold();
    },
    understood: (event) => { this.understood = event; },
    aggregation: (event) => this.#draw(event),
    final_answer_chunk: ({chunk}) => {
      this.text += chunk;
      this.flushSoon();
    },
    text_withdrawn: () => {
      this.withdraw();
      this.count = null;
      this.view.illustrate(null);
    },
    citations: ({citations, unsupported, statements}) => {
      Object.assign(this, {citations, unsupported: unsupported ?? [], statements: statements ?? []});
      this.flush();
      // what no sentence cites is only near
      if (citations.length === 0 && this.sources.size > 0) replace(this.aside.querySelector('h2'), gettext('Nearest records'));
      if (this.timeline.steps.size) this.timeline.set({id: 'answer', label: gettext('Writing the answer'), status: 'completed'});
    },
    confidence: (event) => { this.confidence = event; },
    followups: ({questions}) => { this.followups = questions; },
    done: ({answer_id: id, topic_changed: topicChanged, applied, shared, degraded, cached}) => {
      Object.assign(this, {id, topicChanged, applied: applied ?? null, isShared: shared ?? true, isOwn: id !== null});
      // below the text, so that it does not push the text down
      this.remarks = [degradedRemark(degraded ?? [], STEP_WORDS), cached && note(gettext('Saved answer: the data behind it has not changed. '),
        textButton(gettext('Ask again'), () => { this.fresh = true; this.again(); }))];
    },
  };

  #draw(count) {
    this.count = count;
    this.view.illustrate(numberCharts(count, this.context, languageOf(count.query?.source)));
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
    let isTouch = false;
    const name = gettext('Source {number}: {title}', {number: n, title: source.title});
    const mark = element('button', {type: 'button', class: 'citation', 'aria-label': name, data: {cites: n, label: name}, on: {
      pointerdown: (event) => { isTouch = event.pointerType === 'touch'; },
      click: () => {
        if (isTouch) openPreview(mark, () => [...content(), button(gettext('Open'), {onclick: open})]);
        else open();
        isTouch = false;
      },
    }}, n);
    previewed(mark, content);
    return mark;
  }

  /** How the question was understood; a change asks again. */
  #conditions() {
    const {type, ...understood} = this.understood ?? {};
    return this.understood && understoodSection(understood, {
      question: this.question, isChanged: this.changes !== null, onchange: (changes) => { this.changes = changes; this.again(); },
    });
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

function callLabel({tool, arguments: {source = [], id, field, text = ''}}) {
  const where = [source ?? []].flat().map(words).join(', ').toLowerCase();
  if (tool === 'query') return gettext('Counting over {where}', {where});
  if (tool === 'get') return gettext('Reading {where} {id}', {where, id});
  if (tool === 'values') return gettext('Looking up {field} of {where}', {field, where});
  if (tool === 'describe_collections') return gettext('Looking at what data there is');
  // a message within another would not be found by the tool that collects them
  const everywhere = gettext('all records');
  return gettext('Searching {where} for “{text}”', {where: where || everywhere, text: text ?? ''});
}

/** The foot of a finished answer: its confidence, link, how the question was read, export, and feedback. */
function answerFoot(answer) {
  const {confidence, id, isOwn, run, state, text, context} = answer;
  const isFinished = state !== 'running';
  return element('div', {class: 'answer-foot'}, confidence && confidenceLevel(confidence.level, confidence.label),
    id && (answer.isShared ? linkControl(answer) : isOwn && shareControl(answer)), id && isOwn && revokeControl(answer), run && isFinished && explanation(answer),
    text && isFinished && exportMenu(() => tableOf(answer), context), run && isFinished && feedback(answer));
}

/** How the question was read, over the same records and after the same question. */
function explanation({question, scope, topicChanged, context}) {
  const before = topicChanged ? undefined : scope.history.at(-1)?.question;
  return explanationControl({question, domain: 'records', sources: scope.types, ...(before && {after: before})}, context);
}

/** The answer and its citations, each with the record's address here. */
function tableOf({sources: byNumber, citations, statements, unsupported, question, text, confidence, context}) {
  const sources = [...byNumber.values()].map((source) => ({...source, url: context.itemAddress(source.type, source.id)}));
  const lines = sources.map(({url, ...source}) => `${source.n}. ${markdownText(citationText(source))} <${url}>`);
  return {
    name: question,
    columns: ['n', 'type', 'id', 'title', 'date', 'url', 'quotes'],
    rows: sources.map(({n, type, id, title, date, url}) =>
      [n, type, id, title, date, url, citations.filter((each) => each.n === n && each.quote).map(({quote}) => quote)]),
    json: {question, answer: text, confidence: confidence?.level ?? null, sources, citations, statements, unsupported},
    markdown: answerMarkdown(question, text, lines, '## Sources\n\n'),
  };
}

/** Asks whether the answer helped; a reader who says no can say why. */
function feedback({run, context}) {
  const failure = element('span', {class: 'fine', role: 'alert', hidden: true}, gettext('Sending failed. Try again.'));
  const thanks = () => {
    failure.hidden = true;
    replace(group, gettext('Thank you.'));
    context.announce(gettext('Thank you'));
  };
  const send = (body, next) => context.api.post(pathOf('runs', run, 'feedback'), body).then(next, () => { failure.hidden = false; });
  const askWhy = () => {
    const reason = element('input', {type: 'text', name: 'reason', maxlength: '2000', 'aria-label': gettext('What is wrong?'), placeholder: gettext('What is wrong?')});
    replace(group, element('form', {class: 'feedback-form', on: {submit: (event) => {
      event.preventDefault();
      if (reason.value.trim()) send({helpful: false, reason: reason.value.trim()}, thanks);
      else thanks();
    }}}, reason, element('button', {class: 'button quiet'}, gettext('Send'))));
    reason.focus();
  };
  const group = element('span', {class: 'feedback', role: 'group', 'aria-label': gettext('Did this help?')},
    button(gettext('Helpful'), {kind: 'quiet', onclick: () => send({helpful: true}, thanks)}),
    button(gettext('Not helpful'), {kind: 'quiet', onclick: () => send({helpful: false}, askWhy)}));
  return element('span', {class: 'feedback'}, group, failure);
}

function revokeControl(answer) {
  return taskButton(gettext('Revoke link'), async () => {
    await answer.context.api.delete(pathOf('answers', answer.id)).catch((error) => { if (error.kind !== 'not_found') throw error; });
    answer.forgetAddress();
    answer.context.announce(gettext('The link no longer works'));
  }, () => gettext('Revoking failed. Try again.'));
}

/** Sharing is an act of its own where the service is set so. */
function shareControl(answer) {
  return taskButton([icon('link'), gettext('Share')], async (control) => {
    await answer.context.api.post(pathOf('me/answers', answer.id, 'share'), {});
    answer.isShared = true;
    control.replaceWith(linkControl(answer));
    answer.context.announce(gettext('Shared: whoever has the link can open this answer'));
  }, () => gettext('Sharing failed. Try again.'));
}

function linkControl({question, id, context}) {
  const {href} = new URL(context.address({q: question, id}), document.baseURI);
  // where copying is not allowed, the address bar shows the link too
  return element('span', {}, taskButton([icon('link'), gettext('Copy link')], async (control) => {
    await navigator.clipboard.writeText(href);
    replace(control, icon('check'), gettext('Link copied'));
    context.announce(gettext('Link copied'));
  }, () => element('a', {href}, gettext('This answer’s address'))), element('span', {class: 'fine'}, gettext('Whoever has the link can open this answer.')));
}
