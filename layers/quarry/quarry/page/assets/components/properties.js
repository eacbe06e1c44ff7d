/** The properties of a row, by name: lists as lists, nested ones by name. */

import {facts} from './panel.js';
import {element} from '../dom.js';
import {words} from '../format.js';
import {gettext} from '../messages.js';

/** @param {Record<string, unknown>} row @param {[string, unknown][]} more */
export function propertyFacts(row, more = []) {
  return facts([...Object.entries(row).map(([name, value]) => [words(name), valueOf(value)]), ...more]);
}

function valueOf(value) {
  if (value === null || value === undefined || value === '') return null;
  if (Array.isArray(value)) return element('ul', {class: 'values'}, value.map((each) => element('li', {}, valueOf(each))));
  if (typeof value === 'object') return propertyFacts(value);
  if (typeof value === 'boolean') return value ? gettext('Yes') : gettext('No');
  return String(value);
}
