/**
 * The steps of a search as they happen: running, completed or failed, with their times. They collapse when the search is over, or
 * earlier by `fold`, when there is something better to read.
 */

import {element, hiddenText, icon, replace} from '../dom.js';
import {duration} from '../format.js';
import {gettext, ngettext} from '../messages.js';

const STATUS_WORDS = {running: gettext('running'), completed: gettext('done'), failed: gettext('failed'), stopped: gettext('stopped')};

/**
 * @typedef {'running' | 'completed' | 'failed' | 'stopped'} Status
 * @typedef {{id: string, label: string, status: Status, detail?: string | null, durationMs?: number | null}} Step
 */

export class Timeline {
  /** @param {string} name the heading of the steps, such as `Research` */
  constructor(name) {
    this.name = name;
    this.started = performance.now();
    this.isFolded = false;
    /** @type {Map<string, {step: Step, item: Element, began: number}>} */
    this.steps = new Map();
    this.list = element('ol', {class: 'timeline'});
    this.summary = element('span', {class: 'timeline-summary'});
    this.root = element('details', {class: 'activity', open: true, hidden: true, data: {state: 'running'}},
      element('summary', {}, element('span', {class: 'timeline-mark', 'aria-hidden': 'true'}), this.summary, icon('chevron')), this.list);
  }

  /**
   * Add a step, or update it. A step that ends without a time gets the time measured here.
   * @param {Step} step
   */
  set(step) {
    const known = this.steps.get(step.id);
    const began = known?.began ?? performance.now();
    const ended = step.status !== 'running' && known !== undefined;
    const whole = {...step, durationMs: step.durationMs ?? (ended ? performance.now() - began : null)};
    const item = known?.item ?? this.list.appendChild(element('li', {}));
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

  /**
   * End the search: steps that still run end with it.
   * @param {Status} [status]
   */
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
