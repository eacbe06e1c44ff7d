/** The page. The address decides which domain is shown, `search?domain=people&q=…`, and gives every view its state.
 *
 * A view is built once for each visit of its domain, with what stays: `new View(root, context)`. `show(params, entry)` follows
 * immediately and after each change of the address within the domain: by `context.go`, by back and forward. `entry` is an object of this
 * history entry: what a view stores there is there again when the reader comes back, and what it saves there also after a reload.
 * `open(type, id, hint, quote)` opens the panel that the address's fragment names, such as `#motion/42`, on top of the view: a link to one
 * item, which Back closes. `close` stops what still runs.
 *
 * @typedef {object} Context
 * @property {import('./api.js').Api} api
 * @property {string[]} examples questions that the sample data answers; empty with other data
 * @property {(params: import('./api.js').Query, options?: {replace?: boolean}) => void} go shows another state of this domain. With `replace`, only the
 *   address of the current one changes, and `show` is not called
 * @property {(params: import('./api.js').Query) => string} address of a state of this domain, for a link
 * @property {(type: string, id: string, hint?: any, quote?: string) => void} opens the panel of one item, with its own address; `hint` is what is known
 *   about it, `quote` the passage to mark, kept with the history entry
 * @property {(type: string, id: string) => string} itemAddress a full address of one item to share, without a search
 * @property {(text: string) => void} announce announces a text to screen readers, politely
 * @property {(text: string) => void} setTitle sets the document's title, before the page's name
 * @property {import('./signin.js').Session} session */

import {Api, withQuery} from './api.js';
import {openKept} from './components/kept.js';
import {emptyState, noticeOf} from './components/panel.js';
import {languageChoice, schemeButton} from './components/preferences.js';
import {button, element, icon, replace} from './dom.js';
import {currentEntry, forgetEntries} from './entries.js';
import {domainNamed, DOMAINS, labelOf, nameOf} from './format.js';
import {gettext} from './messages.js';
import {Session} from './signin.js';
import {AnswersView} from './views/answers.js';
import {CampaignsView} from './views/campaigns.js';
import {CompaniesView} from './views/companies.js';
import {OntologyView} from './views/ontology.js';
import {PeopleView} from './views/people.js';
import {RecordsView} from './views/records.js';

const HOME = new URL('./', location.href);

const VIEWS = {campaigns: CampaignsView, companies: CompaniesView, ontology: OntologyView, people: PeopleView, records: RecordsView};

const page = {
  view: document.querySelector('[data-view]'),
  domains: document.querySelector('[data-domains]'),
  tools: document.querySelector('[data-tools]'),
  announcer: document.querySelector('[data-announcer]'),
};

/** @type {{domain: string, view: import('./views/view.js').View, entry: import('./entries.js').Entry | null} | null} */
let shown = null;

/** The panel that the address names; `onclose` is called when the reader closed it. */
let item = null;

/** What is known about opened items, by their names in the address. */
const hints = new Map();

/** Whether the current history entry is that of a closed panel. The next entry then replaces it, so that Back leads to the entry
 * before the one below the panel. (Going back on close would be asynchronous: the reader may have acted by then, and it may never
 * happen.) */
let isLeft = false;

let config, session, api;

/** The document is in English but for its language. */
function translateDocument() {
  document.querySelector('.skip-link').textContent = gettext('Skip to the search');
  page.domains.setAttribute('aria-label', gettext('What to search'));
  replace(document.querySelector('.foot'), element('a', {href: 'docs'}, gettext('API reference')), languageChoice(HOME));
}

async function start() {
  translateDocument();
  try {
    config = await new Api(HOME, null).get('config.json', {isPublic: true});
    session = new Session(config.sign_in, HOME);
    api = new Api(HOME, {token: () => session.token(), refused: () => { session.refused(); showTools(); }});
  } catch (problem) {
    fail(problem, start);
    return;
  }
  listen();
  try {
    const destination = await session.finish(new URLSearchParams(location.search));
    if (destination !== null) history.replaceState(null, '', new URL(`search${destination}`, HOME));
  } catch (problem) {
    history.replaceState(null, '', HOME);
    showTools();
    fail(problem, show);
    return;
  }
  showTools();
  show();
}

function fail(problem, goOn) {
  const notice = noticeOf(problem, {retry: goOn});
  const canGoOn = problem.kind === 'not_signed_in' && button(gettext('Go on without'), {onclick: goOn});
  replace(page.view, element('div', {class: 'column'}, element('h1', {class: 'visually-hidden'}, 'Quarry'), notice, canGoOn));
}

/** All domains, those with a view of their own first. */
function domains() {
  return [...new Set([...Object.keys(DOMAINS), ...config.domains])];
}

/** The domain in the address, otherwise the first that has data. */
function domainOf(params) {
  const name = params.get('domain');
  const domain = domainNamed(name) ?? (config.domains.includes(name) ? name : null);
  if (domain !== null) return domain;
  // records are the default and have no parameter, so a shared answer's address is short
  if (params.has('q') || config.domains.length === 0) return 'records';
  return domains().find((each) => config.domains.includes(each)) ?? 'records';
}

function show() {
  const isSame = shown !== null && location.search === shown.entry?.address;
  const entry = currentEntry(isSame ? shown.entry : null);
  if (shown?.entry === entry) {
    // only the panel opened or closed; the view may have changed its own address in the meantime
    if (!isSame) history.replaceState(history.state, '', `${location.pathname}${entry.address}${location.hash}`);
    showItem();
    return;
  }
  const params = new URLSearchParams(location.search);
  const domain = domainOf(params);
  showDomains(domain);
  if (shown?.domain !== domain) {
    shown?.view.close();
    shown = null;
    shown = {domain, view: mounted(domain), entry: null};
  }
  shown.entry = entry;
  entry.address = location.search;
  closeItem();
  shown.view.show(params, entry);
  showItem();
}

/** Open the panel in the address's fragment, or close one that the fragment no longer names. */
function showItem() {
  const name = itemName();
  if (item?.name === name) return;
  closeItem();
  if (name === '') return;
  const [type, ...id] = name.split('/');
  const panel = type === 'kept' ? openKept(contextOf(shown.domain), addressOf) : shown.view.open(type, id.join('/'), hints.get(name), history.state?.quote);
  if (panel === null) return;
  const onclose = () => {
    // a panel closed by navigating elsewhere leaves the new address as it is
    if (item !== own) return;
    item = null;
    isLeft = history.state?.isOver === true;
    history.replaceState({...history.state, isOver: false, isLeft}, '', `${location.pathname}${location.search}`);
  };
  const own = {name, panel, onclose};
  item = own;
  panel.dialog.addEventListener('close', onclose);
}

/** A browser reports that a dialog was closed later, when the reader may have moved on. */
function leaveWhatIsClosed() {
  if (item && !item.panel.dialog.open) item.onclose();
}

function closeItem() {
  const before = item;
  item = null;
  before?.panel.close();
}

/** The item that the fragment names, if it names one. */
function itemName() {
  try {
    const name = decodeURIComponent(location.hash.slice(1));
    return name === 'kept' || name.includes('/') ? name : '';
  } catch {
    return '';
  }
}

function fragmentOf(name) {
  return name.split('/').map(encodeURIComponent).join('/');
}

function enter(state, address) {
  if (isLeft) history.replaceState(state, '', address);
  else history.pushState(state, '', address);
  isLeft = false;
}

/** Open an item on top of the view; Back closes it. */
function openItem(name, hint, quote) {
  leaveWhatIsClosed();
  hints.set(name, hint);
  const address = `${location.pathname}${location.search}#${fragmentOf(name)}`;
  // several passages of one item may be cited; the address does not say which
  const state = {...history.state, quote};
  if (item === null) enter({...state, isOver: true, isLeft: false}, address);
  else history.replaceState(state, '', address);
  showItem();
}

/** The view of a domain, in the emptied page. */
function mounted(domain) {
  setTitle(domain, '');
  const root = element('div', {class: `view view-${domain}`});
  const context = contextOf(domain);
  const view = domain in VIEWS ? new VIEWS[domain](root, context) : new AnswersView(domain, root, context);
  replace(page.view, !config.domains.includes(domain) && nothingYet(domain), root);
  return view;
}

/** Says that a domain has no data, and how to load some. */
function nothingYet(domain) {
  const command = (text) => element('code', {}, text);
  return element('div', {class: 'wide'}, emptyState(config.domains.length === 0 ? gettext('There is nothing here yet') : gettext('There is nothing in {domain} yet', {domain: labelOf(domain)}),
    gettext('To load data, run '), command('quarry load'), gettext('; for sample data, '), command('quarry sample'), gettext('. Then reload this page.')));
}

function contextOf(domain) {
  const address = (params) => addressOf(domain, params);
  return {
    api,
    session,
    address,
    examples: config.examples?.[domain] ?? [],
    go(params, {replace: inPlace = false} = {}) {
      if (inPlace) {
        history.replaceState(history.state, '', address(params) + location.hash);
        if (shown?.entry) shown.entry.address = location.search;
        return;
      }
      visit(address(params));
    },
    itemAddress: (type, id) => new URL(address({}) + `#${fragmentOf(`${type}/${id}`)}`, HOME).href,
    open(type, id, hint, quote) { openItem(`${type}/${id}`, hint, quote); },
    announce(text) { page.announcer.textContent = text; },
    setTitle(text) { setTitle(domain, text); },
  };
}

function addressOf(domain, params) {
  const query = withQuery(new URLSearchParams(domain === 'records' ? {} : {domain: nameOf(domain)}), params);
  return query.size ? `search?${query}` : './';
}

function setTitle(domain, text) {
  document.title = `${text || labelOf(domain)} – Quarry`;
}

function showDomains(current) {
  const names = domains().filter((name) => config.domains.includes(name) || name === current);
  replace(page.domains, names.map((name) =>
    element('a', {href: addressOf(name, {}), 'aria-current': name === current && 'page', data: {domain: name}}, labelOf(name))));
  page.domains.hidden = names.length < 2;
  // on a phone the row may be wider than the window
  page.domains.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest', inline: 'nearest'});
}

function showTools() {
  const tools = [button(icon('bookmark'), {kind: 'icon', title: gettext('Saved items'), 'aria-label': gettext('Saved items'), onclick: () => openItem('kept')}), schemeButton()];
  if (session.isNeeded) {
    tools.unshift(session.isSignedIn
      ? button(gettext('Sign out'), {kind: 'quiet', title: session.name, onclick: () => { forgetEntries(); session.signOut(); }})
      : button(gettext('Sign in'), {kind: 'quiet', onclick: () => session.signIn()}));
  }
  replace(page.tools, tools);
}

function listen() {
  isLeft = history.state?.isLeft === true;
  addEventListener('popstate', () => {
    const wasLeft = isLeft;
    isLeft = history.state?.isLeft === true;
    // the view below a closed panel has been seen by the reader before
    if (wasLeft && history.state?.key === shown?.entry?.key) history.back();
    else show();
  });
  document.addEventListener('click', followInside);
  document.addEventListener('keydown', focusPrompt);
}

/** A plain click on a link within the page changes its state without a reload. */
function followInside(event) {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (!link || link.target || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href);
  if (url.hash === '#main') {
    // not a history entry of its own
    event.preventDefault();
    document.querySelector('main').focus();
    return;
  }
  if (url.origin !== HOME.origin || ![HOME.pathname, `${HOME.pathname}search`].includes(url.pathname)) return;
  event.preventDefault();
  visit(url);
}

/** Go to an address of the page, as a new history entry. */
function visit(address) {
  leaveWhatIsClosed();
  enter({key: crypto.randomUUID()}, address);
  scrollTo(0, 0);
  show();
}

/** `/` focuses the question from anywhere, except while typing. */
function focusPrompt(event) {
  if (event.key !== '/' || event.metaKey || event.ctrlKey || event.altKey || document.querySelector('dialog[open]')) return;
  if (event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]')) return;
  const prompt = page.view.querySelector('[data-prompt]');
  if (prompt === null) return;
  event.preventDefault();
  prompt.focus();
  prompt.select();
}

start();
