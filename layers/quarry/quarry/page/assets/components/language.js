/**
 * The choice of the page's language. It is kept in a cookie, since the service sends the document of a language.
 */

import {element} from '../dom.js';
import {gettext, LANGUAGE} from '../messages.js';

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
