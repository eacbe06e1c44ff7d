/**
 * A preview next to an element: shown on hover and focus, hidden by Escape, by leaving, or by moving on. Only one is shown at a time.
 */

import {element, replace, uniqueId} from '../dom.js';

const SHOW_AFTER_MS = 80;
const HIDE_AFTER_MS = 180;
const GAP = 8;

const popover = element('div', {class: 'popover', id: uniqueId('popover'), role: 'tooltip', popover: 'manual'});

/** @type {Element | null} */
let anchor = null;
let timer;

/**
 * Give `node` a preview.
 * @param {HTMLElement} node
 * @param {() => import('../dom.js').Child} content built each time it is shown
 */
export function previewed(node, content) {
  node.addEventListener('pointerenter', (event) => { if (event.pointerType === 'mouse') later(() => open(node, content), SHOW_AFTER_MS); });
  node.addEventListener('pointerleave', (event) => { if (event.pointerType === 'mouse') later(closePreview, HIDE_AFTER_MS); });
  node.addEventListener('focus', () => open(node, content));
  node.addEventListener('blur', () => later(closePreview, HIDE_AFTER_MS));
}

/** Show a preview immediately, as a tap does. */
export function openPreview(node, content) {
  open(node, content);
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

function open(node, content) {
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
