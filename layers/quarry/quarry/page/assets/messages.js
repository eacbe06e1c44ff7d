/** What the page says, in its language: English stands in the source. `languages/<code>.js`, which the document of another language
 * loads first, holds the other texts by their English ones. Placeholders are names in braces. */

/** The language of the page as an ISO 639-1 code. */
export const LANGUAGE = document.documentElement.lang;

const MESSAGES = globalThis.quarryMessages ?? {};
const PLURAL = new Intl.PluralRules(LANGUAGE);
/** The forms of a message in the order in which a catalogue has them, that of CLDR. */
const FORMS = ['zero', 'one', 'two', 'few', 'many', 'other'].filter((form) => PLURAL.resolvedOptions().pluralCategories.includes(form));
/** What separates the context of a message from its text, as in gettext. */
const CONTEXT_END = '\u0004';

/** A message; `values` are those of its placeholders. */
export function gettext(text, values = {}) {
  return filled(MESSAGES[text] ?? text, values);
}

/** A message whose text alone does not say what it means. */
export function pgettext(context, text, values = {}) {
  return filled(MESSAGES[context + CONTEXT_END + text] ?? text, values);
}

/** A message in the form for a number, which `{number}` stands for. */
export function ngettext(one, many, number, values = {}) {
  const forms = MESSAGES[one] ?? [one, many];
  const digits = new Intl.NumberFormat(LANGUAGE === 'en' ? 'en-GB' : LANGUAGE).format(number);
  return filled(forms[FORMS.indexOf(PLURAL.select(number))], {number: digits, ...values});
}

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
