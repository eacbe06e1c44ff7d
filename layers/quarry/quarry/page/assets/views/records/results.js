/**
 * The ranked list of a search, with its filters, page by page.
 */

import {isStopped} from '../../api.js';
import {removable, toggle} from '../../components/chips.js';
import {degradedRemark, emptyState, noticeOf} from '../../components/notice.js';
import {loading} from '../../components/panel.js';
import {button, element, icon, replace} from '../../dom.js';
import {number, plural, words} from '../../format.js';
import {collections, facetFields, filterValue, offered, typeLabel} from './declared.js';
import {resultCard} from './record.js';

const PAGE_SIZE = 20;
const OFFSET_MAX = 400;
const COUNTED_MAX = 10_000;

const STEP_WORDS = {query_embedding: 'search by meaning'};

/** @typedef {{q: string, type: string[], from: string, to: string} & Record<string, string[]>} Search as the address has it; others are facets */

/** One search. Its nodes live as long as the history entry that it belongs to. */
export class Results {
  /**
   * @param {Search} search
   * @param {import('../../app.js').Context} context
   * @param {Record<string, number>} [counts] of the types, as far as they are known before
   */
  constructor(search, context, counts = {}) {
    this.search = search;
    this.context = context;
    /**
     * `onfilter` is called when the reader changes a filter, with the `data-filter` of the control; `onretry` to search again.
     * @type {{onfilter: (filters: Partial<Search>, control?: string) => void, onretry: () => void}}
     */
    this.callbacks = {onfilter() {}, onretry() {}};
    this.controller = new AbortController();
    this.response = null;
    this.knownCounts = counts;
    this.list = element('ol', {class: 'results'});
    this.head = element('div', {class: 'results-head'});
    this.foot = element('div', {class: 'results-foot'});
    this.root = element('div', {class: 'results-body'}, this.head, this.list, this.foot);
    if (this.#isFiltered) this.#showHead();
  }

  get #isFiltered() {
    return Boolean(this.search.type.length || this.search.from || this.search.to || Object.keys(this.facets).length);
  }

  /** The facets that are filtered by, each with its values. */
  get facets() {
    const {q, type, from, to, ...facets} = this.search;
    return facets;
  }

  /** How many there are of each type: of those that a filter leaves out, as it was before. */
  get counts() {
    return {...this.knownCounts, ...this.response?.counts};
  }

  get total() {
    return Object.values(this.response?.counts ?? {}).reduce((sum, count) => sum + count, 0);
  }

  /** `count`, with a plus where that is not all that there are. */
  told(count) {
    return `${number(count)}${this.response?.more && count >= COUNTED_MAX ? '+' : ''}`;
  }

  /** Search, once: the response, or null when it was stopped. Throws when it failed, having said so. */
  async run() {
    if (this.response !== null) return this.response;
    replace(this.list);
    replace(this.foot, loading(6));
    return this.#load(0);
  }

  stop() {
    this.controller.abort();
    this.controller = new AbortController();
  }

  async #load(offset) {
    try {
      const [response] = await Promise.all([
        this.context.api.get('records/search', {
          query: {...this.search, limit: PAGE_SIZE, offset}, signal: this.controller.signal,
        }),
        collections(this.context),
      ]);
      this.#show(response, offset);
      return response;
    } catch (error) {
      if (isStopped(error)) return null;
      replace(this.foot, noticeOf(error, {retry: () => (offset === 0 ? this.callbacks.onretry() : this.#again(offset)), signIn: () => this.context.session.signIn()}));
      throw error;
    }
  }

  async #again(offset) {
    replace(this.foot, loading(3));
    await this.#load(offset).catch(() => {});
  }

  #show(response, offset) {
    const first = this.list.childElementCount;
    if (offset === 0) this.response = response;
    this.list.append(...response.results.map((result) => resultCard(result, this.context)));
    this.#showHead();
    const next = offset + PAGE_SIZE;
    const more = response.results.length === PAGE_SIZE && next <= OFFSET_MAX && next < this.total;
    replace(this.foot,
      this.total === 0 && this.#nothing(),
      more && button('More results', {onclick: async () => { await this.#load(next).catch(() => {}); this.list.children[next]?.querySelector('button')?.focus(); }}));
    if (offset > 0) this.context.announce(plural(this.list.childElementCount - first, 'more result'));
  }

  /** The filters, where the reader who was at one of them still is. */
  #showHead() {
    const {filter} = this.head.contains(document.activeElement) ? document.activeElement.dataset : {};
    const open = [...this.head.querySelectorAll('details[open]')].map((details) => details.className);
    replace(this.head, this.#filters(), this.response && degradedRemark(this.response.degraded, STEP_WORDS));
    for (const details of this.head.querySelectorAll('details')) details.open ||= open.includes(details.className);
    if (filter) this.head.querySelector(`[data-filter="${filter}"]`)?.focus({preventScroll: true});
  }

  #nothing() {
    return emptyState('Nothing found',
      this.#isFiltered ? 'Nothing fits these filters. ' : 'No record holds these words or anything close to them. Try others, or fewer.',
      this.#isFiltered && button('Search without filters', {onclick: () => this.callbacks.onfilter({...this.#noFacets(), type: [], from: '', to: ''})}));
  }

  #noFacets() {
    return Object.fromEntries(Object.keys(this.facets).map((name) => [name, []]));
  }

  /** What the facets filter by, each to be taken away. */
  #chosen() {
    const chips = Object.entries(this.facets).map(([name, values]) => removable(
      `${name.startsWith('-') ? 'not ' : ''}${words(name.replace(/^-/, '')).toLowerCase()}: ${values.map((value) => filterValue(this.search.type[0], name.replace(/^-/, ''), value)).join(' or ')}`,
      {label: `Without this filter: ${words(name.replace(/^-/, ''))}`, onremove: () => this.callbacks.onfilter({[name]: []})}));
    return chips.length > 0 && element('div', {class: 'chips', role: 'group', 'aria-label': 'Filters'}, chips);
  }

  /** The filters that the declaration of the only type gives; those of several types are told where one is chosen. */
  #declared(names) {
    const [only] = this.search.type.length === 1 ? this.search.type : names.length === 1 ? names : [];
    if (!only) return null;
    const fields = element('div');
    const details = element('details', {class: 'dates facets', open: Object.keys(this.facets).length > 0, on: {toggle: async () => {
      if (!details.open || fields.childElementCount > 0) return;
      const type = (await collections(this.context)).find(({name}) => name === only);
      if (type) replace(fields, facetFields(type, this.search, {context: this.context, signal: this.controller.signal, onfilter: (filters, control) => this.callbacks.onfilter({type: [only], ...filters}, control)}));
    }}}, element('summary', {data: {filter: 'facets'}}, icon('filter'), 'Filters'), fields);
    return details;
  }

  #filters() {
    const {type, from, to} = this.search;
    const {counts} = this;
    const chosen = new Set(type);
    const names = offered([...type, ...Object.keys(counts)]).filter((name) => chosen.has(name) || counts[name] > 0 || chosen.size > 0);
    const toggles = names.map((name) => toggle(typeLabel(name), {
      pressed: chosen.has(name),
      count: name in counts ? this.told(counts[name]) : null,
      name,
      ontoggle: (pressed) => this.callbacks.onfilter({type: names.filter((each) => (each === name ? pressed : chosen.has(each)))}, name),
    }));
    return element('div', {class: 'filters'},
      element('div', {class: 'chips', role: 'group', 'aria-label': 'Types of record'}, toggles),
      element('details', {class: 'dates', open: Boolean(from || to)},
        element('summary', {data: {filter: 'dates'}}, icon('filter'), from || to ? 'Dates' : 'Any date'),
        element('div', {class: 'date-fields'}, this.#dateField('From', 'from', from), this.#dateField('To', 'to', to),
          (from || to) && button('Any date', {kind: 'quiet', onclick: () => this.callbacks.onfilter({from: '', to: ''})}))),
      this.#declared(names), this.#chosen());
  }

  #dateField(text, name, value) {
    const {from, to} = this.search;
    const choose = ({target}) => {
      // a year that is still being typed is a year too, such as 0020
      if (target.value && target.value < '1000') return;
      if (target.reportValidity()) this.callbacks.onfilter({[name]: target.value}, name);
    };
    return element('label', {class: 'field'}, text, element('input', {
      type: 'date', value, data: {filter: name}, min: name === 'to' ? from : null, max: name === 'from' ? to : null, on: {change: choose},
    }));
  }
}
