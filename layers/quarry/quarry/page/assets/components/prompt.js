/** The input for the question: a line that grows. Enter sends it, Shift+Enter adds a line. During an answer, its button stops it. */

import {isStopped} from '../api.js';
import {button, element, hiddenText, icon, replace, uniqueId} from '../dom.js';
import {gettext, ngettext} from '../messages.js';

const PAUSE_MS = 120;
const LETTERS_MIN = 2;
/** Longer texts are questions. */
const WORDS_MAX = 6;

/** Titles below an input while the reader types: arrows choose one, Enter opens it, Escape closes the list. A text box of several
 * lines may not be a combobox, but it controls a list box in the same way. */
class Suggestions {
  /** @param {(text: string, signal: AbortSignal) => Promise<{title: string, kicker: string, open: () => void}[]>} suggest */
  constructor(input, suggest) {
    Object.assign(this, {input, suggest, titles: [], active: -1});
    this.list = element('ul', {id: uniqueId('suggestions'), class: 'suggestions', role: 'listbox', 'aria-label': gettext('Titles'), hidden: true,
      // the input keeps the focus
      on: {mousedown: (event) => event.preventDefault()}});
    this.status = hiddenText('');
    this.status.setAttribute('role', 'status');
    this.root = element('div', {}, this.list, this.status);
    for (const [name, value] of Object.entries({'aria-autocomplete': 'list', 'aria-haspopup': 'listbox', 'aria-controls': this.list.id})) input.setAttribute(name, value);
    input.addEventListener('input', () => this.#later());
    input.addEventListener('blur', () => this.close());
  }

  /** Whether the key was for the list. */
  takes(event) {
    if (this.list.hidden || event.isComposing) return false;
    if (event.key === 'ArrowDown') this.#activate((this.active + 2) % (this.titles.length + 1) - 1);
    else if (event.key === 'ArrowUp') this.#activate((this.active + this.titles.length + 1) % (this.titles.length + 1) - 1);
    else if (event.key === 'Escape') this.close();
    else if (event.key === 'Enter' && !event.shiftKey && this.active >= 0) this.#open(this.active);
    else return false;
    event.preventDefault();
    return true;
  }

  close() {
    clearTimeout(this.timer);
    this.controller?.abort();
    this.#show([]);
  }

  #later() {
    clearTimeout(this.timer);
    this.controller?.abort();
    const text = this.input.value.trim();
    if (text.length < LETTERS_MIN || text.split(/\s+/).length > WORDS_MAX || text.endsWith('?')) this.#show([]);
    else this.timer = setTimeout(() => this.#ask(text), PAUSE_MS);
  }

  async #ask(text) {
    this.controller = new AbortController();
    const {signal} = this.controller;
    try {
      const titles = await this.suggest(text, signal);
      if (!signal.aborted && document.activeElement === this.input) this.#show(titles);
    } catch (error) {
      // they are an aid: the search itself says what is wrong
      if (!isStopped(error)) this.#show([]);
    }
  }

  #show(titles) {
    this.titles = titles;
    this.list.hidden = titles.length === 0;
    replace(this.list, titles.map(({title, kicker}, place) => element('li', {
      id: `${this.list.id}-${place}`, class: 'suggestion', role: 'option', 'aria-selected': 'false', on: {click: () => this.#open(place)},
    }, element('span', {class: 'suggestion-title'}, title), element('span', {class: 'card-meta'}, kicker))));
    this.#activate(-1);
    this.status.textContent = titles.length > 0 ? ngettext('{number} title', '{number} titles', titles.length) : '';
  }

  #activate(place) {
    this.active = place;
    [...this.list.children].forEach((item, each) => item.setAttribute('aria-selected', String(each === place)));
    if (place < 0) this.input.removeAttribute('aria-activedescendant');
    else {
      this.input.setAttribute('aria-activedescendant', this.list.children[place].id);
      this.list.children[place].scrollIntoView({block: 'nearest'});
    }
  }

  #open(place) {
    const {open} = this.titles[place];
    this.close();
    open();
  }
}

const QUERY_MAX = 2000;

export class Prompt {
  /** `onsubmit` takes the text, `onstop` stops an answer, `suggest` has titles for what is typed. */
  constructor({label, placeholder, onsubmit, onstop, suggest}) {
    const id = uniqueId('prompt');
    this.onsubmit = onsubmit;
    this.input = element('textarea', {
      id, rows: '1', maxlength: String(QUERY_MAX), placeholder, autocomplete: 'off', autocapitalize: 'sentences', spellcheck: 'true',
      enterkeyhint: 'search', data: {prompt: ''}, on: {input: () => this.#grow(), keydown: (event) => this.#key(event)},
    });
    this.control = button('', {kind: 'primary prompt-button', onclick: () => { if (this.busy) onstop(); else this.#submit(); }});
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
    this.control.title = isBusy ? gettext('Stop') : gettext('Search');
    replace(this.control, icon(isBusy ? 'stop' : 'arrow'), hiddenText(this.control.title));
    this.root.classList.toggle('is-busy', isBusy);
  }

  /** Focus the input, unless that opens an on-screen keyboard. */
  focus() {
    if (matchMedia('(hover: hover)').matches) this.input.focus({preventScroll: true});
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

/** The input above results: a line, with a button for a new search next to it. @param {() => void} onnew */
export function promptBar(prompt, onnew) {
  return element('div', {class: 'prompt-bar'}, prompt.root,
    button([icon('plus'), element('span', {}, gettext('New search'))], {kind: 'quiet new-search', onclick: onnew}));
}
