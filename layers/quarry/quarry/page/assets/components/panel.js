/**
 * A panel at the side of the page, or over all of a narrow one, for the details of an item. The dialog element traps the focus,
 * closes on Escape and restores the focus.
 */

import {button, element, icon, replace, uniqueId} from '../dom.js';
import {noticeOf} from './notice.js';
import {gettext} from '../messages.js';

/**
 * @typedef {object} Panel
 * @property {HTMLDialogElement} dialog
 * @property {() => void} close
 * @property {(text: string, kicker?: string) => void} setTitle
 */

/**
 * Open a panel. It shows that it is loading until `load` resolves; a failure can be retried.
 * @param {string} title
 * @param {(panel: Panel) => import('../dom.js').Child | Promise<import('../dom.js').Child>} load
 * @param {{kicker?: string, signIn?: () => void, isWide?: boolean, onshown?: (panel: Panel) => void}} [options] `kicker` is shown above the title;
 *   `onshown` is called once the content is shown
 * @returns {Panel}
 */
export function openPanel(title, load, {kicker, signIn, isWide = false, onshown = () => {}} = {}) {
  const id = uniqueId('panel');
  const heading = element('h2', {id, tabindex: '-1'}, title);
  const over = element('p', {class: 'kicker', hidden: !kicker}, kicker);
  const body = element('div', {class: 'panel-body'});
  const dialog = element('dialog', {class: isWide ? 'panel is-wide' : 'panel', 'aria-labelledby': id},
    element('header', {class: 'panel-head'},
      element('div', {}, over, heading),
      button(icon('close'), {kind: 'icon', 'aria-label': gettext('Close'), title: gettext('Close'), onclick: () => dialog.close()})),
    body);
  dialog.addEventListener('close', () => dialog.remove());
  // a click outside lands on the dialog itself, since its content covers all of its inside
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  const panel = {
    dialog,
    close: () => dialog.close(),
    setTitle: (text, above) => {
      heading.textContent = text;
      over.textContent = above ?? '';
      over.hidden = !above;
    },
  };
  const fill = async () => {
    replace(body, loading());
    try {
      replace(body, await load(panel));
      onshown(panel);
    } catch (error) {
      replace(body, noticeOf(error, {retry: fill, signIn}));
    }
  };
  document.body.append(dialog);
  dialog.showModal();
  heading.focus();
  fill();
  return panel;
}

/** Grey placeholder lines. */
export function loading(lines = 4) {
  return element('div', {class: 'loading', role: 'status'}, element('span', {class: 'visually-hidden'}, gettext('Loading')),
    Array.from({length: lines}, () => element('div', {class: 'loading-line', 'aria-hidden': 'true'})));
}

/**
 * Names and values, without the empty ones.
 * @param {[name: string, value: import('../dom.js').Child][]} rows
 */
export function facts(rows) {
  const known = rows.filter(([, value]) => value != null && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0));
  return element('dl', {class: 'facts'}, known.map(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
}
