/**
 * A conversation: a question, its answer as it streams, and follow-up questions. Companies and campaigns work this way.
 *
 * The address holds the question (`q`), and how it is `understood` if the reader changed that. The earlier turns are stored with the history entry, so that back and forward walk through the
 * conversation. A question opened by its address alone starts a new conversation.
 */

import {choices} from '../../components/chips.js';
import {KeptConversation, openedSearch} from '../../components/kept.js';
import {noticeOf} from '../../components/notice.js';
import {loading} from '../../components/panel.js';
import {Prompt, promptBar} from '../../components/prompt.js';
import {former, packed, unpacked} from '../../components/understood.js';
import {element, replace} from '../../dom.js';
import {gettext} from '../../messages.js';


/**
 * @typedef {object} Kind
 * @property {string} title of the first page
 * @property {string} lead
 * @property {string} label of the input
 * @property {string} placeholder
 * @property {(type: string, id: string, hint: any, answersOf: () => Promise<any[]>) => import('../../components/panel.js').Panel | null} open
 *   opens the panel of one item of an answer; `answersOf` resolves to the answers, latest first
 * @property {(asked: import('./turn.js').Asked, context: import('../../app.js').Context) => import('./turn.js').Turn} turn
 */

export class Chat {
  /** @param {HTMLElement} root @param {import('../../app.js').Context} context @param {Kind} kind */
  constructor(root, context, kind) {
    this.root = root;
    this.context = context;
    this.kind = kind;
    this.entry = null;
    /** The turns before the next question. */
    this.next = [];
    this.conversation = new KeptConversation(kind.domain, context);
    this.prompt = new Prompt({
      label: kind.label, placeholder: kind.placeholder, onsubmit: (text) => this.#ask(text), onstop: () => this.entry?.turn?.stop(),
    });
  }

  /** @param {URLSearchParams} params */
  show(params, entry) {
    if (this.entry !== entry) this.entry?.turn?.stop();
    this.entry = entry;
    entry.before ??= entry.saved.before?.map((kept) => this.#restored(kept)) ?? this.next;
    this.next = [];
    this.conversation.follow(params.get('kept'), entry);
    const question = (params.get('q') ?? '').trim();
    if (!question) {
      if (params.has('kept')) this.#openKept(entry);
      else this.#showFirst();
      return;
    }
    const isNew = entry.turn === undefined;
    entry.turn ??= this.kind.turn({question, before: entry.before, changes: unpacked(params.get('understood')), former: former(params)}, this.context);
    entry.turn.callbacks = {
      onchange: () => this.#changed(entry.turn), onfollow: (text) => this.#ask(text), onedit: (understood) => this.#edit(entry.turn, understood),
    };
    if (isNew && entry.saved.turn) entry.turn.restore(entry.saved.turn);
    this.context.setTitle(question);
    this.#lay(entry);
    this.#changed(entry.turn);
    const begun = entry.turn.begin();
    entry.running ??= begun;
    if (params.has('saved')) this.#tellNews(params.get('saved'), entry);
  }

  /** Show the new results of a saved search, once. */
  async #tellNews(id, entry) {
    await entry.running;
    const {turn} = entry;
    if (entry.saved.isOpened || turn.state !== 'done') return;
    entry.save({isOpened: true});
    const told = await openedSearch(this.context, id, turn.results);
    if (told !== null) turn.tellNews(told);
  }

  open(type, id, hint) {
    const {entry} = this;
    return this.kind.open(type, id, hint, async () => {
      await entry.running;
      return [...(entry.before ?? []), entry.turn].flatMap((turn) => turn?.answer ?? []).reverse();
    });
  }

  #restored(kept) {
    return this.kind.turn({question: kept.question, before: [], changes: kept.changes ?? null}, this.context).restore(kept);
  }

  /** Restore a saved conversation. */
  async #openKept(entry) {
    replace(this.root, element('div', {class: 'wide workspace'}, loading()));
    try {
      const {turns} = await this.conversation.read();
      if (this.entry !== entry) return;
      const kept = turns.map(({question, answer}) => ({...answer, question, state: 'done', answer: answer.answer ?? null}));
      const last = kept.at(-1);
      entry.before = kept.slice(0, -1).map((turn) => this.#restored(turn));
      entry.save({before: kept.slice(0, -1), turn: last});
      this.context.go({q: last.question, understood: last.changes && packed(last.changes), kept: entry.conversation}, {replace: true});
      this.show(new URLSearchParams(location.search), entry);
    } catch (error) {
      if (this.entry === entry) replace(this.root, element('div', {class: 'wide workspace'}, noticeOf(error, {retry: () => this.#openKept(entry), signIn: () => this.context.session.signIn()})));
    }
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
      examples.length > 0 && element('section', {'aria-label': gettext('Examples')}, choices(gettext('Questions to try'), examples, (text) => this.#ask(text)))));
    this.prompt.focus();
  }

  #lay({turn, before}) {
    Object.assign(this.prompt, {value: '', busy: turn.state === 'running'});
    this.prompt.input.placeholder = gettext('Ask a follow-up');
    replace(this.root, element('div', {class: 'wide workspace chat'},
      element('h1', {class: 'visually-hidden'}, this.kind.title),
      promptBar(this.prompt, () => this.context.go({})),
      element('div', {class: 'turns'}, [...before, turn].map((each, place) =>
        element('section', {class: 'turn', 'aria-label': gettext('Question {number}', {number: place + 1})},
          each.heading, each.root))),
      this.conversation.root));
    const heading = this.root.querySelector('.turn:last-child .question');
    if (before.length > 0) heading.scrollIntoView({block: 'start'});
    if (document.activeElement === document.body) heading.focus({preventScroll: true});
  }

  #changed(turn) {
    if (this.entry?.turn !== turn) return;
    this.prompt.busy = turn.state === 'running';
    if (turn.state === 'new') return;
    this.entry.save({before: this.entry.before.map((each) => each.kept), turn: turn.kept});
    if (turn.state === 'done') this.conversation.offer([...this.entry.before, turn].map(keptTurn));
    else this.conversation.withdraw();
  }

  /** Ask the same question in the same place understood otherwise; null: as it was read. */
  #edit(turn, understood) {
    this.entry?.turn?.stop();
    this.next = turn.before;
    this.context.go({q: turn.question, understood: understood && packed(understood), kept: this.entry?.conversation});
  }

  #ask(text) {
    const {turn, before = []} = this.entry ?? {};
    turn?.stop();
    this.next = turn?.state === 'done' ? [...before, turn] : before;
    this.context.go({q: text, kept: this.entry?.conversation});
  }
}

/** A turn in the format of a saved conversation. */
function keptTurn({kept: {question, changes, text, answer}}) {
  return {question, answer: {changes, text, answer}};
}
