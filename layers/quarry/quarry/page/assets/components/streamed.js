/**
 * An answer that comes as a stream: asked once, read on where the connection was lost, stopped, asked again.
 */

import {Problem, canReadOn, isStopped, runOf} from '../api.js';
import {element, replace} from '../dom.js';
import {words} from '../format.js';
import {MarkdownView} from '../markdown.js';
import {endedNotice} from './notice.js';
import {loading} from './panel.js';
import {Timeline} from './timeline.js';

/** A kind of it says how it is asked (`begin`), begins with nothing (`clear`), and shows the whole (`finish`) in `root`. */
export class Streamed {
  /** @param {import('../app.js').Context} context */
  constructor(context) {
    this.context = context;
    /** @type {'new' | 'running' | 'done' | 'stopped' | 'failed'} */
    this.state = 'new';
  }

  /** @param {string} steps what its steps are called together @param {{cite?: import('../markdown.js').Cite, above?: number}} [view] */
  reset(steps, view = {}) {
    this.text = '';
    /** Known from its first event on, also when it is gone: only who asks again has another one. */
    this.run = null;
    this.place = null;
    this.timeline = new Timeline(steps);
    this.prose = element('div', {class: 'prose'});
    this.view = new MarkdownView(this.prose, view);
    this.notes = element('div', {class: 'answer-notes'}, loading(2));
  }

  /** Below the notice that it failed. @returns {import('../dom.js').Child} */
  below() {
    return null;
  }

  /** A notice of its own of a failure. @param {unknown} error @returns {import('../dom.js').Child} */
  noticeOf(error) {
    return null;
  }

  stop() {
    this.controller?.abort();
  }

  /** Ask once more, from the beginning. */
  again() {
    this.clear();
    this.resume();
  }

  /** Read on behind what came last. */
  resume() {
    this.state = 'new';
    this.begin();
  }

  /** Do what brings the answer, and show how it ended. @param {(signal: AbortSignal) => Promise<void>} work */
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
      // a run is kept for some minutes
      const isGone = this.place !== null && ['not_found', 'expired'].includes(error.kind);
      if (isGone) this.place = null;
      this.end(isGone ? new Problem('broken_off') : error);
    }
  }

  end(error) {
    const stopped = isStopped(error);
    const goOn = this.place !== null && canReadOn(error) ? () => this.resume() : undefined;
    if (!stopped || !this.text) replace(this.notes);
    replace(this.after, this.noticeOf(error) ?? endedNotice(error, 'Ask again', () => this.again(), this.context.session, goOn), this.below());
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

  /** Keep the place of an event, to read on behind it. */
  follow({seq}) {
    if (!seq) return;
    const isFirst = this.run === null;
    this.place = seq;
    this.run = runOf(seq);
    if (isFirst) this.callbacks.onchange();
  }

  /** Read on a run that was kept. @param {string | null} run */
  followOn(run) {
    if (run) Object.assign(this, {run, place: `${run}/0`});
    return this;
  }

  /** Show what was kept whole, or until it was stopped. @param {string} state */
  showKept(state) {
    replace(this.notes);
    this.flush();
    if (state === 'done') this.finish();
    else this.end(new DOMException('Stopped', 'AbortError'));
    return this;
  }

  /** That a tool is called, and what it found. */
  called({id}, label) {
    this.timeline.set({id, label, status: 'running'});
  }

  observed({id, tool, summary}) {
    this.timeline.set({id, label: this.timeline.steps.get(id)?.step.label ?? words(tool), status: 'completed', detail: summary});
  }

  /** The text grows at most once a frame. */
  flushSoon() {
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.flush(); });
  }

  flush() {
    this.view.show(this.text);
  }
}
