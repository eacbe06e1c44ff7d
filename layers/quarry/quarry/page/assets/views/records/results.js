/** The ranked list of a search, with filters, page by page. */

import {isStopped} from '../../api.js';
import {degradedRemark, emptyState, loading, noticeOf, remark} from '../../components/panel.js';
import {actionChip, exportMenu, removable, sortControl, sorted, toggle} from '../../components/results.js';
import {button, element, icon, plain, replace, textButton} from '../../dom.js';
import {month, number, words} from '../../format.js';
import {gettext, ngettext} from '../../messages.js';
import {collections, facetFields, filterValue, languageOf, offered, resultCard, typeLabel} from './record.js';

// --- the dates of the results: a bar for each month, or each year if there are many, that filters by it; of a chosen year, its months

const MONTHS_MAX = 36;

/** @typedef {{from: string, to: string, label: string, count: number}} Period its first and last day */

/** Periods without gaps from first to last: months, of all or of the searched years, if there are few; otherwise years.
 * @param {{value: string, count: number}[]} groups by first day of month
 * @returns {Period[]} */
function periods(groups, search = {}, language) {
  const counts = new Map(groups.filter(({value}) => value).map(({value, count}) => [String(value).slice(0, 7), count]));
  const places = [...counts.keys()].sort().map(placeOf);
  if (places.length === 0) return [];
  const [first, last] = [places[0], places.at(-1)];
  const months = Array.from({length: Math.min(last - first + 1, 12 * 300)}, (_, step) => first + step);
  const name = (place) => `${String(Math.floor(place / 12)).padStart(4, '0')}-${String((place % 12) + 1).padStart(2, '0')}`;
  const drawn = searched(months, search);
  if (drawn !== null) {
    return drawn.map((place) => ({from: `${name(place)}-01`, to: lastDay(name(place)), label: month(`${name(place)}-01`, language), count: counts.get(name(place)) ?? 0}));
  }
  const years = new Map();
  for (const place of months) years.set(name(place).slice(0, 4), (years.get(name(place).slice(0, 4)) ?? 0) + (counts.get(name(place)) ?? 0));
  return [...years].map(([year, count]) => ({from: `${year}-01-01`, to: `${year}-12-31`, label: year, count}));
}

/** The months to draw: all, those of the searched years, or only the searched ones; null if even these are too many. */
function searched(months, {from = '', to = ''}) {
  const first = from ? placeOf(from) : months[0];
  const last = to ? placeOf(to) : months.at(-1);
  const ways = [() => true, (place) => place >= first - first % 12 && place < last - last % 12 + 12, (place) => place >= first && place <= last];
  return ways.map((isIn) => months.filter(isIn)).find((part) => part.length > 0 && part.length <= MONTHS_MAX) ?? null;
}

/** The month of a date, counted from year 0. */
function placeOf(text) {
  return Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)) - 1;
}

function lastDay(text) {
  const [year, number] = text.split('-').map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}

/** One bar is in the tab order; arrows move between bars. @param {Period[]} shown */
function monthsChart(shown, {from, to}, onfilter) {
  const largest = Math.max(1, ...shown.map(({count}) => count));
  const isIn = (period) => (!from || period.to >= from) && (!to || period.from <= to);
  const isSelected = (period) => period.from === from && period.to === to;
  const bars = shown.map((period) => element('button', {
    type: 'button', class: isIn(period) ? 'month is-in' : 'month', 'aria-pressed': String(isSelected(period)), tabindex: '-1', data: {filter: `month-${period.from}`},
    'aria-label': ngettext('{label}: {number} record', '{label}: {number} records', period.count, {label: period.label}), title: `${period.label}: ${period.count}`,
    on: {
      click: () => onfilter(isSelected(period) ? {from: '', to: ''} : {from: period.from, to: period.to}, `month-${period.from}`),
      keydown: (event) => move(event, bars),
    },
  }, element('span', {style: {'--share': period.count / largest}})));
  (bars.find((bar, place) => isSelected(shown[place])) ?? bars[0]).tabIndex = 0;
  return element('figure', {class: 'months'},
    element('figcaption', {}, shown[0].label.length === 4
      ? gettext('Records that hold all of these words, by year. Choose one to filter by it.')
      : gettext('Records that hold all of these words, by month. Choose one to filter by it.')),
    element('div', {class: 'months-bars', role: 'group', 'aria-label': gettext('When they are from')}, bars),
    element('div', {class: 'months-ends', 'aria-hidden': 'true'}, element('span', {}, shown[0].label), shown.length > 1 && element('span', {}, shown.at(-1).label)));
}

function move(event, bars) {
  const place = bars.indexOf(event.currentTarget);
  const next = {ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: bars.length - 1}[event.key];
  if (next === undefined || bars[next] === undefined) return;
  event.preventDefault();
  bars[place].tabIndex = -1;
  bars[next].tabIndex = 0;
  bars[next].focus();
}

// --- the list

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

function total({counts}) {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** One search. Its nodes live as long as its history entry. */
export class Results {
  /** @param {Record<string, number>} [counts] by type, as far as known in advance */
  constructor(search, context, counts = {}) {
    Object.assign(this, {search, context, response: null, order: 'best', saver: null, knownCounts: counts});
    /** `onfilter` is called when the reader changes a filter, with the `data-filter` of the control; `onretry` to search again;
     * `onchange` when there are more results.
     * @type {{onfilter: (filters: Partial<Search>, control?: string) => void, onretry: () => void, onchange: () => void}} */
    this.callbacks = {onfilter() {}, onretry() {}, onchange() {}};
    this.controller = new AbortController();
    /** The results so far, best first. @type {any[]} */
    this.rows = [];
    /** The control to focus once it is there. @type {string | null} */
    this.focused = null;
    /** The types and ids of results that the saved search has not shown before. @type {Set<string>} */
    this.news = new Set();
    this.list = element('ol', {class: 'results'});
    this.active = element('div', {class: 'results-chosen'});
    this.foot = element('div', {class: 'results-foot'});
    this.months = element('div', {class: 'months-room'});
    this.types = element('div', {class: 'chips', role: 'group', 'aria-label': gettext('Types of record')});
    this.filters = element('div', {class: 'filters', hidden: true}, this.types, this.#dates());
    this.remark = element('div', {class: 'results-remark'});
    this.head = element('div', {class: 'results-head'}, this.filters, this.remark);
    // in a container of its own, so that content below the list does not jump
    this.waiting = element('div');
    this.tools = element('div', {class: 'results-tools'});
    this.root = element('div', {class: 'results-body'}, this.head, this.active, this.tools, this.waiting, this.list, this.foot);
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
  countText(count, type) {
    const isCapped = type ? this.response?.capped?.includes(type) : this.response?.more;
    return `${number(count)}${isCapped ? '+' : ''}`;
  }

  get snapshot() {
    return this.response && {response: {...this.response, results: this.rows}, news: [...this.news]};
  }

  restore(snapshot) {
    if (!snapshot) return this;
    this.news = new Set(snapshot.news);
    this.#show(snapshot.response, 0);
    return this;
  }

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
      replace(this.foot, noticeOf(error, {retry: () => (offset === 0 ? this.callbacks.onretry() : this.#again(offset)), context: this.context}));
      throw error;
    }
  }

  async #again(offset) {
    replace(this.foot, loading(3));
    await this.#load(offset).catch(() => {});
  }

  #show(response, offset) {
    const first = this.rows.length;
    replace(this.waiting);
    if (offset === 0) this.response = response;
    this.rows = [...this.rows.slice(0, offset), ...response.results];
    this.#showHead();
    this.#showTools();
    this.#showList();
    const next = this.rows.length;
    const more = next > 0 && next % PAGE_SIZE === 0 && next <= OFFSET_MAX && next < this.total;
    replace(this.foot,
      this.total === 0 && this.#nothing(),
      more && button(gettext('More results'), {onclick: () => this.#more(next)}));
    if (offset > 0) this.context.announce(ngettext('{number} more result', '{number} more results', this.rows.length - first));
    this.callbacks.onchange();
  }

  async #more(next) {
    await this.#load(next).catch(() => {});
    const added = this.rows[next];
    if (added) [...this.list.children].find((item) => item.dataset.key === `${added.type}/${added.id}`)?.querySelector('button').focus();
  }

  #showList() {
    replace(this.list, sorted(this.rows, ORDERS, this.order).map((result) => resultCard(result, this.context, this.news.has(`${result.type}/${result.id}`))));
  }

  #showTools() {
    const isPart = this.rows.length < this.total;
    // without results, the reader may want to save the search
    replace(this.tools, this.rows.length === 0 ? this.saver : [
      sortControl(ORDERS, this.order, (order) => { this.order = order; this.#showList(); }, isPart ? gettext('of these {number}', {number: this.rows.length}) : ''),
      exportMenu(() => this.#table(), this.context),
      this.saver,
    ]);
  }

  #table() {
    return {
      name: this.search.q,
      columns: ['type', 'id', 'title', 'date', 'url', 'score', 'snippet'],
      rows: sorted(this.rows, ORDERS, this.order).map(({type, id, title, date, url, score, snippet}) => [type, id, title, date, url, score, plain(snippet)]),
    };
  }

  /** The filters. Date and facet controls stay in place; otherwise a click on one could be lost when the answer arrives. */
  #showHead() {
    this.filters.hidden = false;
    this.#showTypes();
    replace(this.remark, this.response && degradedRemark(this.response.degraded, STEP_WORDS));
    const chips = this.#active();
    if (!chips || !this.active.firstElementChild?.isEqualNode(chips)) replace(this.active, chips);
  }

  #nothing() {
    const drops = element('div', {class: 'chips'});
    if (this.#isFiltered) this.#offerDrops(drops);
    return emptyState(gettext('Nothing found'),
      this.#isFiltered ? gettext('No results with these filters. ') : gettext('No record has these words or anything close to them. Try other words, or fewer.'),
      this.#isFiltered && button(gettext('Search without filters'), {onclick: () => this.callbacks.onfilter({...this.#noFacets(), type: [], from: '', to: ''})}), drops);
  }

  /** Each filter that alone leaves out records, the one that leaves out most first. Measured by the same search without it, which
   * finds more than records with all words. */
  async #offerDrops(place) {
    const {q, ...filters} = this.search;
    const drops = [
      this.search.type.length > 0 && {label: gettext('Any type'), change: {type: []}},
      (this.search.from || this.search.to) && {label: gettext('Any date'), change: {from: '', to: ''}},
      ...Object.keys(this.facets).map((name) => ({label: gettext('Any {name}', {name: words(name.replace(/^-/, '')).toLowerCase()}), change: {[name]: []}})),
    ].filter(Boolean).slice(0, DROPS_MAX);
    const counts = await Promise.all(drops.map(async ({label, change}) => {
      const query = {q, ...filters, ...change, limit: 1};
      const response = await this.context.api.get('records/search', {query, signal: this.controller.signal}).catch(() => ({counts: {}}));
      return {label, change, count: total(response), more: response.more};
    }));
    replace(place, counts.filter(({count}) => count > 0).sort((one, other) => other.count - one.count).map(({label, change, count, more}) =>
      actionChip(label, () => this.callbacks.onfilter(change), {count: more ? gettext('+{number} or more', {number: number(count)}) : `+${number(count)}`})));
  }

  #noFacets() {
    return Object.fromEntries(Object.keys(this.facets).map((name) => [name, []]));
  }

  /** The active facet filters, each with a remove button. */
  #active() {
    const chips = Object.entries(this.facets).map(([name, values]) => removable(
      filterLabel(name, values.map((value) => filterValue(this.search.type[0], name.replace(/^-/, ''), value))),
      {label: gettext('Without this filter: {name}', {name: words(name.replace(/^-/, ''))}), onremove: () => this.callbacks.onfilter({[name]: []})}));
    return chips.length > 0 && element('div', {class: 'chips', role: 'group', 'aria-label': gettext('Filters')}, chips);
  }

  /** The filters that the declaration of a type defines. If they are open they are filled at once, so that content below does not
   * jump. */
  #declared(only) {
    const fields = element('div');
    const fill = async () => {
      const type = (await collections(this.context)).find(({name}) => name === only);
      replace(fields, type
        ? facetFields(type, this.search, {context: this.context, signal: this.controller.signal, onfilter: (filters, control) => this.callbacks.onfilter({type: [only], ...filters}, control)})
        : remark(gettext('These filters could not be fetched. '), textButton(gettext('Try again'), fill)));
    };
    const isOpen = Object.keys(this.facets).length > 0;
    if (isOpen) fill();
    return element('details', {class: 'dates facets', open: isOpen, on: isOpen ? {} : {toggle: () => { if (!fields.hasChildNodes()) fill(); }}},
      element('summary', {data: {filter: 'facets'}}, icon('filter'), gettext('Filters')), fields);
  }

  #showTypes() {
    const {type} = this.search;
    const {counts} = this;
    const names = offered([...type, ...Object.keys(counts)]).filter((name) => type.length > 0 || counts[name] > 0);
    const toggles = names.map((name) => toggle(typeLabel(name), {
      pressed: type.includes(name),
      count: name in counts ? this.countText(counts[name], name) : null,
      name,
      ontoggle: (pressed) => this.callbacks.onfilter({type: names.filter((each) => (each === name ? pressed : type.includes(each)))}, name),
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
    const count = (query) => this.context.api.get('records/facets', {query: {...others, ...query}, signal: this.controller.signal}).catch(() => null);
    let facet = await count({by: 'month'});
    // with too many months, only the latest are returned
    if (facet?.truncated) facet = await count(from && to ? {by: 'month', from: `${from.slice(0, 4)}-01-01`, to: `${to.slice(0, 4)}-12-31`} : {by: 'year'});
    const {type} = this.search;
    const shown = periods(facet?.groups ?? [], {from, to}, type.length === 1 ? languageOf(type[0]) : undefined);
    this.months.hidden = shown.length < 2;
    if (this.months.hidden) return;
    const {filter} = document.activeElement?.dataset ?? {};
    replace(this.months, monthsChart(shown, {from, to}, (filters, control) => this.callbacks.onfilter(filters, control)));
    const control = this.focused ?? filter;
    if (control) this.months.querySelector(`[data-filter="${control}"]`)?.focus({preventScroll: true});
  }

  #dateField(text, name, value) {
    const {from, to} = this.search;
    const onchange = ({target}) => {
      // a year being typed may be a valid year too, such as 0020
      if (target.value && target.value < '1000') return;
      if (target.reportValidity()) this.callbacks.onfilter({[name]: target.value}, name);
    };
    return element('label', {class: 'field'}, text, element('input', {
      type: 'date', value, data: {filter: name}, min: name === 'to' ? from : null, max: name === 'from' ? to : null, on: {change: onchange},
    }));
  }
}

/** A filter in words. @param {string} name of its facet, after a dash where its values are excluded @param {string[]} values */
function filterLabel(name, values) {
  const parts = {name: words(name.replace(/^-/, '')).toLowerCase(), values: values.join(gettext(' or '))};
  return name.startsWith('-') ? gettext('not {name}: {values}', parts) : gettext('{name}: {values}', parts);
}
