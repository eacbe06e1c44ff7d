/**
 * How far an answer or result can be trusted: in words, with a small meter next to it.
 */

import {element} from '../dom.js';
import {gettext} from '../messages.js';

const LEVELS = {low: 1, medium: 2, high: 3};

/**
 * @param {'high' | 'medium' | 'low'} level
 * @param {string} text
 */
export function confidenceLevel(level, text) {
  return element('span', {class: 'confidence', data: {level}},
    element('span', {class: 'meter', 'aria-hidden': 'true'}, [1, 2, 3].map((step) => element('i', {class: step <= LEVELS[level] ? 'is-on' : ''}))),
    text);
}

const FITS = {high: gettext('Likely fit'), medium: gettext('Possible fit'), low: gettext('Doubtful fit')};

/**
 * How likely a result fits according to the ranking, in words and as a number. It is an estimate, not a measured share.
 * @param {number} share from 0 to 1
 */
export function fitLevel(share) {
  const level = share >= 0.75 ? 'high' : share >= 0.45 ? 'medium' : 'low';
  return confidenceLevel(level, `${FITS[level]}, ${gettext('{number} %', {number: Math.round(100 * share)})}`);
}
