/** What lies beside or over the content: notices about problems, previews, and panels with the details of an item. */

import {isStopped, Problem} from '../api.js';
import {button, element, icon, replace, textButton, uniqueId} from '../dom.js';
import {words} from '../format.js';
import {gettext} from '../messages.js';

/** Problems in plain words. @type {Record<import('../api.js').ProblemKind, [title: string, text: string]>} */
const WORDS = {
  offline: [gettext('You are offline'), gettext('This needs a connection. What is already here can still be read.')],
  unreachable: [gettext('The service cannot be reached'), gettext('It may be starting, or the connection may be blocked.')],
  not_signed_in: [gettext('Sign in to search'), gettext('Searching needs an account. Shared answers can be read without one.')],
  no_credits: [gettext('Out of credits'), gettext('A search costs one credit, and so does a contact’s first unlock.')],
  not_allowed: [gettext('Not allowed'), gettext('Your account may not do this.')],
  not_found: [gettext('Nothing here'), gettext('It may have been removed, or the link may be wrong.')],
  expired: [gettext('This has expired'), gettext('Ask again for a fresh result.')],
  conflict: [gettext('Still at work'), gettext('The same request is already running.')],
  invalid: [gettext('That cannot be searched'), gettext('Change the question and try again.')],
  rate_limited: [gettext('Wait a moment'), gettext('Too many requests within a minute.')],
  misdirected: [gettext('Not served under this name'), gettext('Quarry does not answer to the host name in this address.')],
  unavailable: [gettext('A part of the service is down'), gettext('It should be back shortly.')],
  broken_off: [gettext('The answer broke off'), gettext('The connection ended before the answer did.')],
  failed: [gettext('Something went wrong'), gettext('Try again. If it fails again, contact the person who runs this service.')],
};

const WITHOUT_RETRY = new Set(['not_signed_in', 'no_credits', 'not_allowed', 'not_found', 'invalid', 'misdirected']);

const ADVICE = {
  no_credits: gettext('You can still open earlier results. The person who runs this service grants credits.'),
  misdirected: gettext('The person who runs it can add this name to QUARRY_ALLOWED_HOSTS.'),
};

/** A notice about a failure, announced at once. `retry` is offered if it can help, after the wait that the service asks for.
 * @param {{retry?: () => void, goOn?: () => void, context?: import('../app.js').Context}} [actions] `goOn` resumes a broken stream;
 *   with `context` the reader can sign in */
export function noticeOf(error, {retry, goOn, context} = {}) {
  const problem = error instanceof Problem ? error : new Problem('failed');
  if (!(error instanceof Problem)) console.error(error);
  const [title, text] = WORDS[problem.kind];
  const controls = [];
  if (problem.kind === 'not_signed_in' && context) controls.push(button(gettext('Sign in'), {kind: 'primary', onclick: () => context.session.signIn()}));
  const wait = problem.retryAfterSeconds ?? 0;
  if (goOn) controls.push(laterButton(gettext('Continue'), 'primary', goOn, wait));
  if (retry && !WITHOUT_RETRY.has(problem.kind)) controls.push(laterButton(goOn ? gettext('Ask again') : gettext('Try again'), goOn ? '' : 'primary', retry, wait));
  const told = problem.errors.length ? problem.errors.map((each) => each.message).join('. ') : problem.detail;
  return element('div', {class: 'notice', role: 'alert', data: {kind: problem.kind}},
    element('h2', {class: 'notice-title'}, title),
    element('p', {}, told || text),
    ADVICE[problem.kind] && element('p', {}, ADVICE[problem.kind]),
    problem.requestId && problem.status >= 500 && element('p', {class: 'fine'}, gettext('Request '), element('code', {}, problem.requestId)),
    controls.length > 0 && element('div', {class: 'notice-actions'}, controls));
}

/** A button that counts down and is enabled after the wait. */
function laterButton(label, kind, onclick, seconds) {
  const control = button(label, {kind, onclick});
  const tick = (left) => {
    control.disabled = left > 0;
    control.textContent = left > 0 ? gettext('{label} in {number} s', {label, number: left}) : label;
    if (left > 0) setTimeout(() => tick(left - 1), 1000);
  };
  if (seconds > 0) tick(Math.min(seconds, 3600));
  return control;
}

/** A quiet remark next to a result: that it was stopped, is degraded, or is an old one. */
export function remark(...text) {
  return element('p', {class: 'remark', role: 'note'}, text);
}

/** The same of what is as it should be. */
export function note(...text) {
  return element('p', {class: 'remark is-calm', role: 'note'}, text);
}

/** A search that ended without an answer: stopped by the reader, or failed; with a button, called `again`, to run it again. */
export function endedNotice(error, again, onagain, context, goOn) {
  if (!isStopped(error)) return noticeOf(error, {goOn, retry: onagain, context});
  return remark(gettext('Stopped. '), textButton(again, onagain));
}

/** Says which steps of an answer were done without a model, by their `labels`; nothing if there are none. */
export function degradedRemark(steps, labels = {}) {
  if (steps.length === 0) return null;
  return remark(gettext('Done by simple rules, not by a model: '), steps.map((step) => labels[step] ?? step.replaceAll('_', ' ')).join(', '), '.');
}

export function emptyState(title, ...help) {
  return element('div', {class: 'empty'}, icon('search'), element('h2', {class: 'empty-title'}, title), element('p', {}, help));
}

// --- previews: shown on hover and focus, hidden by Escape, by leaving, or by moving on; only one at a time

const SHOW_AFTER_MS = 80;
const HIDE_AFTER_MS = 180;
const GAP = 8;

const popover = element('div', {class: 'popover', id: uniqueId('popover'), role: 'tooltip', popover: 'manual'});

let anchor = null;
let timer;

/** Give `node` a preview. @param {() => import('../dom.js').Child} content built each time it is shown */
export function previewed(node, content) {
  node.addEventListener('pointerenter', (event) => { if (event.pointerType === 'mouse') later(() => openPreview(node, content), SHOW_AFTER_MS); });
  node.addEventListener('pointerleave', (event) => { if (event.pointerType === 'mouse') later(closePreview, HIDE_AFTER_MS); });
  node.addEventListener('focus', () => openPreview(node, content));
  node.addEventListener('blur', () => later(closePreview, HIDE_AFTER_MS));
}

function closePreview() {
  clearTimeout(timer);
  anchor?.removeAttribute('aria-describedby');
  anchor = null;
  if (popover.matches(':popover-open')) popover.hidePopover();
}

function later(action, delay) {
  clearTimeout(timer);
  timer = setTimeout(action, delay);
}

/** Show a preview immediately, as a tap does. */
export function openPreview(node, content) {
  clearTimeout(timer);
  if (!node.isConnected) return;
  if (!popover.isConnected) attach();
  anchor?.removeAttribute('aria-describedby');
  anchor = node;
  replace(popover, content());
  // a dialog covers everything outside it, and content outside all landmarks is hard to find
  (node.closest('dialog, main') ?? document.body).append(popover);
  popover.showPopover();
  node.setAttribute('aria-describedby', popover.id);
  place(node);
}

function attach() {
  document.body.append(popover);
  popover.addEventListener('pointerenter', () => clearTimeout(timer));
  popover.addEventListener('pointerleave', (event) => { if (event.pointerType === 'mouse') later(closePreview, HIDE_AFTER_MS); });
  addEventListener('scroll', follow, {capture: true, passive: true});
  addEventListener('resize', follow);
  document.addEventListener('keydown', (event) => { if (event.key === 'Escape') closePreview(); });
  document.addEventListener('pointerdown', (event) => {
    if (anchor && !popover.contains(event.target) && !anchor.contains(event.target)) closePreview();
  });
}

function follow() {
  if (anchor?.isConnected) place(anchor);
  else closePreview();
}

/** Above its anchor if there is room, otherwise below, and within the window. */
function place(node) {
  const box = node.getBoundingClientRect();
  const {width, height} = popover.getBoundingClientRect();
  const left = Math.max(GAP, Math.min(box.left + box.width / 2 - width / 2, document.documentElement.clientWidth - width - GAP));
  const above = box.top - height - GAP;
  popover.style.setProperty('left', `${left}px`);
  popover.style.setProperty('top', `${above >= GAP ? above : box.bottom + GAP}px`);
}

// --- panels

/** @typedef {{dialog: HTMLDialogElement, close: () => void, setTitle: (text: string, kicker?: string) => void}} Panel */

/** Open a panel at the side of the page, or over all of a narrow one. The dialog element traps the focus, closes on Escape and restores
 * the focus.
 * @param {(panel: Panel) => import('../dom.js').Child | Promise<import('../dom.js').Child>} load
 * @param {{kicker?: string, isWide?: boolean, onshown?: (panel: Panel) => void}} [options] `kicker` is shown above the title; `onshown`
 *   is called once the content is shown */
export function openPanel(title, load, context, {kicker, isWide = false, onshown = () => {}} = {}) {
  const id = uniqueId('panel');
  const heading = element('h2', {id, tabindex: '-1'}, title);
  const over = element('p', {class: 'kicker', hidden: !kicker}, kicker);
  const body = element('div', {class: 'panel-body'});
  const dialog = element('dialog', {class: isWide ? 'panel is-wide' : 'panel', 'aria-labelledby': id, on: {
    close: () => dialog.remove(),
    // a click outside lands on the dialog itself, since its content covers all of its inside
    click: (event) => { if (event.target === dialog) dialog.close(); },
  }}, element('header', {class: 'panel-head'}, element('div', {}, over, heading),
    button(icon('close'), {kind: 'icon', 'aria-label': gettext('Close'), title: gettext('Close'), onclick: () => dialog.close()})), body);
  const panel = {dialog, close: () => dialog.close(), setTitle: (text, above) => {
    heading.textContent = text;
    over.textContent = above ?? '';
    over.hidden = !above;
  }};
  document.body.append(dialog);
  dialog.showModal();
  heading.focus();
  fill(body, () => load(panel), context, {onshown: () => onshown(panel)});
  return panel;
}

/** Show in a place what `load` brings: grey lines until it is there, or a notice if it fails, with which it can be tried again. */
export async function fill(place, load, context, {lines = 4, onshown = () => {}} = {}) {
  replace(place, loading(lines));
  try {
    replace(place, await load());
    onshown();
  } catch (error) {
    replace(place, noticeOf(error, {retry: () => fill(place, load, context, {lines, onshown}), context}));
  }
}

export function loading(lines = 4) {
  return element('div', {class: 'loading', role: 'status'}, element('span', {class: 'visually-hidden'}, gettext('Loading')),
    Array.from({length: lines}, () => element('div', {class: 'loading-line', 'aria-hidden': 'true'})));
}

/** Names and values, without the empty ones. @param {[name: string, value: import('../dom.js').Child][]} rows */
export function facts(rows) {
  const present = rows.filter(([, value]) => value != null && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0));
  return element('dl', {class: 'facts'}, present.map(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
}

/** The properties of a row: lists as lists, nested ones by name. @param {[string, unknown][]} more */
export function propertyFacts(row, more = []) {
  return facts([...Object.entries(row).map(([name, value]) => [words(name), valueOf(value)]), ...more]);
}

function valueOf(value) {
  if (value === null || value === undefined || value === '') return null;
  if (Array.isArray(value)) return element('ul', {class: 'values'}, value.map((each) => element('li', {}, valueOf(each))));
  if (typeof value === 'object') return propertyFacts(value);
  if (typeof value === 'boolean') return value ? gettext('Yes') : gettext('No');
  return String(value);
}
