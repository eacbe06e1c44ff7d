/**
 * The button that switches between light and dark colours. The choice is stored, and `boot.js` reads it on the next visit.
 */

import {button, icon, replace} from '../dom.js';
import {gettext} from '../messages.js';

export function schemeButton() {
  const dark = () => (document.documentElement.dataset.scheme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const label = () => (dark() ? gettext('Light colours') : gettext('Dark colours'));
  const control = button(icon(dark() ? 'sun' : 'moon'), {kind: 'icon', title: label(), 'aria-label': label(), onclick: () => {
    const scheme = dark() ? 'light' : 'dark';
    document.documentElement.dataset.scheme = scheme;
    try {
      localStorage.setItem('quarry.scheme', scheme);
    } catch {
      // it applies while the page is open
    }
    replace(control, icon(dark() ? 'sun' : 'moon'));
    control.title = label();
    control.setAttribute('aria-label', label());
  }});
  return control;
}
