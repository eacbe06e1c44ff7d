/** The label of each domain, in the order of the navigation. */

import {gettext, LANGUAGE as PAGE_LANGUAGE, pgettext} from './messages.js';

/** Numbers, times and dates as text. `language`, if given, is that of the data shown. */
/** English is British here. */
const LANGUAGE = PAGE_LANGUAGE === 'en' ? 'en-GB' : PAGE_LANGUAGE;

const DAY = {day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC'};
const MONTH = {month: 'short', year: 'numeric', timeZone: 'UTC'};
const MOMENT = new Intl.DateTimeFormat(LANGUAGE, {dateStyle: 'long', timeStyle: 'short'});

export function day(iso, language = LANGUAGE) {
  return formatted(formatOf(Intl.DateTimeFormat, language, DAY), `${String(iso).slice(0, 10)}T00:00:00Z`, iso);
}

export function month(iso, language = LANGUAGE) {
  return formatted(formatOf(Intl.DateTimeFormat, language, MONTH), `${String(iso).slice(0, 10)}T00:00:00Z`, iso);
}

/** An ISO time in the reader's time zone. */
export function moment(iso) {
  return formatted(MOMENT, iso, iso);
}

const formats = new Map();

/** A formatter of a language, cached, since creating one takes longer than formatting. */
function formatOf(Format, language, options) {
  const key = `${Format.name} ${language} ${JSON.stringify(options)}`;
  if (!formats.has(key)) formats.set(key, new Format(language && language !== 'en' ? language : LANGUAGE, {...options, numberingSystem: 'latn'}));
  return formats.get(key);
}

function formatted(format, iso, otherwise) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? String(otherwise) : format.format(date);
}

export function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.max(1, Math.round(milliseconds))} ms`;
  const places = milliseconds < 10_000 ? 1 : 0;
  return `${new Intl.NumberFormat(LANGUAGE, {minimumFractionDigits: places, maximumFractionDigits: places}).format(milliseconds / 1000)} s`;
}

/** Two decimals at most; below 0.1 the first three digits that are not 0. */
function places(value) {
  return value === 0 || Math.abs(value) >= 0.1 ? {maximumFractionDigits: 2} : {maximumSignificantDigits: 3};
}

export function number(value, language = LANGUAGE) {
  return formatOf(Intl.NumberFormat, language, places(value)).format(value);
}

/** A part of 1 in percent. */
export function percent(value, language = LANGUAGE) {
  return formatOf(Intl.NumberFormat, language, {style: 'percent', ...places(100 * value)}).format(value);
}

/** @param {string | undefined} currency its ISO 4217 code; money may come without one */
export function amount(value, currency, language = LANGUAGE, isMoney = Boolean(currency)) {
  const fewest = 'maximumFractionDigits' in places(value) ? {minimumFractionDigits: !isMoney || Number.isInteger(value) ? 0 : 2} : {};
  const options = {...fewest, ...places(value)};
  return formatOf(Intl.NumberFormat, language, currency ? {style: 'currency', currency, ...options} : options).format(value);
}

export function money(value, currency) {
  return new Intl.NumberFormat(LANGUAGE, {style: 'currency', currency, maximumFractionDigits: value < 10_000 ? 0 : 1, notation: value < 10_000 ? 'standard' : 'compact'}).format(value);
}

/** @param {number} value Indian rupees, with Indian digit grouping */
export function rupees(value) {
  return new Intl.NumberFormat('en-IN', {style: 'currency', currency: 'INR', maximumFractionDigits: 0}).format(value);
}

/** The label of a group without a value. */
export const NONE = pgettext('none', 'none');

export function sentenceCase(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A name in the data, such as `agenda_item`, in words. */
export function words(name) {
  return sentenceCase(String(name).replaceAll('_', ' '));
}

export const DOMAINS = {records: gettext('Records'), companies: gettext('Companies'), people: gettext('People'), ontology: gettext('Projects'), campaigns: gettext('Campaigns')};

/** The label of a domain, also of one that is not listed. */
export function labelOf(domain) {
  return DOMAINS[domain] ?? domain[0].toUpperCase() + domain.slice(1).replaceAll('_', ' ');
}

/** The name of a domain in addresses and on the command line, where it is not the API's. */
const NAMES = {ontology: 'projects'};

export function nameOf(domain) {
  return NAMES[domain] ?? domain;
}

/** The domain that a name stands for, by either of its names; null for none. */
export function domainNamed(name) {
  return Object.keys(DOMAINS).find((domain) => name === domain || name === nameOf(domain)) ?? null;
}
