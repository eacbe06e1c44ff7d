/**
 * The input for the question: a line that grows. Enter sends it, Shift+Enter adds a line. During an answer, its button stops it.
 */

import {button, element, hiddenText, icon, replace, uniqueId} from '../dom.js';
import {Suggestions} from './suggestions.js';
import {gettext} from '../messages.js';

const QUERY_MAX = 2000;

export class Prompt {
  /**
   * @param {{label: string, placeholder: string, onsubmit: (text: string) => void, onstop?: () => void,
   *   suggest?: (text: string, signal: AbortSignal) => Promise<import('./suggestions.js').Suggestion[]>}} options
   */
  constructor({label, placeholder, onsubmit, onstop, suggest}) {
    const id = uniqueId('prompt');
    this.onsubmit = onsubmit;
    this.onstop = onstop;
    this.input = element('textarea', {
      id, rows: '1', maxlength: String(QUERY_MAX), placeholder, autocomplete: 'off', autocapitalize: 'sentences', spellcheck: 'true',
      enterkeyhint: 'search', data: {prompt: ''}, on: {input: () => this.#grow(), keydown: (event) => this.#key(event)},
    });
    this.control = button('', {kind: 'primary prompt-button', onclick: () => this.#press()});
    this.suggestions = suggest && new Suggestions(this.input, suggest);
    this.root = element('form', {class: 'prompt', role: 'search', on: {submit: (event) => { event.preventDefault(); this.#submit(); }}},
      element('label', {for: id, class: 'visually-hidden'}, label), icon('search'), this.input,
      element('kbd', {class: 'prompt-key', 'aria-hidden': 'true'}, '/'), this.control, this.suggestions?.root);
    // its height is known once it is on the page, and changes with the width
    new ResizeObserver(() => this.#grow()).observe(this.input);
    this.busy = false;
  }

  get value() {
    return this.input.value.trim();
  }

  set value(text) {
    this.input.value = text;
    this.#grow();
  }

  get busy() {
    return this.isBusy;
  }

  /** While busy, the button says Stop. */
  set busy(isBusy) {
    this.isBusy = isBusy;
    const stops = isBusy && this.onstop !== undefined;
    replace(this.control, icon(stops ? 'stop' : 'arrow'), hiddenText(stops ? gettext('Stop') : gettext('Search')));
    this.control.title = stops ? gettext('Stop') : gettext('Search');
    this.root.classList.toggle('is-busy', isBusy);
  }

  /** Focus the input, unless that opens an on-screen keyboard. */
  focus() {
    if (matchMedia('(hover: hover)').matches) this.input.focus({preventScroll: true});
  }

  #press() {
    if (this.busy && this.onstop) this.onstop();
    else this.#submit();
  }

  #submit() {
    this.suggestions?.close();
    if (this.value) this.onsubmit(this.value);
    else this.input.focus();
  }

  #key(event) {
    if (this.suggestions?.takes(event)) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.#submit();
    }
  }

  #grow() {
    // most browsers grow it themselves, before painting
    if (!this.input.isConnected || CSS.supports('field-sizing', 'content')) return;
    this.input.style.setProperty('height', 'auto');
    this.input.style.setProperty('height', `${this.input.scrollHeight}px`);
  }
}

/**
 * The input above results: a line, with a button for a new search next to it.
 * @param {Prompt} prompt
 * @param {() => void} onnew
 */
export function promptBar(prompt, onnew) {
  return element('div', {class: 'prompt-bar'}, prompt.root,
    button([icon('plus'), element('span', {}, gettext('New search'))], {kind: 'quiet new-search', onclick: onnew}));
}
