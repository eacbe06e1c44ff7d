/** What the tabs share: an input, a first page, the state of a history entry, and an answer in one piece. */

import {element, replace} from '../dom.js';
import {gettext} from '../messages.js';
import {KeptConversation} from '../components/kept.js';
import {endedNotice, fill, loading} from '../components/panel.js';
import {Prompt, promptBar} from '../components/prompt.js';
import {choices} from '../components/results.js';

/** A tab that shows the results of one search. A subclass says what is searched, and shows it (`showFirst`, `showSearch`). */
export class View {
  constructor(root, context, prompt) {
    Object.assign(this, {root, context, placeholder: prompt.placeholder, entry: null});
    this.prompt = new Prompt({onstop: () => this.controller?.abort(), ...prompt});
  }

  show(params, entry) {
    this.close();
    this.entry = entry;
    this.search = this.searchOf(params);
    this.saved = params.get('saved');
    this.context.setTitle(this.search.q);
    Object.assign(this.prompt, {value: this.search.q, busy: false});
    if (this.search.q) this.showSearch(params, entry);
    else this.showFirst();
  }

  close() {
    this.controller?.abort();
  }

  searchOf(params) {
    return {q: (params.get('q') ?? '').trim()};
  }

  /** What the first page says, the input, and examples, which `offer` can replace. @param {{title: string, lead?: string, label?: string}} text */
  hero({title, lead, label = gettext('Questions to try')}, ask, ...more) {
    const section = element('section', {'aria-label': gettext('Examples')});
    this.offer = (questions) => {
      section.hidden = questions.length === 0;
      replace(section, questions.length > 0 && choices(label, questions, ask));
    };
    this.offer(this.context.examples);
    return element('div', {class: 'column hero'},
      element('div', {}, element('h1', {}, title), lead && element('p', {class: 'lead'}, lead)), this.prompt.root, more, section);
  }

  showHero(text, ask) {
    this.context.setTitle('');
    Object.assign(this.prompt, {value: '', busy: false});
    this.prompt.input.placeholder = this.placeholder;
    replace(this.root, this.hero(text, ask));
    this.prompt.focus();
  }

  /** Lay out a search: the input, what else stands above, a hidden heading, and the body. */
  lay(text, body, ...above) {
    this.body = body;
    const heading = element('h1', {class: 'visually-hidden', tabindex: '-1'}, text);
    replace(this.root, element('div', {class: 'wide workspace'}, promptBar(this.prompt, () => this.context.go({})), above, heading, body));
    // the focused element was removed
    if (document.activeElement === document.body) heading.focus({preventScroll: true});
  }

  /** Do the work of an entry that fills a place, and show how it ended if it fails.
   * @param {{place: Element, lines: number, label: string, again: () => void}} how `label` is that of the button that does it again */
  async attempt(entry, {place, lines, label, again}, work) {
    this.controller = new AbortController();
    this.prompt.busy = true;
    replace(place, loading(lines));
    try {
      await work(this.controller.signal);
    } catch (error) {
      if (this.entry === entry) replace(place, endedNotice(error, label, again, this.context), this.below());
    } finally {
      if (this.entry === entry) this.prompt.busy = false;
    }
  }

  /** Shown below the notice of a failure. @returns {import('../dom.js').Child} */
  below() {
    return null;
  }
}

/** A tab that shows a conversation, which can be saved. A subclass restores one from its turns (`restoreTurns`). */
export class ConversationView extends View {
  constructor(root, context, domain, prompt) {
    super(root, context, prompt);
    this.conversation = new KeptConversation(domain, context);
  }

  openKept(entry) {
    const place = element('div', {class: 'wide workspace'});
    replace(this.root, place);
    return fill(place, async () => {
      const conversation = await this.conversation.read();
      if (this.entry !== entry) return;
      this.restoreTurns(conversation, entry);
      this.show(new URLSearchParams(location.search), entry);
    }, this.context);
  }
}
