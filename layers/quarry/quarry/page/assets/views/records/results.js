/**
 * The ranked list of a search, with filters, page by page.
 */

import {isStopped} from '../../api.js';
import {removable, toggle} from '../../components/chips.js';
import {degradedRemark, emptyState, noticeOf, remark} from '../../components/notice.js';
import {loading} from '../../components/panel.js';
import {sortControl, sorted} from '../../components/sorting.js';
import {takeaway} from '../../components/takeaway.js';
import {button, element, icon, plain, replace} from '../../dom.js';
import {number, words} from '../../format.js';
import {collections, facetFields, filterValue, languageOf, offered, typeLabel} from './declared.js';
import {monthsChart, periods} from './months.js';
import {resultCard} from './record.js';
import {gettext, ngettext} from '../../messages.js';

const PAGE_SIZE = 20;
const OFFSET_MAX = 400;
/** The most filters to try leaving out. */
const DROPS_MAX = 6;

const ORDERS = [
  {name: 'best', label: gettext('Best match')},
  {name: 'newest', label: gettext('Newest'), key: ({date}) => date, isDescending: true},
  {name: 'oldest', label: gettext('Oldest'), key: ({date}) => date},
  {name: 'title', label: gettext('Title'), key: ({title}) => title},
];

const STEP_WORDS = {query_embedding: gettext('search by meaning')};

/** @typedef {{q: string, type: string[], from: string, to: string} & Record<string, string[]>} Search as in the address; all other keys are facets */

/** The number of results of a search, over all types. */
function total({counts}) {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** One search. Its nodes live as long as its history entry. */
export class Results {
  /**
   * @param {Search} search
   * @param {import('../../app.js').Context} context
   * @param {Record<string, number>} [counts] by type, as far as known in advance
   */
  constructor(search, context, counts = {}) {
    this.search = search;
    this.context = context;
    /**
     * `onfilter` is called when the reader changes a filter, with the `data-filter` of the control; `onretry` to search again;
     * `onchange` when there are more results.
     * @type {{onfilter: (filters: Partial<Search>, control?: string) => void, onretry: () => void, onchange: () => void}}
     */
    this.callbacks = {onfilter() {}, onretry() {}, onchange() {}};
    this.controller = new AbortController();
    this.response = null;
    /** The results so far, best first. @type {any[]} */
    this.found = [];
    this.order = 'best';
    /** The button that saves this search. @type {Node | null} */
    this.saver = null;
    /** The control to focus once it is there. @type {string | null} */
    this.wanted = null;
    /** The types and ids of results that the saved search has not shown before. @type {Set<string>} */
    this.news = new Set();
    this.knownCounts = counts;
    this.list = element('ol', {class: 'results'});
    this.chosen = element('div', {class: 'results-chosen'});
    this.foot = element('div', {class: 'results-foot'});
    this.months = element('div', {class: 'months-room'});
    this.types = element('div', {class: 'chips', role: 'group', 'aria-label': gettext('Types of record')});
    this.filters = element('div', {class: 'filters', hidden: true}, this.types, this.#dates());
    this.remark = element('div', {class: 'results-remark'});
    this.head = element('div', {class: 'results-head'}, this.filters, this.remark);
    // in a container of its own, so that content below the list does not jump
    this.waiting = element('div');
    this.tools = element('div', {class: 'results-tools'});
    this.root = element('div', {class: 'results-body'}, this.head, this.chosen, this.tools, this.waiting, this.list, this.foot);
    if (this.#isFiltered) this.#showHead();
  }

  get #isFiltered() {
    return Boolean(this.search.type.length || this.search.from || this.search.to || Object.keys(this.facets).length);
  }

  /** The facets used as filters, with their values. */
  get facets() {
    const {q, type, from, to, ...facets} = this.search;
    return facets;
  }

  /** The number of results of each type. Types that a filter leaves out keep their earlier number. */
  get counts() {
    return {...this.knownCounts, ...this.response?.counts};
  }

  get total() {
    return this.response ? total(this.response) : 0;
  }

  /** `count`, of a type or in total, with a plus if there may be more. */
  told(count, type) {
    const isCapped = type ? this.response?.capped?.includes(type) : this.response?.more;
    return `${number(count)}${isCapped ? '+' : ''}`;
  }

  /** The state to restore after a reload. */
  get kept() {
    return this.response && {response: {...this.response, results: this.found}, news: [...this.news]};
  }

  /** Restore the state, without searching. @param {any} kept */
  restore(kept) {
    if (!kept) return this;
    this.news = new Set(kept.news);
    this.#show(kept.response, 0);
    return this;
  }

  /** Mark the new results. @param {string[]} ids */
  tellNews(ids) {
    this.news = new Set(ids);
    this.#showList();
    this.callbacks.onchange();
  }

  /** Search, once. Returns the response, or null if it was stopped. Throws if it failed, after showing a notice. */
  async run() {
    if (this.response !== null) return this.response;
    replace(this.list);
    replace(this.foot);
    replace(this.waiting, loading(6));
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
      replace(this.waiting);
      replace(this.foot, noticeOf(error, {retry: () => (offset === 0 ? this.callbacks.onretry() : this.#again(offset)), signIn: () => this.context.session.signIn()}));
      throw error;
    }
  }

  async #again(offset) {
    replace(this.foot, loading(3));
    await this.#load(offset).catch(() => {});
  }

  #show(response, offset) {
    const first = this.found.length;
    replace(this.waiting);
    if (offset === 0) this.response = response;
    this.found = [...this.found.slice(0, offset), ...response.results];
    this.#showHead();
    this.#showTools();
    this.#showList();
    const next = this.found.length;
    const more = next > 0 && next % PAGE_SIZE === 0 && next <= OFFSET_MAX && next < this.total;
    replace(this.foot,
      this.total === 0 && this.#nothing(),
      more && button(gettext('More results'), {onclick: () => this.#more(next)}));
    if (offset > 0) this.context.announce(ngettext('{number} more result', '{number} more results', this.found.length - first));
    this.callbacks.onchange();
  }

  async #more(next) {
    await this.#load(next).catch(() => {});
    const added = this.found[next];
    if (added) [...this.list.children].find((item) => item.dataset.key === `${added.type}/${added.id}`)?.querySelector('button').focus();
  }

  /** The results in the chosen order. */
  #showList() {
    replace(this.list, sorted(this.found, ORDERS, this.order).map((result) => resultCard(result, this.context, this.news.has(`${result.type}/${result.id}`))));
  }

  #showTools() {
    const isPart = this.found.length < this.total;
    // without results, the reader may want to save the search
    replace(this.tools, this.found.length === 0 ? this.saver : [
      sortControl(ORDERS, this.order, (chosen) => { this.order = chosen; this.#showList(); }, isPart ? gettext('of these {number}', {number: this.found.length}) : ''),
      takeaway(() => this.#taken(), (text) => this.context.announce(text)),
      this.saver,
    ]);
  }

  /** @returns {import('../../components/takeaway.js').Taken} */
  #taken() {
    return {
      name: this.search.q,
      columns: ['type', 'id', 'title', 'date', 'url', 'score', 'snippet'],
      rows: sorted(this.found, ORDERS, this.order).map(({type, id, title, date, url, score, snippet}) => [type, id, title, date, url, score, plain(snippet)]),
    };
  }

  /** The filters. Date and facet controls stay in place; otherwise a click on one could be lost when the answer arrives. */
  #showHead() {
    this.filters.hidden = false;
    this.#showTypes();
    replace(this.remark, this.response && degradedRemark(this.response.degraded, STEP_WORDS));
    const chosen = this.#chosen();
    if (!chosen || !this.chosen.firstElementChild?.isEqualNode(chosen)) replace(this.chosen, chosen);
  }

  #nothing() {
    const drops = element('div', {class: 'chips'});
    if (this.#isFiltered) this.#offerDrops(drops);
    return emptyState(gettext('Nothing found'),
      this.#isFiltered ? gettext('No results with these filters. ') : gettext('No record has these words or anything close to them. Try other words, or fewer.'),
      this.#isFiltered && button(gettext('Search without filters'), {onclick: () => this.callbacks.onfilter({...this.#noFacets(), type: [], from: '', to: ''})}), drops);
  }

  /** Each filter that alone leaves out records, the one that leaves out most first. Measured by the same search without it, which finds more than records with all words. */
  async #offerDrops(drops) {
    const {q, ...filters} = this.search;
    const conditions = [
      this.search.type.length > 0 && {label: gettext('Any type'), left: {type: []}},
      (this.search.from || this.search.to) && {label: gettext('Any date'), left: {from: '', to: ''}},
      ...Object.keys(this.facets).map((name) => ({label: gettext('Any {name}', {name: words(name.replace(/^-/, '')).toLowerCase()}), left: {[name]: []}})),
    ].filter(Boolean).slice(0, DROPS_MAX);
    const counted = await Promise.all(conditions.map(async (condition) => {
      const query = {q, ...filters, ...condition.left, limit: 1};
      const told = await this.context.api.get('records/search', {query, signal: this.controller.signal}).catch(() => ({counts: {}}));
      return {...condition, count: total(told), more: told.more};
    }));
    replace(drops, counted.filter(({count}) => count > 0).sort((one, other) => other.count - one.count).map(({label, left, count, more}) =>
      element('button', {type: 'button', class: 'chip toggle', on: {click: () => this.callbacks.onfilter(left)}}, label,
        element('span', {class: 'chip-count'}, more ? gettext('+{number} or more', {number: number(count)}) : `+${number(count)}`))));
  }

  #noFacets() {
    return Object.fromEntries(Object.keys(this.facets).map((name) => [name, []]));
  }

  /** The active facet filters, each with a remove button. */
  #chosen() {
    const chips = Object.entries(this.facets).map(([name, values]) => removable(
      filterLabel(name, values.map((value) => filterValue(this.search.type[0], name.replace(/^-/, ''), value))),
      {label: gettext('Without this filter: {name}', {name: words(name.replace(/^-/, ''))}), onremove: () => this.callbacks.onfilter({[name]: []})}));
    return chips.length > 0 && element('div', {class: 'chips', role: 'group', 'aria-label': gettext('Filters')}, chips);
  }

  /** The filters that the declaration of a type defines. If they are open they are filled at once, so that content below does not jump. */
  #declared(only) {
    const fields = element('div');
    const fill = async () => {
      const type = (await collections(this.context)).find(({name}) => name === only);
      replace(fields, type
        ? facetFields(type, this.search, {context: this.context, signal: this.controller.signal, onfilter: (filters, control) => this.callbacks.onfilter({type: [only], ...filters}, control)})
        : remark(gettext('These filters could not be fetched. '), element('button', {type: 'button', class: 'text-button', on: {click: fill}}, gettext('Try again'))));
    };
    let isFilled = false;
    const fillOnce = () => {
      if (!details.open || isFilled) return;
      isFilled = true;
      fill();
    };
    const details = element('details', {class: 'dates facets', open: Object.keys(this.facets).length > 0, on: {toggle: fillOnce}},
      element('summary', {data: {filter: 'facets'}}, icon('filter'), gettext('Filters')), fields);
    fillOnce();
    return details;
  }

  #showTypes() {
    const {type} = this.search;
    const {counts} = this;
    const chosen = new Set(type);
    const names = offered([...type, ...Object.keys(counts)]).filter((name) => chosen.has(name) || counts[name] > 0 || chosen.size > 0);
    const toggles = names.map((name) => toggle(typeLabel(name), {
      pressed: chosen.has(name),
      count: name in counts ? this.told(counts[name], name) : null,
      name,
      ontoggle: (pressed) => this.callbacks.onfilter({type: names.filter((each) => (each === name ? pressed : chosen.has(each)))}, name),
    }));
    const {filter} = this.types.contains(document.activeElement) ? document.activeElement.dataset : {};
    replace(this.types, toggles);
    if (filter) this.types.querySelector(`[data-filter="${filter}"]`)?.focus({preventScroll: true});
    // the facets of several types appear once a single type is chosen
    const [only = ''] = type.length === 1 ? type : names.length === 1 ? names : [];
    if (this.only === only) return;
    this.only = only;
    this.filters.querySelector('.facets')?.remove();
    if (only) this.filters.append(this.#declared(only));
  }

  #dates() {
    const {from, to} = this.search;
    return element('details', {class: 'dates', open: Boolean(from || to), on: {toggle: ({target}) => this.#showMonths(target)}},
      element('summary', {data: {filter: 'dates'}}, icon('filter'), from || to ? gettext('Dates') : gettext('Any date')),
      this.months,
      element('div', {class: 'date-fields'}, this.#dateField(gettext('From'), 'from', from), this.#dateField(gettext('To'), 'to', to),
        (from || to) && button(gettext('Any date'), {kind: 'quiet', onclick: () => this.callbacks.onfilter({from: '', to: ''})})));
  }

  /** The dates of the records, whatever dates are chosen. Requested when the reader opens the dates. */
  async #showMonths({open}) {
    if (!open || this.months.childElementCount > 0 || this.areMonthsAsked) return;
    this.areMonthsAsked = true;
    const {from, to, ...others} = this.search;
    const counted = (query) => this.context.api.get('records/facets', {query: {...others, ...query}, signal: this.controller.signal}).catch(() => null);
    let told = await counted({by: 'month'});
    // with too many months, only the latest are returned
    if (told?.truncated) told = await counted(from && to ? {by: 'month', from: `${from.slice(0, 4)}-01-01`, to: `${to.slice(0, 4)}-12-31`} : {by: 'year'});
    const {type} = this.search;
    const shown = periods(told?.groups ?? [], {from, to}, type.length === 1 ? languageOf(type[0]) : undefined);
    this.months.hidden = shown.length < 2;
    if (this.months.hidden) return;
    const {filter} = document.activeElement?.dataset ?? {};
    replace(this.months, monthsChart(shown, {from, to}, (filters, control) => this.callbacks.onfilter(filters, control)));
    if (this.wanted) this.months.querySelector(`[data-filter="${this.wanted}"]`)?.focus({preventScroll: true});
    else if (filter) this.months.querySelector(`[data-filter="${filter}"]`)?.focus({preventScroll: true});
  }

  #dateField(text, name, value) {
    const {from, to} = this.search;
    const choose = ({target}) => {
      // a year being typed may be a valid year too, such as 0020
      if (target.value && target.value < '1000') return;
      if (target.reportValidity()) this.callbacks.onfilter({[name]: target.value}, name);
    };
    return element('label', {class: 'field'}, text, element('input', {
      type: 'date', value, data: {filter: name}, min: name === 'to' ? from : null, max: name === 'from' ? to : null, on: {change: choose},
    }));
  }
}

/** A filter in words. @param {string} name of its facet, after a dash where its values are excluded @param {string[]} values */
function filterLabel(name, values) {
  const said = {name: words(name.replace(/^-/, '')).toLowerCase(), values: values.join(gettext(' or '))};
  return name.startsWith('-') ? gettext('not {name}: {values}', said) : gettext('{name}: {values}', said);
}
