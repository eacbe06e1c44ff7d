/** The label of each domain, in the order of the navigation. */

import {gettext} from './messages.js';

export const DOMAINS = {records: gettext('Records'), companies: gettext('Companies'), people: gettext('People'), ontology: gettext('Projects'), campaigns: gettext('Campaigns')};

/** The label of a domain, also of one that is not listed. @param {string} domain */
export function labelOf(domain) {
  return DOMAINS[domain] ?? domain[0].toUpperCase() + domain.slice(1).replaceAll('_', ' ');
}

/** The name of a domain in addresses and on the command line, where it is not the API's. */
const NAMES = {ontology: 'projects'};

/** @param {string} domain */
export function nameOf(domain) {
  return NAMES[domain] ?? domain;
}

/** The domain that a name stands for, by either of its names; null for none. @param {string | null} name */
export function domainNamed(name) {
  return Object.keys(DOMAINS).find((domain) => name === domain || name === nameOf(domain)) ?? null;
}
