/**
 * A conversation: a question, its answer as it comes, and further questions that follow on it. Companies and campaigns are asked this way.
 *
 * The address holds the question (`q`), and its `constraints` where the reader changed how it was understood; what came before it is kept with the history entry, so that back and forward walk through the
 * conversation. A question that is opened by its address alone begins a new one.
 */

import {choices} from '../../components/chips.js';
import {Prompt, promptBar} from '../../components/prompt.js';
import {packed, unpacked} from '../../components/understood.js';
import {element, replace} from '../../dom.js';

export const stylesheet = 'views/chat.css';

/**
 * @typedef {object} Kind
 * @property {string} title of the first page
 * @property {string} lead
 * @property {string} label of the input
 * @property {string} placeholder
 * @property {(asked: import('./turn.js').Asked, context: import('../../app.js').Context) => import('./turn.js').Turn} turn
 */

export class Chat {
  /** @param {HTMLElement} root @param {import('../../app.js').Context} context @param {Kind} kind */
  constructor(root, context, kind) {
    this.root = root;
    this.context = context;
    this.kind = kind;
    this.entry = null;
    /** The turns that the next question follows on. */
    this.next = [];
    this.prompt = new Prompt({
      label: kind.label, placeholder: kind.placeholder, onsubmit: (text) => this.#ask(text), onstop: () => this.entry?.turn?.stop(),
    });
  }

  /** @param {URLSearchParams} params */
  show(params, entry) {
    if (this.entry !== entry) this.entry?.turn?.stop();
    this.entry = entry;
    entry.before ??= this.next;
    this.next = [];
    const question = (params.get('q') ?? '').trim();
    if (!question) {
      this.#showFirst();
      return;
    }
    entry.turn ??= this.kind.turn({question, before: entry.before, constraints: unpacked(params.get('constraints'))}, this.context);
    entry.turn.callbacks = {
      onchange: () => this.#changed(entry.turn), onfollow: (text) => this.#ask(text), onedit: (constraints) => this.#edit(entry.turn, constraints),
    };
    this.context.setTitle(question);
    this.#lay(entry);
    entry.turn.begin();
  }

  close() {
    this.entry?.turn?.stop();
  }

  #showFirst() {
    this.context.setTitle('');
    const {examples} = this.context;
    Object.assign(this.prompt, {value: '', busy: false});
    this.prompt.input.placeholder = this.kind.placeholder;
    replace(this.root, element('div', {class: 'column hero'},
      element('div', {}, element('h1', {}, this.kind.title), element('p', {class: 'lead'}, this.kind.lead)),
      this.prompt.root,
      examples.length > 0 && element('section', {'aria-label': 'Examples'}, choices('Questions to try', examples, (text) => this.#ask(text)))));
    this.prompt.focus();
  }

  #lay({turn, before}) {
    Object.assign(this.prompt, {value: '', busy: turn.state === 'running'});
    this.prompt.input.placeholder = 'Ask a follow-up';
    replace(this.root, element('div', {class: 'wide workspace chat'},
      element('h1', {class: 'visually-hidden'}, this.kind.title),
      element('div', {class: 'turns'}, [...before, turn].map((each, place) =>
        element('section', {class: 'turn', 'aria-label': `Question ${place + 1}`},
          each.heading, each.root))),
      promptBar(this.prompt, () => this.context.go({}))));
    const heading = this.root.querySelector('.turn:last-child .question');
    if (before.length > 0) heading.scrollIntoView({block: 'start'});
    if (document.activeElement === document.body) heading.focus({preventScroll: true});
  }

  #changed(turn) {
    if (this.entry?.turn === turn) this.prompt.busy = turn.state === 'running';
  }

  /** The same question in the same place, by other constraints than it was read to have; null: as it is read. */
  #edit(turn, constraints) {
    this.entry?.turn?.stop();
    this.next = turn.before;
    this.context.go({q: turn.question, constraints: constraints && packed(constraints)});
  }

  #ask(text) {
    const {turn, before = []} = this.entry ?? {};
    turn?.stop();
    this.next = turn?.state === 'done' ? [...before, turn] : before;
    this.context.go({q: text});
  }
}
