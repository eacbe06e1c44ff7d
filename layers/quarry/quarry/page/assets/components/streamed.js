/**
 * A streamed answer: asked once, resumed after a lost connection, stopped, or asked again.
 */

import {Problem, canReadOn, isStopped, runOf} from '../api.js';
import {element, replace} from '../dom.js';
import {words} from '../format.js';
import {MarkdownView} from '../markdown.js';
import {endedNotice} from './notice.js';
import {loading} from './panel.js';
import {statementMark, withStatementPlaces} from './statements.js';
import {Timeline} from './timeline.js';
import {gettext} from '../messages.js';

/** A subclass says how to ask (`begin`), resets (`clear`), and shows the complete answer (`finish`) in `root`. */
export class Streamed {
  /** @param {import('../app.js').Context} context */
  constructor(context) {
    this.context = context;
    /** @type {'new' | 'running' | 'done' | 'stopped' | 'failed'} */
    this.state = 'new';
  }

  /** @param {string} steps the heading of its steps @param {{cite?: import('../markdown.js').Cite, above?: number}} [view] */
  reset(steps, {cite = () => null, ...view} = {}) {
    this.text = '';
    /** What the check found. @type {import('./statements.js').Statement[]} */
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

  /** Shown below the notice of a failure. @returns {import('../dom.js').Child} */
  below() {
    return null;
  }

  /** A custom notice for a failure. @param {unknown} error @returns {import('../dom.js').Child} */
  noticeOf(error) {
    return null;
  }

  stop() {
    this.controller?.abort();
  }

  /** Ask again, from the beginning. */
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
    replace(this.after, this.noticeOf(error) ?? endedNotice(error, gettext('Ask again'), () => this.again(), this.context.session, goOn), this.below());
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

  /** Resume a stored run. @param {string | null} run */
  followOn(run) {
    if (run) Object.assign(this, {run, place: `${run}/0`});
    return this;
  }

  /** Show a stored answer, complete or stopped. @param {string} state */
  showKept(state) {
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
