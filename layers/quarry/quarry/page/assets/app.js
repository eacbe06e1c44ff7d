/**
 * The page: which domain is shown follows from the address, `search?domain=people&q=…`, and every view gets its state from there.
 *
 * A view is a module `views/<domain>.js`:
 *
 *     export const title = 'People';
 *     export const stylesheet = 'views/people.css';          // beside the module; left out where none is needed
 *     export function mount(root, context) { …; return {show(params, entry) { … }, open(type, id, hint, quote) { … }, close() { … }}; }
 *
 * `mount` is called once for each visit of the domain and builds what stays. `show(params, entry)` follows at once and whenever the
 * address changes within the domain: by `context.go`, by back and forward. `entry` is an object of this history entry: what a view
 * keeps there is there again when the reader comes back to it, and what it saves there also after a reload. `open` opens the panel that
 * the address's fragment names, such as `#motion/42`, over what is shown: a link to one thing, which Back closes. `close` ends what
 * still runs.
 *
 * @typedef {object} Context
 * @property {import('./api.js').Api} api
 * @property {string[]} examples questions that the sample data answers; empty where other data is served
 * @property {(params: import('./api.js').Query, options?: {replace?: boolean}) => void} go show another state of this domain. With `replace` only the
 *   address of the present one changes, and `show` is not called.
 * @property {(params: import('./api.js').Query) => string} address of a state of this domain, for a link
 * @property {(type: string, id: string, hint?: any, quote?: string) => void} open the panel of one thing, by its address; `hint` is what is known
 *   of it, `quote` what is to be marked in it: that stays with the history entry
 * @property {(type: string, id: string) => string} itemAddress a whole address of one thing that needs no search, for others
 * @property {(text: string) => void} announce say it to a screen reader, politely
 * @property {(text: string) => void} setTitle the document's title before the page's own name
 * @property {import('./signin.js').Session} session
 *
 * @typedef {{show: (params: URLSearchParams, entry: import('./entries.js').Entry & Record<string, any>) => void, close: () => void,
 *   open: (type: string, id: string, hint: any, quote?: string) => import('./components/panel.js').Panel | null}} View
 */

import {Api, Problem} from './api.js';
import {button, element, icon, replace} from './dom.js';
import {openKept} from './components/kept.js';
import {emptyState, noticeOf} from './components/notice.js';
import {schemeButton} from './components/scheme.js';
import {DOMAINS} from './domains.js';
import {currentEntry, forgetEntries} from './entries.js';
import {Session, forget} from './signin.js';

const HOME = new URL('./', location.href);

const page = {
  view: document.querySelector('[data-view]'),
  domains: document.querySelector('[data-domains]'),
  tools: document.querySelector('[data-tools]'),
  announcer: document.querySelector('[data-announcer]'),
};

/** @type {{domain: string, view: View, entry: import('./entries.js').Entry | null} | null} */
let shown = null;

/** The panel that the address names; `left` tells that the reader closed it. @type {{name: string, panel: import('./components/panel.js').Panel, left: () => void} | null} */
let item = null;

/** What is known of things that were opened, by their names in the address. */
const hints = new Map();

/** Counts navigations: one that was overtaken while its module loaded shows nothing. */
let navigation = 0;

/** Whether the reader is at the entry of a panel that was closed: what comes next takes its place, and Back leads to what is before the
 * one that the panel lay over. (To go back on closing would be later than what the reader does meanwhile, and may never happen.)
 */
let isLeft = false;

let config, session, api, examples;

async function start() {
  try {
    // the view is fetched beside what it waits for
    import(`./views/${namedDomain() ?? 'records'}.js`).catch(() => {});
    [config, examples] = await Promise.all([fetchJson('config.json'), fetchJson('examples.json').catch(() => ({}))]);
    session = new Session(config.sign_in, HOME);
    api = new Api(HOME, {token: () => session.token(), refused: () => { session.refused(); showTools(); }});
  } catch (problem) {
    fail(problem, start);
    return;
  }
  listen();
  try {
    await finishSignIn();
  } catch (problem) {
    showTools();
    fail(problem, show);
    return;
  }
  showTools();
  await show();
}

/** A failure in the place of the view. */
function fail(problem, goOn) {
  const notice = noticeOf(problem, {retry: goOn});
  const canGoOn = problem.kind === 'not_signed_in' && button('Go on without', {onclick: goOn});
  replace(page.view, element('div', {class: 'column'}, element('h1', {class: 'visually-hidden'}, 'Quarry'), notice, canGoOn));
}

/** Before there is a session. */
async function fetchJson(path) {
  return new Api(HOME, {token: async () => null, refused: () => {}}).get(path, {isPublic: true});
}

async function finishSignIn() {
  const destination = await session.finish(new URLSearchParams(location.search)).catch((problem) => {
    history.replaceState(null, '', HOME);
    throw problem;
  });
  if (destination !== null) history.replaceState(null, '', new URL(`search${destination}`, HOME));
}

/** The domain that the address names, if there is one of that name. */
function namedDomain(params = new URLSearchParams(location.search)) {
  const named = params.get('domain');
  return named !== null && Object.hasOwn(DOMAINS, named) ? named : null;
}

/** The domain that the address names, else the first that holds data. */
function domainOf(params) {
  const named = namedDomain(params);
  if (named !== null) return named;
  // questions to the records go without, so that a shared answer's address is short
  if (params.has('q') || config.domains.length === 0) return 'records';
  return Object.keys(DOMAINS).find((name) => config.domains.includes(name)) ?? 'records';
}

/** Show what the address says. */
async function show() {
  navigation += 1;
  const own = navigation;
  const isSame = shown !== null && location.search === shown.entry?.address;
  const entry = currentEntry(isSame ? shown.entry : null);
  if (shown?.entry === entry) {
    // only the panel came or went; meanwhile what is shown may have got an address of its own
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
    const module = await fetchedView(domain);
    // the reader may have gone on meanwhile
    if (own !== navigation) return;
    if (module === null) {
      // a browser does not fetch a module again that it could not get
      fail(new Problem(navigator.onLine ? 'unreachable' : 'offline'), () => location.reload());
      return;
    }
    // all files are here: those of a view count too, or a page whose view cannot be had would load itself anew for ever
    forget('quarry.tries');
    shown = {domain, view: mounted(domain, module), entry: null};
  }
  shown.entry = entry;
  entry.address = location.search;
  closeItem();
  shown.view.show(params, entry);
  showItem();
}

/** Open the panel that the address's fragment names, or close the one that it no longer names. */
function showItem() {
  const name = itemName();
  if (item?.name === name) return;
  closeItem();
  if (name === '') return;
  const [type, ...id] = name.split('/');
  const panel = type === 'kept' ? openKept(contextOf(shown.domain), addressOf) : shown.view.open(type, id.join('/'), hints.get(name), history.state?.quote);
  if (panel === null) return;
  const left = () => {
    // one that was closed by going elsewhere leaves that address as it is
    if (item !== own) return;
    item = null;
    isLeft = history.state?.isOver === true;
    history.replaceState({...history.state, isOver: false, isLeft}, '', `${location.pathname}${location.search}`);
  };
  const own = {name, panel, left};
  item = own;
  panel.dialog.addEventListener('close', left);
}

/** A browser tells that a dialog was closed after it was, when the reader may be on already. */
function leaveWhatIsClosed() {
  if (item && !item.panel.dialog.open) item.left();
}

function closeItem() {
  const before = item;
  item = null;
  before?.panel.close();
}

/** What the fragment names; nothing where it is no name of a thing. */
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

/** Make an entry of the history, or take the place of one that a panel has left. */
function enter(state, address) {
  if (isLeft) history.replaceState(state, '', address);
  else history.pushState(state, '', address);
  isLeft = false;
}

/** Open something over what is shown; Back closes it. */
function openItem(name, hint, quote) {
  leaveWhatIsClosed();
  hints.set(name, hint);
  const address = `${location.pathname}${location.search}#${fragmentOf(name)}`;
  // of one thing, several passages may be cited: which was meant is no part of its address
  const state = {...history.state, quote};
  if (item === null) enter({...state, isOver: true, isLeft: false}, address);
  else history.replaceState(state, '', address);
  showItem();
}

/** The domain's module, its stylesheet loaded; null when they could not be had. */
async function fetchedView(domain) {
  try {
    const module = await import(`./views/${domain}.js`);
    if (module.stylesheet) await styled(module.stylesheet);
    return module;
  } catch (error) {
    console.info(error);
    return null;
  }
}

/** @returns {View} in the emptied page */
function mounted(domain, module) {
  setTitle(domain, '');
  const root = element('div', {class: `view view-${domain}`});
  const view = module.mount(root, contextOf(domain));
  replace(page.view, !config.domains.includes(domain) && nothingYet(domain), root);
  return view;
}

/** That a domain holds no data, and how it gets some. */
function nothingYet(domain) {
  const command = (text) => element('code', {}, text);
  return element('div', {class: 'wide'}, emptyState(config.domains.length === 0 ? 'There is nothing here yet' : `There are no ${DOMAINS[domain].toLowerCase()} here yet`,
    'To load data, run ', command('quarry load'), '; for sample data, ', command('quarry sample'), '. Then reload this page.'));
}

/** @returns {Context} */
function contextOf(domain) {
  const address = (params) => addressOf(domain, params);
  return {
    api,
    session,
    address,
    examples: examples[domain] ?? [],
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
  const query = new URLSearchParams(domain === 'records' ? {} : {domain});
  for (const [name, value] of Object.entries(params)) {
    // an empty value in a list stands for rows without one
    for (const each of Array.isArray(value) ? value : [value === '' ? null : value]) if (each !== null && each !== undefined) query.append(name, String(each));
  }
  return query.size ? `search?${query}` : './';
}

function setTitle(domain, text) {
  document.title = `${text || DOMAINS[domain]} – Quarry`;
}

/** Load a stylesheet once; what it styles waits for it. */
function styled(path) {
  const href = new URL(path, import.meta.url).href;
  if ([...document.styleSheets].some((sheet) => sheet.href === href)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    document.head.append(element('link', {rel: 'stylesheet', href, on: {load: resolve, error: reject}}));
  });
}

function showDomains(current) {
  const names = Object.keys(DOMAINS).filter((name) => config.domains.includes(name) || name === current);
  replace(page.domains, names.map((name) => element('a', {
    href: addressOf(name, {}),
    'aria-current': name === current && 'page',
    data: {domain: name},
  }, DOMAINS[name])));
  page.domains.hidden = names.length < 2;
  // on a phone the row may be longer than the window
  page.domains.querySelector('[aria-current]')?.scrollIntoView({block: 'nearest', inline: 'nearest'});
}

function showTools() {
  const tools = [button(icon('bookmark'), {kind: 'icon', title: 'What you keep', 'aria-label': 'What you keep', onclick: () => openItem('kept')}), schemeButton()];
  if (session.isNeeded) {
    tools.unshift(session.isSignedIn
      ? button('Sign out', {kind: 'quiet', title: session.name, onclick: () => { forgetEntries(); session.signOut(); }})
      : button('Sign in', {kind: 'quiet', onclick: () => session.signIn()}));
  }
  replace(page.tools, tools);
}

function listen() {
  isLeft = history.state?.isLeft === true;
  addEventListener('popstate', () => {
    const wasLeft = isLeft;
    isLeft = history.state?.isLeft === true;
    // what a closed panel lay over is what the reader saw already
    if (wasLeft && history.state?.key === shown?.entry?.key) history.back();
    else show();
  });
  document.addEventListener('click', followInside);
  document.addEventListener('keydown', focusPrompt);
}

/** A plain click on a link within the page changes its state, without loading it anew. */
function followInside(event) {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (!link || link.target || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href);
  if (url.hash === '#main') {
    // not a place of its own in the history
    event.preventDefault();
    document.querySelector('main').focus();
    return;
  }
  if (url.origin !== HOME.origin || ![HOME.pathname, `${HOME.pathname}search`].includes(url.pathname)) return;
  event.preventDefault();
  visit(url);
}

/** Go to an address of the page, as a new entry of the history. @param {string | URL} address */
function visit(address) {
  leaveWhatIsClosed();
  enter({key: crypto.randomUUID()}, address);
  scrollTo(0, 0);
  show();
}

/** `/` goes to the question, wherever the reader is, but not while they type. */
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
