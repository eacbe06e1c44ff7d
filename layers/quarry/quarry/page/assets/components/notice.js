/**
 * Messages about problems: in plain words, with what the reader can do.
 */

import {Problem, isStopped} from '../api.js';
import {button, element, icon} from '../dom.js';
import {gettext} from '../messages.js';

/** @type {Record<import('../api.js').ProblemKind, [title: string, text: string]>} */
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

/** Advice for problems that the page itself cannot solve. */
const ADVICE = {
  no_credits: gettext('You can still open earlier results. The person who runs this service grants credits.'),
  misdirected: gettext('The person who runs it can add this name to QUARRY_ALLOWED_HOSTS.'),
};

/**
 * A notice about a failure, announced at once. `retry` is offered if it can help, after the wait that the service asks for.
 * @param {unknown} error
 * @param {{retry?: () => void, goOn?: () => void, signIn?: () => void}} [actions] `goOn` resumes a broken stream
 */
export function noticeOf(error, {retry, goOn, signIn} = {}) {
  const problem = error instanceof Problem ? error : new Problem('failed');
  if (!(error instanceof Problem)) console.error(error);
  const [title, text] = WORDS[problem.kind];
  const controls = [];
  if (problem.kind === 'not_signed_in' && signIn) controls.push(button(gettext('Sign in'), {kind: 'primary', onclick: signIn}));
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

/**
 * A quiet remark next to a result: that it was stopped, is degraded, or is an old one.
 * @param {...import('../dom.js').Child} text
 */
export function remark(...text) {
  return element('p', {class: 'remark', role: 'note'}, text);
}

/** The same of what is as it should be. @param {...import('../dom.js').Child} text */
export function note(...text) {
  return element('p', {class: 'remark is-calm', role: 'note'}, text);
}

/**
 * A search that ended without an answer: stopped by the reader, or failed; with a button to run it again.
 * @param {unknown} error
 * @param {string} again the label of that button after a stop
 * @param {() => void} onagain
 * @param {import('../signin.js').Session} session
 * @param {() => void} [goOn] resumes a broken stream
 */
export function endedNotice(error, again, onagain, session, goOn) {
  if (!isStopped(error)) return noticeOf(error, {goOn, retry: onagain, signIn: () => session.signIn()});
  return remark(gettext('Stopped. '), element('button', {type: 'button', class: 'text-button', on: {click: onagain}}, again));
}

/**
 * Says which parts of an answer were made without a model; nothing if there are none.
 * @param {string[]} steps the names of the steps
 * @param {Record<string, string>} [words] a label for each step
 */
export function degradedRemark(steps, words = {}) {
  if (steps.length === 0) return null;
  const named = steps.map((step) => words[step] ?? step.replaceAll('_', ' '));
  return remark(gettext('Done by simple rules, not by a model: '), named.join(', '), '.');
}

/**
 * Nothing was found, with advice.
 * @param {string} title
 * @param {...import('../dom.js').Child} help
 */
export function emptyState(title, ...help) {
  return element('div', {class: 'empty'}, icon('search'), element('h2', {class: 'empty-title'}, title), element('p', {}, help));
}
