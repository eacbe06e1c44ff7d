/** A streamed answer: asked once, resumed after a lost connection, stopped, or asked again. */

import {canReadOn, isStopped, Problem, runOf} from '../api.js';
import {element, hiddenText, icon, replace} from '../dom.js';
import {duration, words} from '../format.js';
import {MarkdownView} from '../markdown.js';
import {gettext, ngettext} from '../messages.js';
import {statementMark, withStatementPlaces} from './confidence.js';
import {endedNotice, loading} from './panel.js';

const STATUS_WORDS = {running: gettext('running'), completed: gettext('done'), failed: gettext('failed'), stopped: gettext('stopped')};

/** The steps of an answer, under a heading such as `Research`. */
class Timeline {
  constructor(name) {
    Object.assign(this, {name, started: performance.now(), isFolded: false, steps: new Map()});
    this.list = element('ol', {class: 'timeline'});
    this.summary = element('span', {class: 'timeline-summary'});
    this.root = element('details', {class: 'activity', open: true, hidden: true, data: {state: 'running'}},
      element('summary', {}, element('span', {class: 'timeline-mark', 'aria-hidden': 'true'}), this.summary, icon('chevron')), this.list);
  }

  /** Add a step, or update it: its `id`, `label`, `status`, `detail` and `durationMs`. One that ends without a time gets the time measured here. */
  set(step) {
    const before = this.steps.get(step.id);
    const began = before?.began ?? performance.now();
    const ended = step.status !== 'running' && before !== undefined;
    const whole = {...step, durationMs: step.durationMs ?? (ended ? performance.now() - began : null)};
    const item = before?.item ?? this.list.appendChild(element('li', {}));
    item.dataset.status = step.status;
    replace(item,
      element('span', {class: 'timeline-mark', 'aria-hidden': 'true'}, step.status === 'completed' ? icon('check') : step.status === 'failed' ? icon('cross') : null),
      element('span', {class: 'timeline-label'}, step.label, hiddenText(`: ${STATUS_WORDS[step.status]}`)),
      whole.durationMs !== null && element('span', {class: 'timeline-time'}, duration(whole.durationMs)),
      step.detail && element('span', {class: 'timeline-detail'}, step.detail));
    this.steps.set(step.id, {step: whole, item, began});
    this.root.hidden = false;
    if (this.root.dataset.state === 'running') this.summary.textContent = step.label;
  }

  finish(status = 'completed') {
    for (const {step} of this.steps.values()) if (step.status === 'running') this.set({...step, status, durationMs: null});
    this.root.dataset.state = status;
    const failed = [...this.steps.values()].filter(({step}) => step.status === 'failed').length;
    this.summary.textContent = [
      this.name, ngettext('{number} step', '{number} steps', this.steps.size), duration(performance.now() - this.started),
      failed > 0 && ngettext('{number} failed', '{number} failed', failed), status === 'stopped' && gettext('stopped'),
    ].filter(Boolean).join(' · ');
    this.fold();
  }

  /** Collapse the steps, once: if the reader opens them again, they stay open. */
  fold() {
    if (!this.isFolded) this.root.open = false;
    this.isFolded = true;
  }
}

/** A subclass says how to ask (`begin`), resets (`clear`), and shows the complete answer (`finish`) in `root`. It may have a notice of its
 * own for a failure (`noticeOf`). */
export class Streamed {
  constructor(context) {
    this.context = context;
    /** @type {'new' | 'running' | 'done' | 'stopped' | 'failed'} */
    this.state = 'new';
  }

  /** @param {string} steps the heading of its steps @param {{cite?: import('../markdown.js').Cite, above?: number}} [view] */
  reset(steps, {cite = () => null, ...view} = {}) {
    this.text = '';
    /** What the check found. @type {import('./confidence.js').Statement[]} */
    this.statements = [];
    /** Known from the first event on, even if the run is gone: only asking again makes another one. */
    this.run = null;
    this.place = null;
    this.timeline = new Timeline(steps);
    this.prose = element('div', {class: 'prose'});
    const marked = (n, isStatement) => (isStatement ? statementMark(this.statements[n]) : cite(n));
    this.view = new MarkdownView(this.prose, {...view, cite: marked});
    this.notes = element('div', {class: 'answer-notes'}, loading(2));
  }

  /** Shown below the notice of a failure. */
  below() {
    return null;
  }

  stop() {
    this.controller?.abort();
  }

  again() {
    this.clear();
    this.resume();
  }

  /** Resume after the last event. */
  resume() {
    this.state = 'new';
    this.begin();
  }

  /** Do the work that brings the answer, and show how it ended. @param {(signal: AbortSignal) => Promise<void>} work */
  async attempt(work) {
    this.controller = new AbortController();
    replace(this.after);
    if (!this.text) replace(this.notes, loading(2));
    this.enter('running');
    try {
      await work(this.controller.signal);
      this.flush();
      this.timeline.finish();
      this.finish();
    } catch (error) {
      this.flush();
      this.timeline.finish(isStopped(error) ? 'stopped' : 'failed');
      // the service keeps a run for some minutes
      const isGone = this.place !== null && ['not_found', 'expired'].includes(error.kind);
      if (isGone) this.place = null;
      this.end(isGone ? new Problem('broken_off') : error);
    }
  }

  end(error) {
    const stopped = isStopped(error);
    const goOn = this.place !== null && canReadOn(error) ? () => this.resume() : undefined;
    if (!stopped || !this.text) replace(this.notes);
    replace(this.after, this.noticeOf?.(error) ?? endedNotice(error, gettext('Ask again'), () => this.again(), this.context, goOn), this.below());
    this.enter(stopped ? 'stopped' : 'failed');
    if (stopped) this.context.announce('Stopped');
  }

  enter(state) {
    this.state = state;
    this.prose.classList.toggle('is-streaming', state === 'running');
    this.root.dataset.state = state;
    (this.article ?? this.root).setAttribute('aria-busy', String(state === 'running'));
    this.callbacks.onchange();
  }

  /** Remember the place of an event, to resume after it. */
  follow({seq}) {
    if (!seq) return;
    const isFirst = this.run === null;
    this.place = seq;
    this.run = runOf(seq);
    if (isFirst) this.callbacks.onchange();
  }

  followOn(run) {
    if (run) Object.assign(this, {run, place: `${run}/0`});
    return this;
  }

  showStored(state) {
    replace(this.notes);
    this.flush();
    if (state === 'done') this.finish();
    else this.end(new DOMException('Stopped', 'AbortError'));
    return this;
  }

  /** Show a tool call, and what it found. */
  called({id}, label) {
    this.timeline.set({id, label, status: 'running'});
  }

  observed({id, tool, summary}) {
    this.timeline.set({id, label: this.timeline.steps.get(id)?.step.label ?? words(tool), status: 'completed', detail: summary});
  }

  /** What was written so far is no part of the answer. */
  withdraw() {
    this.text = '';
    this.statements = [];
    this.flushSoon();
  }

  /** Update the text at most once per frame. */
  flushSoon() {
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.flush(); });
  }

  flush() {
    this.view.show(withStatementPlaces(this.text, this.statements));
  }
}
