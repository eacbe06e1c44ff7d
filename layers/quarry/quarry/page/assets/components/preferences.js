/** The choice of the page's language. It is kept in a cookie, since the service sends the document of a language. */

import {button, element, icon, replace} from '../dom.js';
import {gettext, LANGUAGE} from '../messages.js';

/** The button that switches between light and dark colours. The choice is stored, and `boot.js` reads it on the next visit. */
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

const COOKIE = 'quarry_language';
const YEAR_SECONDS = 31_536_000;
/** By their codes, each by its own name. */
const LANGUAGES = {en: 'English', de: 'Deutsch', fr: 'Français'};

/** @param {URL} home the page's address, for which the choice holds */
export function languageChoice(home) {
  const select = element('select', {'aria-label': gettext('Language'), on: {change: () => {
    document.cookie = `${COOKIE}=${select.value}; path=${home.pathname}; max-age=${YEAR_SECONDS}; samesite=lax`;
    location.reload();
  }}}, Object.entries(LANGUAGES).map(([code, name]) => element('option', {value: code, lang: code, selected: code === LANGUAGE}, name)));
  return select;
}
