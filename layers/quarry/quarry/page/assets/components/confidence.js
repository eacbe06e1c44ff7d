/**
 * How far an answer or a finding can be trusted: in words or percent, with a small meter beside it.
 */

import {element} from '../dom.js';
import {percent} from '../format.js';

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

/** @param {number} share from 0 to 1 @param {string} [what] */
export function confidenceShare(share, what = 'confidence') {
  const level = share >= 0.75 ? 'high' : share >= 0.45 ? 'medium' : 'low';
  return confidenceLevel(level, `${percent(share)} ${what}`);
}
