/**
 * What a user saves in the service: conversations, and searches that report new results. Both are listed in a panel.
 */

import {pathOf} from '../api.js';
import {button, element, icon, replace, uniqueId} from '../dom.js';
import {labelOf} from '../domains.js';
import {day, moment} from '../format.js';
import {boardResult, isOnBoard} from './board.js';
import {noticeOf} from './notice.js';
import {openPanel} from './panel.js';
import {gettext, ngettext} from '../messages.js';

/** The service's size limit of a conversation as JSON, less some room for what the service adds. */
const TURNS_MAX_BYTES = 190_000;
const TURNS_MAX = 50;
const RESULTS_MAX = 200;

/** @typedef {{question: string, answer: any}} Turn */

/** The current conversation: a button saves it, and a saved conversation is updated from then on. */
export class KeptConversation {
  /** @param {string} domain @param {import('../app.js').Context} context */
  constructor(domain, context) {
    this.domain = domain;
    this.context = context;
    this.root = element('div', {class: 'keep', hidden: true});
  }

  /** The current history entry, and the saved conversation that it belongs to, if any. @param {string | null} id */
  follow(id, entry) {
    entry.conversation ??= id;
    this.entry = entry;
    this.withdraw();
  }

  /** The saved conversation. */
  async read() {
    const {entry} = this;
    const kept = await this.context.api.get(pathOf('me', 'conversations', entry.conversation));
    entry.save({keptTurns: kept.turns.length});
    return kept;
  }

  withdraw() {
    this.root.hidden = true;
  }

  /** @param {Turn[]} turns all turns so far */
  offer(turns) {
    const {entry} = this;
    const {conversation} = entry;
    this.root.hidden = false;
    if (conversation && entry.keptTurns === undefined && entry.saved.keptTurns !== turns.length) this.#update(entry, turns);
    const mark = button([icon('bookmark'), conversation ? gettext('Saved') : gettext('Save conversation')], {kind: 'quiet', disabled: Boolean(conversation), onclick: () => this.#keep(entry, turns)});
    replace(this.root, mark);
  }

  async #keep(entry, turns) {
    try {
      const {id} = await this.context.api.post('me/conversations', {domain: this.domain, turns: bounded(turns)});
      entry.conversation = id;
      entry.save({keptTurns: turns.length});
      if (this.entry !== entry) return;
      const params = new URLSearchParams(location.search);
      params.delete('domain');
      this.context.go({...Object.fromEntries([...new Set(params.keys())].map((name) => [name, params.getAll(name)])), kept: id}, {replace: true});
      this.context.announce(gettext('Kept'));
      this.offer(turns);
    } catch (error) {
      if (this.entry === entry) replace(this.root, noticeOf(error, {retry: () => this.#keep(entry, turns), signIn: () => this.context.session.signIn()}));
    }
  }

  async #update(entry, turns) {
    entry.keptTurns = turns.length;
    try {
      await this.context.api.patch(pathOf('me', 'conversations', entry.conversation), {turns: bounded(turns)});
      entry.save({keptTurns: turns.length});
    } catch (error) {
      // it may have been deleted in the meantime; the page still shows it
      if (error.kind === 'not_found') entry.conversation = null;
      if (this.entry === entry) this.offer(turns);
    }
  }
}

/** The latest turns that fit into the size limit. @param {Turn[]} turns */
function bounded(turns) {
  let left = turns.slice(-TURNS_MAX);
  while (left.length > 1 && new TextEncoder().encode(JSON.stringify(left)).length > TURNS_MAX_BYTES) left = left.slice(1);
  return left;
}

/**
 * A button that saves a search.
 * @param {import('../app.js').Context} context
 * @param {{domain: string, query: string, parameters: object, results: () => {type: string, id: string}[]}} search
 */
export function saver(context, {domain, query, parameters, results}) {
  const control = button([icon('bookmark'), gettext('Save search')], {kind: 'quiet', onclick: async () => {
    control.disabled = true;
    try {
      await context.api.post('me/searches', {domain, query, parameters, results: results().slice(0, RESULTS_MAX)});
      replace(control, icon('check'), gettext('Saved'));
      context.announce(gettext('Search saved'));
    } catch (error) {
      control.disabled = false;
      replace(control, error.detail || gettext('Saving failed. Try again.'));
    }
  }});
  return control;
}

/**
 * Report a saved search as run again. Resolves to its new results and a sentence about them, or null if that fails.
 * @param {import('../app.js').Context} context
 * @param {string} id
 * @param {{type: string, id: string}[]} results
 */
export async function openedSearch(context, id, results) {
  try {
    const {new: added, opened_before: before} = await context.api.post(pathOf('me', 'searches', id, 'opened'), {
      results: results.slice(0, RESULTS_MAX).map(({type, id: own}) => ({type, id: own})),
    });
    const count = added.length === 0 ? gettext('Nothing is new') : ngettext('{number} new result', '{number} new results', added.length);
    return {keys: added.map((each) => `${each.type}/${each.id}`), text: gettext('{count} since you opened this on {day}.', {count, day: day(before)})};
  } catch {
    return null;
  }
}

/**
 * The list of saved conversations and searches.
 * @param {import('../app.js').Context} context
 * @param {(domain: string, params: import('../api.js').Query) => string} addressOf
 */
export function openKept(context, addressOf) {
  const {api} = context;
  return openPanel(gettext('Saved items'), async (panel) => {
    const [{conversations}, {searches}] = await Promise.all([api.get('me/conversations'), api.get('me/searches')]);
    return [
      keptList(gettext('Conversations'), conversations, {
        none: gettext('Save a conversation with the button below its answer. You can open it here on any device.'),
        path: 'conversations', field: 'title', context, panel,
        address: ({id, domain}) => addressOf(domain, {kept: id}),
        about: ({domain, turn_count: turns, updated_at: at}) => [labelOf(domain), ngettext('{number} question', '{number} questions', turns), moment(at)],
      }),
      searches.some(isOnBoard) && keptList(gettext('Board'), searches.filter(isOnBoard), {
        path: 'searches', field: 'name', context, panel,
        address: ({domain, query}) => addressOf(domain, {q: query}),
        about: ({domain}) => [labelOf(domain)],
        body: (item) => boardResult(item, context),
      }),
      keptList(gettext('Saved searches'), searches.filter((each) => !isOnBoard(each)), {
        none: gettext('Save a search with the button above its results. When you open it again, it shows what is new.'),
        path: 'searches', field: 'name', context, panel,
        address: ({id, domain, query, parameters}) => addressOf(domain, {...parameters, q: query, saved: id}),
        about: ({domain, opened_at: at}) => [labelOf(domain), gettext('opened {moment}', {moment: moment(at)}), domain === 'people' && gettext('opening costs one credit')],
      }),
    ];
  }, {signIn: () => context.session.signIn()});
}

function keptList(title, items, kind) {
  const id = uniqueId('kept');
  const none = element('p', {class: 'fine', hidden: items.length > 0}, kind.none);
  const list = element('ul', {class: 'kept', 'aria-labelledby': id}, items.map((item) => keptItem(item, kind, () => { none.hidden = list.childElementCount > 0; })));
  return element('section', {}, element('h3', {class: 'section-label', id}, title), none, list);
}

function keptItem(item, {path, field, context, panel, address, about, body}, onremoved) {
  const where = pathOf('me', path, item.id);
  const name = element('a', {href: address(item)}, item[field]);
  const said = element('p', {class: 'fine', role: 'status'});
  const row = element('li', {});
  const result = body?.(item);
  const show = () => replace(row, element('div', {}, name, element('p', {class: 'card-meta'}, about(item).filter(Boolean).join(' · ')), said),
    element('div', {class: 'kept-actions'},
      button(gettext('Rename'), {kind: 'quiet', 'aria-label': gettext('Rename: {name}', {name: item[field]}), onclick: rename}),
      deleteButton(gettext('Delete: {name}', {name: item[field]}), remove)), result && element('div', {class: 'board-result'}, result));
  const attempt = async (work) => {
    try {
      await work();
    } catch (error) {
      said.textContent = error.detail || gettext('That failed. Try again.');
    }
  };
  const rename = () => {
    const input = element('input', {type: 'text', value: item[field], maxlength: '200', required: true, 'aria-label': gettext('Name')});
    replace(row, element('form', {class: 'kept-name', on: {
      submit: (event) => {
        event.preventDefault();
        attempt(async () => {
          await context.api.patch(where, {[field]: input.value.trim() || item[field]});
          item[field] = input.value.trim() || item[field];
          name.textContent = item[field];
        }).then(() => { show(); row.querySelector('button').focus(); });
      },
      keydown: (event) => { if (event.key === 'Escape') { event.preventDefault(); event.stopPropagation(); show(); row.querySelector('button').focus(); } },
    }}, input, element('button', {class: 'button'}, gettext('Save'))));
    input.focus();
    input.select();
  };
  const remove = () => attempt(async () => {
    await context.api.delete(where);
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    onremoved();
    context.announce(gettext('Deleted: {name}', {name: item[field]}));
    (next?.querySelector('a') ?? panel.dialog.querySelector('h2')).focus();
  });
  show();
  return row;
}

/** Deletes on the second press. */
function deleteButton(label, onclick) {
  let isAsked = false;
  const control = button(gettext('Delete'), {kind: 'quiet', 'aria-label': label, onclick: () => {
    if (isAsked) {
      onclick();
      return;
    }
    isAsked = true;
    control.textContent = gettext('Delete for good');
    control.setAttribute('aria-label', gettext('{label}, for good', {label}));
  }});
  control.addEventListener('blur', () => {
    isAsked = false;
    control.textContent = gettext('Delete');
    control.setAttribute('aria-label', label);
  });
  return control;
}
