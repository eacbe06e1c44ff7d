/**
 * Titles below an input while the reader types: arrows choose one, Enter opens it, Escape closes the list. A text box of several lines
 * may not be a combobox, but it controls a list box in the same way.
 */

import {isStopped} from '../api.js';
import {element, hiddenText, replace, uniqueId} from '../dom.js';
import {gettext, ngettext} from '../messages.js';


const PAUSE_MS = 120;
const LETTERS_MIN = 2;
/** Longer texts are questions. */
const WORDS_MAX = 6;

/** @typedef {{title: string, kicker: string, open: () => void}} Suggestion */

export class Suggestions {
  /**
   * @param {HTMLTextAreaElement} input
   * @param {(text: string, signal: AbortSignal) => Promise<Suggestion[]>} suggest
   */
  constructor(input, suggest) {
    this.input = input;
    this.suggest = suggest;
    this.found = [];
    this.active = -1;
    this.list = element('ul', {id: uniqueId('suggestions'), class: 'suggestions', role: 'listbox', 'aria-label': gettext('Titles'), hidden: true,
      // the input keeps the focus
      on: {mousedown: (event) => event.preventDefault()}});
    this.told = hiddenText('');
    this.told.setAttribute('role', 'status');
    this.root = element('div', {}, this.list, this.told);
    for (const [name, value] of Object.entries({'aria-autocomplete': 'list', 'aria-haspopup': 'listbox', 'aria-controls': this.list.id})) input.setAttribute(name, value);
    input.addEventListener('input', () => this.#later());
    input.addEventListener('blur', () => this.close());
  }

  /** Whether the key was for the list. @param {KeyboardEvent} event */
  takes(event) {
    if (this.list.hidden || event.isComposing) return false;
    if (event.key === 'ArrowDown') this.#activate((this.active + 2) % (this.found.length + 1) - 1);
    else if (event.key === 'ArrowUp') this.#activate((this.active + this.found.length + 1) % (this.found.length + 1) - 1);
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
      const found = await this.suggest(text, signal);
      if (!signal.aborted && document.activeElement === this.input) this.#show(found);
    } catch (error) {
      // they are an aid: the search itself says what is wrong
      if (!isStopped(error)) this.#show([]);
    }
  }

  /** @param {Suggestion[]} found */
  #show(found) {
    this.found = found;
    this.list.hidden = found.length === 0;
    replace(this.list, found.map(({title, kicker}, place) => element('li', {
      id: `${this.list.id}-${place}`, class: 'suggestion', role: 'option', 'aria-selected': 'false', on: {click: () => this.#open(place)},
    }, element('span', {class: 'suggestion-title'}, title), element('span', {class: 'card-meta'}, kicker))));
    this.#activate(-1);
    this.told.textContent = found.length > 0 ? ngettext('{number} title', '{number} titles', found.length) : '';
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
    const {open} = this.found[place];
    this.close();
    open();
  }
}
