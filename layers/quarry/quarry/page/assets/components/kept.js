/** What a user saves in the service: conversations, and searches that report new results. Both are listed in a panel. */

import {pathOf} from '../api.js';
import {button, element, icon, replace, uniqueId} from '../dom.js';
import {labelOf, moment, month, NONE} from '../format.js';
import {gettext, ngettext} from '../messages.js';
import {numberCharts, statementControl, valueText} from './charts.js';
import {fill, noticeOf, openPanel} from './panel.js';

/** The service's size limit of a conversation as JSON, less some room for what the service adds. */
const TURNS_MAX_BYTES = 190_000;
const TURNS_MAX = 50;

/** The current conversation: a button saves it, and a saved conversation is updated from then on. */
export class KeptConversation {
  constructor(domain, context) {
    Object.assign(this, {domain, context});
    this.root = element('div', {class: 'keep', hidden: true});
  }

  /** The current history entry, and the saved conversation that it belongs to, if any. */
  follow(id, entry) {
    entry.conversation ??= id;
    this.entry = entry;
    this.withdraw();
  }

  async read() {
    const {entry} = this;
    const conversation = await this.context.api.get(pathOf('me', 'conversations', entry.conversation));
    entry.save({keptTurns: conversation.turns.length});
    return conversation;
  }

  withdraw() {
    this.root.hidden = true;
  }

  offer(turns) {
    const {entry} = this;
    const {conversation} = entry;
    this.root.hidden = false;
    if (conversation && entry.keptTurns === undefined && entry.saved.keptTurns !== turns.length) this.#update(entry, turns);
    replace(this.root, button([icon('bookmark'), conversation ? gettext('Saved') : gettext('Save conversation')],
      {kind: 'quiet', disabled: Boolean(conversation), onclick: () => this.#keep(entry, turns)}));
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
      if (this.entry === entry) replace(this.root, noticeOf(error, {retry: () => this.#keep(entry, turns), context: this.context}));
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
  let latest = turns.slice(-TURNS_MAX);
  while (latest.length > 1 && new TextEncoder().encode(JSON.stringify(latest)).length > TURNS_MAX_BYTES) latest = latest.slice(1);
  return latest;
}

/** Whether a saved search is a result on the board: an exact result that is shown as it is now. */
function isOnBoard({parameters}) {
  return Boolean(parameters.board);
}

function boardResult({query: question, parameters: {board}}, context) {
  const body = element('div', {});
  const show = () => fill(body, async () => {
    const result = await context.api.post('query', board);
    return [numberCharts(asAggregation(result, board), context) ?? plainResult(result), element('p', {class: 'fine'}, result.sentence),
      element('div', {class: 'chart-tools'}, statementControl(board, question, context), button(gettext('Refresh'), {kind: 'quiet', onclick: show}))];
  }, context, {lines: 2});
  show();
  return body;
}

function plainResult({columns, rows: [row]}) {
  return row && columns.length === 1 && element('p', {class: 'board-number'}, row[0] === null ? '–' : valueText(columns[0], Number(row[0])));
}

/** A result in the form that answers have. */
function asAggregation({columns, rows}, query) {
  const keys = query.group?.length ?? 0;
  const label = (value, place) => (value === null ? NONE : query.group[place].period === 'month' ? month(`${value}-01`) : String(value));
  return {query, columns, group_count: rows.length, groups: rows.map((row) => ({
    label: row.slice(0, keys).map(label).join(', '),
    ...Object.fromEntries(columns.slice(keys).map(({name}, place) => [name, row[keys + place]])),
  }))};
}

/** The list of saved conversations and searches.
 * @param {(domain: string, params: import('../api.js').Query) => string} addressOf */
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
  }, context);
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
  const status = element('p', {class: 'fine', role: 'status'});
  const row = element('li', {});
  const result = body?.(item);
  const show = () => replace(row, element('div', {}, name, element('p', {class: 'card-meta'}, about(item).filter(Boolean).join(' · ')), status),
    element('div', {class: 'kept-actions'},
      button(gettext('Rename'), {kind: 'quiet', 'aria-label': gettext('Rename: {name}', {name: item[field]}), onclick: rename}),
      deleteButton(gettext('Delete: {name}', {name: item[field]}), remove)), result && element('div', {class: 'board-result'}, result));
  const attempt = (work) => work().catch((error) => { status.textContent = error.detail || gettext('That failed. Try again.'); });
  const leave = () => { show(); row.querySelector('button').focus(); };
  const rename = () => {
    const input = element('input', {type: 'text', value: item[field], maxlength: '200', required: true, 'aria-label': gettext('Name')});
    const save = async () => {
      const text = input.value.trim() || item[field];
      await context.api.patch(where, {[field]: text});
      item[field] = text;
      name.textContent = text;
    };
    replace(row, element('form', {class: 'kept-name', on: {
      submit: (event) => { event.preventDefault(); attempt(save).then(leave); },
      keydown: (event) => { if (event.key === 'Escape') { event.preventDefault(); event.stopPropagation(); leave(); } },
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
  let isArmed = false;
  const control = button('', {kind: 'quiet', onclick: () => { if (isArmed) onclick(); else arm(true); }});
  const arm = (armed) => {
    isArmed = armed;
    control.textContent = armed ? gettext('Delete for good') : gettext('Delete');
    control.setAttribute('aria-label', armed ? gettext('{label}, for good', {label}) : label);
  };
  control.addEventListener('blur', () => arm(false));
  arm(false);
  return control;
}
