/**
 * Compares up to four results side by side.
 *
 * @typedef {{id: string, name: string, rows: [name: string, value: import('../dom.js').Child][]}} Candidate all with the same rows
 */

import {Problem} from '../api.js';
import {button, element, replace} from '../dom.js';
import {openPanel} from './panel.js';
import {gettext} from '../messages.js';

const COMPARED_MAX = 4;

/** The results that can be compared, and those chosen. */
export class Comparison {
  /** @param {Candidate[]} candidates @param {import('../app.js').Context} context */
  constructor(candidates, context) {
    this.candidates = candidates;
    this.context = context;
    /** @type {Set<string>} */
    this.chosen = new Set();
    /** @type {Map<string, HTMLInputElement>} */
    this.boxes = new Map();
    this.bar = element('div', {class: 'compare-bar', hidden: true});
  }

  /** A checkbox that adds a result to the comparison; nothing if there is nothing to compare it with. @param {string} id */
  control(id) {
    if (this.candidates.length < 2) return null;
    const box = this.boxes.get(id) ?? element('input', {type: 'checkbox', on: {change: ({target}) => this.#choose(id, target.checked)}});
    this.boxes.set(id, box);
    const {name} = this.candidates.find((candidate) => candidate.id === id);
    box.setAttribute('aria-label', gettext('Compare {name}', {name}));
    return element('label', {class: 'compare-box'}, box, gettext('Compare'));
  }

  #choose(id, isChosen) {
    if (isChosen) this.chosen.add(id);
    else this.chosen.delete(id);
    const isFull = this.chosen.size >= COMPARED_MAX;
    for (const [other, box] of this.boxes) box.disabled = isFull && !this.chosen.has(other);
    this.bar.hidden = this.chosen.size === 0;
    replace(this.bar,
      element('span', {}, this.chosen.size < 2 ? gettext('Choose another to compare') : isFull ? gettext('{number} chosen, the most that can be compared', {number: this.chosen.size}) : gettext('{number} chosen', {number: this.chosen.size})),
      this.chosen.size > 1 && button(gettext('Compare'), {kind: 'primary', onclick: () => this.context.open('compare', [...this.chosen].join(','))}),
      button(gettext('Clear'), {kind: 'quiet', onclick: () => {
        const [first] = this.chosen;
        this.boxes.get(first)?.focus();
        for (const box of this.boxes.values()) Object.assign(box, {checked: false, disabled: false});
        this.chosen.clear();
        this.bar.hidden = true;
      }}));
  }
}

/**
 * The comparison in a panel.
 * @param {string[]} ids
 * @param {() => Promise<Candidate[]>} candidatesOf resolves to the results
 */
export function openComparison(ids, candidatesOf) {
  return openPanel(gettext('Side by side'), async () => {
    const candidates = await candidatesOf();
    const compared = ids.slice(0, COMPARED_MAX).map((id) => candidates.find((candidate) => candidate.id === id)).filter(Boolean);
    if (compared.length === 0) throw new Problem('not_found', gettext('These are not among the results.'));
    const rows = compared[0].rows.map(([name], place) => [name, compared.map((candidate) => candidate.rows[place][1])])
      .filter(([, values]) => values.some((value) => value !== null && value !== undefined && value !== '' && value !== false));
    return element('div', {class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': gettext('Side by side')}, element('table', {class: 'compared'},
      element('thead', {}, element('tr', {}, element('td'), compared.map(({name}) => element('th', {scope: 'col'}, name)))),
      element('tbody', {}, rows.map(([name, values]) => element('tr', {}, element('th', {scope: 'row'}, name),
        values.map((value) => element('td', {}, value === null || value === undefined || value === '' ? '–' : value)))))));
  }, {isWide: true});
}
