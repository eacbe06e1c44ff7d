/**
 * The button between light and dark colours. What is chosen is kept for the next visit, and read there by `boot.js`.
 */

import {button, icon, replace} from '../dom.js';

export function schemeButton() {
  const dark = () => (document.documentElement.dataset.scheme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const label = () => (dark() ? 'Light colours' : 'Dark colours');
  const control = button(icon(dark() ? 'sun' : 'moon'), {kind: 'icon', title: label(), 'aria-label': label(), onclick: () => {
    const scheme = dark() ? 'light' : 'dark';
    document.documentElement.dataset.scheme = scheme;
    try {
      localStorage.setItem('quarry.scheme', scheme);
    } catch {
      // it holds for as long as the page is open
    }
    replace(control, icon(dark() ? 'sun' : 'moon'));
    control.title = label();
    control.setAttribute('aria-label', label());
  }});
  return control;
}
