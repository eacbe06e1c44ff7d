/**
 * People: how the query was understood, who fits and why, how to find more, and contact details for a credit.
 *
 * The address is the state: `q`, the query; `open`, only people who are open to work; `place` and `salary`, what is offered;
 * `understood`, how the query is understood if the reader changed that; `search`, the key of the search. An address with a key
 * shows the stored results, if they still exist and the search was the reader's own. Any other address that the reader comes to
 * from outside the page offers to search, because a search costs a credit. Without a query, everybody is listed.
 */

import {choices, removable, toggle} from '../components/chips.js';
import {Comparison, openComparison} from '../components/compare.js';
import {openedSearch, saver} from '../components/kept.js';
import {degradedRemark, emptyState, endedNotice, noticeOf, remark} from '../components/notice.js';
import {loading} from '../components/panel.js';
import {sortControl, sorted} from '../components/sorting.js';
import {takeaway} from '../components/takeaway.js';
import {Prompt, promptBar} from '../components/prompt.js';
import {conditionChips, forgetTaken} from '../components/conditions.js';
import {former, highlighted, packed, unpacked, without} from '../components/understood.js';
import {button, element, icon, replace, uniqueId} from '../dom.js';

import {comparedRows, openPerson, personCard, takenPeople} from './people/person.js';
import {gettext, ngettext} from '../messages.js';

export const title = gettext('People');

const STEP_WORDS = {
  people_cleanup: gettext('the tidying of the query'), people_query: gettext('the reading of the query'), people_reasons: gettext('the reasons'),
};

const TIERS = [
  null,
  gettext('Few people meet every condition, so time was relaxed.'),
  gettext('Few people meet every condition, so time and place were relaxed.'),
  gettext('Few people meet every condition, so time, place, company and team were relaxed.'),
];

/** The request's own filters, by the relaxations that drop them. */
const WISHES = {preferred_locations: 'place', open_to_work_only: 'open', offer_salary_inr_per_year: 'salary'};

const DISCOVER_PAGE = 24;

const ORDERS = [
  {name: 'best', label: gettext('Best match')},
  {name: 'name', label: gettext('Name'), key: ({name}) => name},
  {name: 'salary', label: gettext('Pay asked, lowest first'), key: ({work_preferred_salary_min: salary}) => salary},
];
const COST = gettext('Each change is a new search and costs one credit.');

const KEPT = gettext('Results are kept for a day, for the person who searched.');
/** Why a search is offered instead of run. */
const ARRIVED = {what: gettext('This link is a search for people'), why: gettext('Running it costs one credit.')};
const SHARED = {what: gettext('This search was shared with you'), why: [KEPT, gettext('Searching yourself costs one credit.')].join(' ')};
const GONE = {what: gettext('What this search found is no longer here'), why: [KEPT, gettext('Searching again costs one credit.')].join(' ')};

/** An earlier search is not available: it is not the reader's, has expired, or was another one. */
const NOT_KEPT = new Set(['not_found', 'expired', 'conflict']);

/** @param {HTMLElement} root @param {import('../app.js').Context} context */
export function mount(root, context) {
  return new PeopleView(root, context);
}

class PeopleView {
  constructor(root, context) {
    this.root = root;
    this.context = context;
    this.entry = null;
    this.balance = element('span', {class: 'balance'});
    this.prompt = new Prompt({
      label: gettext('Describe who you are looking for'), placeholder: gettext('Describe who you are looking for'),
      onsubmit: (text) => this.context.go({...this.#wishes(), q: text}), onstop: () => this.controller?.abort(),
    });
  }

  /** @param {URLSearchParams} params */
  show(params, entry) {
    this.controller?.abort();
    this.entry = entry;
    this.search = searchOf(params);
    this.context.setTitle(this.search.q);
    this.prompt.value = this.search.q;
    this.prompt.busy = false;
    this.#showBalance();
    if (!this.search.q) {
      this.#showFirst();
      return;
    }
    this.#lay();
    this.saved = params.get('saved');
    if (entry.saved.response) this.#showResponse(entry.saved.response);
    else if (entry.isArrival && !params.has('search')) this.#offer(entry, ARRIVED);
    else entry.running = this.#run(entry, params.get('search'));
  }

  /** One person: as found here, otherwise the public profile. */
  open(type, id, hint) {
    const {entry} = this;
    if (type === 'compare') {
      return openComparison(id.split(','), async () => {
        await entry.running;
        return this.comparison?.candidates ?? [];
      });
    }
    if (type !== 'person') return null;
    return openPerson({name: hint?.name, id, headline: hint?.headline ?? hint?.city}, async () => {
      await entry.running;
      const response = entry.saved.response;
      return response?.people.some((person) => person.id === id) ? response.search_id : null;
    }, this.context, (balance) => this.#setBalance(balance));
  }

  close() {
    this.controller?.abort();
  }

  #showFirst() {
    const {examples} = this.context;
    const everybody = element('section', {class: 'everybody', 'aria-label': gettext('Everybody')});
    replace(this.root, element('div', {class: 'wide workspace people-first'},
      element('div', {class: 'column hero'},
        element('div', {}, element('h1', {}, gettext('Find people by what they have done')),
          element('p', {class: 'lead'}, gettext('Say what you need: skills, places, employers, years, pay. You see how your query was understood, and why each person is here. A search costs one credit.'))),
        this.prompt.root, this.balance,
        examples.length > 0 && element('section', {'aria-label': gettext('Examples')},
          choices(gettext('Queries to try'), examples, (text) => this.context.go({q: text})))),
      everybody));
    this.prompt.focus();
    this.#discover(everybody);
  }

  /** Everybody, one page at a time. */
  async #discover(section, cursor = null) {
    const {entry} = this;
    const list = section.querySelector('ul') ?? element('ul', {class: 'cards people-grid'});
    const foot = element('div', {class: 'everybody-foot'}, loading(2));
    if (cursor === null) replace(section, foot);
    else section.append(foot);
    try {
      const page = await this.context.api.get('people', {query: {limit: DISCOVER_PAGE, cursor}});
      if (this.entry !== entry) return;
      if (cursor === null) replace(section, page.people.length > 0 && element('h2', {class: 'section-label'}, gettext('Everybody')), list);
      else foot.remove();
      const added = page.people.map((person) => element('li', {}, discoveredCard(person, this.context)));
      list.append(...added);
      // the focused button was removed
      if (cursor !== null) added[0]?.querySelector('button').focus();
      if (page.next_cursor) {
        const more = element('div', {class: 'everybody-foot'},
          button(gettext('Show more'), {onclick: () => { more.remove(); this.#discover(section, page.next_cursor); }}));
        section.append(more);
      }
    } catch (error) {
      if (this.entry === entry) replace(foot, noticeOf(error, {retry: () => { foot.remove(); this.#discover(section, cursor); }, signIn: () => this.context.session.signIn()}));
    }
  }

  #lay() {
    this.body = element('div', {class: 'people-body'});
    const heading = element('h1', {class: 'visually-hidden', tabindex: '-1'}, gettext('People: {text}', {text: this.search.q}));
    replace(this.root, element('div', {class: 'wide workspace'},
      promptBar(this.prompt, () => this.context.go({})),
      element('div', {class: 'people-head'}, this.#filters(), this.balance),
      heading, this.body));
    // the focused element was removed
    if (document.activeElement === document.body) heading.focus({preventScroll: true});
  }

  /** The filters, behind one button if the window is narrow and none is set. */
  #filters() {
    const {open, place, salary} = this.search;
    const isSet = [open, place, salary].some(Boolean);
    return element('details', {class: 'dates people-filters', open: isSet || matchMedia('(min-width: 40rem)').matches},
      element('summary', {}, icon('filter'), gettext('Filters')), element('div', {class: 'people-wishes'}, this.#wishControls()));
  }

  #wishControls() {
    const {open, place, salary} = this.search;
    const go = (changes) => this.#change(changes, this.search.understood);
    const placeField = field(gettext('Would work in'), 'text', place, gettext('any place'), (value) => go({place: value}));
    const salaryField = field(gettext('Pay offered, ₹ a year'), 'number', salary, gettext('any pay'), (value) => go({salary: value}));
    return [
      toggle(gettext('Open to work only'), {pressed: open === 'true', name: 'open', ontoggle: (pressed) => go({open: pressed ? 'true' : ''})}),
      placeField, salaryField,
    ];
  }

  /** Search the same query with other filters, or understood otherwise; null: as it was read. */
  #change(wishes, understood) {
    this.context.go({...this.#wishes(), ...wishes, q: this.search.q, understood: understood && packed(understood)});
  }

  #wishes() {
    const {open, place, salary} = this.search ?? {};
    return {open, place, salary};
  }

  /** Search; or show the stored results of a key for free, and offer to search if there are none. @param {string | null} kept */
  async #run(entry, kept = null) {
    this.controller = new AbortController();
    this.prompt.busy = true;
    replace(this.body, loading(6));
    this.context.announce(gettext('Searching people'));
    try {
      const response = await this.context.api.post('people/search', this.#request(), {
        // one history entry is one request, even after a reload, so it is charged once
        headers: {'Idempotency-Key': kept ?? entry.key}, query: kept === null ? {} : {only_kept: 'true'}, signal: this.controller.signal,
      });
      entry.save({response});
      if (this.entry === entry) this.context.go({...parametersOf(this.search), q: this.search.q, saved: this.saved, search: kept ?? entry.key}, {replace: true});
      const told = this.saved && await openedSearch(this.context, this.saved, response.people.map(({id}) => ({type: 'person', id})));
      if (told) entry.save({news: told});
      if (this.entry !== entry) return;
      this.#showResponse(response);
      this.context.announce(ngettext('{number} person', '{number} people', response.people.length));
      this.#showBalance();
    } catch (error) {
      if (this.entry !== entry) return;
      if (kept !== null && NOT_KEPT.has(error.kind)) {
        this.#offer(entry, kept !== entry.key ? SHARED : GONE);
        return;
      }
      replace(this.body, endedNotice(error, gettext('Search again'), () => this.#run(entry, kept), this.context.session),
        this.search.understood !== null && this.#understood(this.search.understood));
    } finally {
      if (this.entry === entry) this.prompt.busy = false;
    }
  }

  /** Ask before spending a credit. @param {{what: string, why: string}} offered */
  #offer(entry, {what, why}) {
    replace(this.body, element('div', {class: 'empty'}, element('h2', {class: 'empty-title'}, what),
      element('p', {}, why),
      button(gettext('Search for one credit'), {kind: 'primary', onclick: () => { entry.adopt(); entry.running = this.#run(entry); }})),
    this.search.understood !== null && this.#understood(this.search.understood));
    this.context.announce(`${what}. ${why}`);
  }

  #request() {
    const {q, open, place, salary, understood, former: before} = this.search;
    return {
      query: q,
      ...(understood !== null ? {understood} : before !== null && {constraints: before}),
      ...(open !== '' && {open_to_work_only: open === 'true'}),
      ...(place !== '' && {preferred_locations: [place]}),
      ...(salary !== '' && {salary_max: Number(salary)}),
    };
  }

  #showResponse(response) {
    const {people, understood, fallback_tier: tier, relaxations, degraded, notice} = response;
    replace(this.body,
      understood && this.#understood(understood),
      TIERS[tier] && people.length > 0 && remark(TIERS[tier]),
      degradedRemark(degraded, STEP_WORDS),
      notice && people.length > 0 && remark(notice),
      people.length === 0
        ? [element('div', {class: 'results-tools'}, this.#saver(people)), emptyState(gettext('Nobody fits'), notice ?? gettext('Drop a condition, or say it in other words.'))]
        : this.#list(people),
      understood && this.#relaxations(relaxations, understood));
  }

  /** The query with its words marked, and the conditions read from it, to edit. */
  #understood(understood) {
    const {q: question} = this.search;
    const isChanged = this.search.understood !== null;
    const chips = conditionChips(understood, {question, note: COST, onchange: (changed) => this.#change({}, changed)});
    const readAgain = () => { forgetTaken(question); this.#change({}, null); };
    return element('section', {class: 'understood', 'aria-label': gettext('How the query was understood')},
      (understood.spans ?? []).length > 0 && element('p', {class: 'understood-query'}, highlighted(question, understood)),
      (understood.chips ?? []).length === 0 && element('p', {class: 'fine'},
        isChanged ? gettext('No condition is left') : gettext('No condition was read from this'), gettext('; the closest people by meaning are shown.')),
      chips,
      element('p', {class: 'fine'}, isChanged && [
        gettext('Searched with your changes. '), element('button', {type: 'button', class: 'text-button', on: {click: readAgain}}, gettext('Read the query again')), '. ',
      ], (chips.length > 0 || isChanged) && COST));
  }

  #relaxations(relaxations, understood) {
    // the condition that excludes most first
    const helpful = relaxations.filter(({additional_people: more}) => more > 0).toSorted((one, other) => other.additional_people - one.additional_people);
    if (helpful.length === 0) return null;
    return element('section', {class: 'relaxations', 'aria-label': gettext('Relax a condition')}, element('h2', {class: 'section-label'}, gettext('Relax a condition')),
      element('div', {class: 'chips'}, helpful.map(({constraint, label: text, additional_people: more}) =>
        element('button', {type: 'button', class: 'chip toggle', data: {relax: constraint}, on: {click: () => this.#relax(constraint, understood)}},
          text, element('span', {class: 'chip-count'}, `+${more}`)))));
  }

  /** Search again without one condition: of the request's filters, of the query's, or of both. */
  #relax(constraint, understood) {
    const left = relaxed(understood, constraint);
    this.#change(constraint in WISHES ? {[WISHES[constraint]]: ''} : {}, left === understood ? this.search.understood : left);
  }

  /** The people, to sort, compare, save and export. */
  #list(people) {
    const {news} = this.entry.saved;
    this.comparison = new Comparison(people.map((person) => ({id: person.id, name: person.name ?? gettext('No name given'), rows: comparedRows(person)})), this.context);
    const list = element('ol', {class: 'cards people-list', 'aria-label': gettext('People')});
    const show = (order) => replace(list, sorted(people, ORDERS, order).map((person) => element('li', {},
      personCard(person, () => this.context.open('person', person.id, person), this.comparison.control(person.id), news?.keys.includes(`person/${person.id}`)))));
    show('best');
    const {q} = this.search;
    return [
      news && remark(news.text),
      element('div', {class: 'results-tools'}, people.length > 1 && sortControl(ORDERS, 'best', show),
        takeaway(() => takenPeople(q, people), (text) => this.context.announce(text)),
        this.#saver(people)),
      list, this.comparison.bar,
    ];
  }

  #saver(people) {
    return saver(this.context, {domain: 'people', query: this.search.q, parameters: parametersOf(this.search), results: () => people.map(({id}) => ({type: 'person', id}))});
  }

  async #showBalance() {
    if (this.context.session.canCall === false) return;
    const answer = await this.context.api.get('credits').catch(() => null);
    if (answer !== null) this.#setBalance(answer.balance);
  }

  #setBalance(balance) {
    this.balance.classList.toggle('is-empty', balance === 0);
    replace(this.balance, ngettext('{number} credit', '{number} credits', balance));
  }
}

function discoveredCard(person, context) {
  return element('button', {type: 'button', class: 'card', on: {click: () => context.open('person', person.id, person)}},
    element('span', {class: 'card-title'}, person.name ?? gettext('No name given')),
    person.city && element('span', {class: 'card-meta'}, person.city),
    person.summaries[0] && element('span', {class: 'card-text clamped'}, person.summaries[0]));
}

function field(name, type, value, placeholder, onchange) {
  if (value) return removable(`${name}: ${value}`, {label: gettext('Remove: {label}', {label: name}), onremove: () => onchange('')});
  const id = uniqueId('wish');
  return element('span', {class: 'field wish'}, element('label', {for: id}, name),
    element('input', {id, type, placeholder, min: type === 'number' ? '0' : null, maxlength: '120', on: {change: (event) => onchange(event.target.value.trim())}}));
}

/** The fields of the conditions that a relaxation drops, if not called as itself. */
const RELAXED = {
  location: ['location_text', 'city', 'country'], time: ['period', 'start_date', 'end_date'], preferred_locations: ['preferred_place'],
  open_to_work_only: ['open_to_work'], offer_salary_inr_per_year: ['salary'],
};

/**
 * The understanding without what one relaxation drops; unchanged if it drops nothing.
 * @param {import('../components/conditions.js').Understood} understood
 * @param {string} relaxation its name
 */
function relaxed(understood, relaxation) {
  const fields = RELAXED[relaxation] ?? [relaxation === 'school_norm' ? 'company_norm' : relaxation];
  const dropped = (understood.chips ?? []).find(({pointer}) => {
    const [, part, place, , inner] = pointer.split('/');
    const whole = part === 'where' && understood.query.where[place];
    if (!whole || (whole.not && relaxation !== 'open_to_work_only')) return false;
    if (whole.exists && (whole.exists === 'education') !== (relaxation === 'school_norm')) return false;
    const {field, any_of: alternatives} = inner === undefined ? whole.not ?? whole : whole.where[inner];
    return fields.includes(field) || (relaxation === 'location' && alternatives !== undefined);
  });
  return dropped ? relaxed(without(understood, dropped).left, relaxation) : understood;
}

/** The parts of a search's address other than the query. */
function parametersOf({q, understood, former: before, ...wishes}) {
  return {...Object.fromEntries(Object.entries(wishes).filter(([, value]) => value)), ...(understood ? {understood: packed(understood)} : before && {constraints: JSON.stringify(before)})};
}

/** @param {URLSearchParams} params */
function searchOf(params) {
  const salary = params.get('salary') ?? '';
  return {
    q: (params.get('q') ?? '').trim(),
    open: ['true', 'false'].includes(params.get('open') ?? '') ? params.get('open') : '',
    place: (params.get('place') ?? '').trim(),
    salary: Number(salary) > 0 ? salary : '',
    understood: unpacked(params.get('understood')),
    former: former(params),
  };
}
