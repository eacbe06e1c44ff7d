/** People: how the query was understood, who fits and why, how to find more, and contact details for a credit.
 *
 * The address is the state: `q`, the query; `open`, only people who are open to work; `place` and `salary`, what is offered;
 * `understood`, how the query is understood if the reader changed that; `search`, the key of the search. An address with a key
 * shows the stored results, if they still exist and the search was the reader's own. Any other address that the reader comes to
 * from outside the page offers to search, because a search costs a credit. Without a query, everybody is listed. */

import {pathOf} from '../api.js';
import {conditionChips, conditionsMet, forgetRemoved, former, highlighted, packed, standing, unpacked, without} from '../components/conditions.js';
import {degradedRemark, emptyState, facts, loading, noticeOf, openPanel, remark} from '../components/panel.js';
import {actionChip, buttonCard, Comparison, foundCard, itemActions, label, newMark, openComparison, openedSearch, removable, resultList, saver, toggle} from '../components/results.js';
import {button, element, icon, outsideLink, replace, textButton, uniqueId} from '../dom.js';
import {month, rupees, words} from '../format.js';
import {gettext, ngettext} from '../messages.js';
import {View} from './view.js';

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

const STORED = gettext('Results are kept for a day, for the person who searched.');
/** Why a search is offered instead of run. */
const ARRIVED = {what: gettext('This link is a search for people'), why: gettext('Running it costs one credit.')};
const SHARED = {what: gettext('This search was shared with you'), why: [STORED, gettext('Searching yourself costs one credit.')].join(' ')};
const GONE = {what: gettext('What this search found is no longer here'), why: [STORED, gettext('Searching again costs one credit.')].join(' ')};

/** An earlier search is not available: it is not the reader's, has expired, or was another one. */
const NOT_STORED = new Set(['not_found', 'expired', 'conflict']);

/** What a person's export has; not the paid contact details. */
const EXPORTED = ['id', 'name', 'headline', 'bio', 'meets', 'misses', 'why_matched', 'open_to_work', 'open_to_contact', 'work_preferred_locations', 'work_preferred_salary_min'];

export class PeopleView extends View {
  constructor(root, context) {
    super(root, context, {
      label: gettext('Describe who you are looking for'), placeholder: gettext('Describe who you are looking for'),
      onsubmit: (text) => context.go({...this.#wishes(), q: text}),
    });
    this.balance = element('span', {class: 'balance'});
  }

  show(params, entry) {
    this.#showBalance();
    super.show(params, entry);
  }

  searchOf(params) {
    const salary = params.get('salary') ?? '';
    return {
      ...super.searchOf(params),
      open: ['true', 'false'].includes(params.get('open') ?? '') ? params.get('open') : '',
      place: (params.get('place') ?? '').trim(),
      salary: Number(salary) > 0 ? salary : '',
      understood: unpacked(params.get('understood')),
      former: former(params),
    };
  }

  showSearch(params, entry) {
    this.lay(gettext('People: {text}', {text: this.search.q}), element('div', {class: 'people-body'}),
      element('div', {class: 'people-head'}, this.#filters(), this.balance));
    if (entry.saved.response) this.#showResponse(entry.saved.response);
    else if (entry.isArrival && !params.has('search')) this.#offerSearch(entry, ARRIVED);
    else entry.running = this.#run(entry, params.get('search'));
  }

  /** One person: as found here, otherwise the public profile. */
  open(type, id, hint) {
    const {entry, context} = this;
    if (type === 'compare') {
      return openComparison(id.split(','), async () => {
        await entry.running;
        return this.comparison?.candidates ?? [];
      }, context);
    }
    if (type !== 'person') return null;
    const headline = hint?.headline ?? hint?.city;
    return openPanel(hint?.name ?? gettext('No name given'), async (panel) => {
      await entry.running;
      const {response} = entry.saved;
      const search = response?.people.some((person) => person.id === id) ? response.search_id : null;
      const profile = await context.api.get(search ? pathOf('people', id) : pathOf('people', id, 'profile'), {query: {search_id: search}});
      panel.setTitle(profile.name ?? gettext('No name given'), profile.headline ?? headline);
      return [search && contactSection(profile, search, context, (balance) => this.#setBalance(balance)), profileParts(profile), itemActions('person', id, context)];
    }, context, {kicker: headline});
  }

  showFirst() {
    const everybody = element('section', {class: 'everybody', 'aria-label': gettext('Everybody')});
    const text = {
      title: gettext('Find people by what they have done'), label: gettext('Queries to try'),
      lead: gettext('Say what you need: skills, places, employers, years, pay. You see how your query was understood, and why each person is here. A search costs one credit.'),
    };
    replace(this.root, element('div', {class: 'wide workspace people-first'}, this.hero(text, (query) => this.context.go({q: query}), this.balance), everybody));
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
      if (this.entry === entry) replace(foot, noticeOf(error, {retry: () => { foot.remove(); this.#discover(section, cursor); }, context: this.context}));
    }
  }

  /** The filters, behind one button if the window is narrow and none is set. */
  #filters() {
    const {open, place, salary} = this.search;
    const go = (changes) => this.#change(changes, this.search.understood);
    return element('details', {class: 'dates people-filters', open: [open, place, salary].some(Boolean) || matchMedia('(min-width: 40rem)').matches},
      element('summary', {}, icon('filter'), gettext('Filters')),
      element('div', {class: 'people-wishes'},
        toggle(gettext('Open to work only'), {pressed: open === 'true', name: 'open', ontoggle: (pressed) => go({open: pressed ? 'true' : ''})}),
        field(gettext('Would work in'), 'text', place, gettext('any place'), (value) => go({place: value})),
        field(gettext('Pay offered, ₹ a year'), 'number', salary, gettext('any pay'), (value) => go({salary: value}))));
  }

  /** Search the same query with other filters, or understood otherwise; null: as it was read. */
  #change(wishes, understood) {
    this.context.go({...this.#wishes(), ...wishes, q: this.search.q, understood: understood && packed(understood)});
  }

  #wishes() {
    const {open, place, salary} = this.search ?? {};
    return {open, place, salary};
  }

  /** Search; or show the stored results of a key for free, and offer to search if there are none. @param {string | null} key */
  #run(entry, key = null) {
    this.context.announce(gettext('Searching people'));
    return this.attempt(entry, {place: this.body, lines: 6, label: gettext('Search again'), again: () => this.#run(entry, key)}, async (signal) => {
      let response;
      try {
        response = await this.context.api.post('people/search', this.#request(), {
          // one history entry is one request, even after a reload, so it is charged once
          headers: {'Idempotency-Key': key ?? entry.key}, query: key === null ? {} : {only_kept: 'true'}, signal,
        });
      } catch (error) {
        if (key === null || !NOT_STORED.has(error.kind)) throw error;
        if (this.entry === entry) this.#offerSearch(entry, key !== entry.key ? SHARED : GONE);
        return;
      }
      entry.save({response});
      if (this.entry === entry) this.context.go({...parametersOf(this.search), q: this.search.q, saved: this.saved, search: key ?? entry.key}, {replace: true});
      const news = this.saved && await openedSearch(this.context, this.saved, response.people.map(({id}) => ({type: 'person', id})));
      if (news) entry.save({news});
      if (this.entry !== entry) return;
      this.#showResponse(response);
      this.context.announce(ngettext('{number} person', '{number} people', response.people.length));
      this.#showBalance();
    });
  }

  /** A change that fails can be changed again. */
  below() {
    return this.search.understood !== null && this.#understood(this.search.understood);
  }

  /** Ask before spending a credit. @param {{what: string, why: string}} offer */
  #offerSearch(entry, {what, why}) {
    replace(this.body, element('div', {class: 'empty'}, element('h2', {class: 'empty-title'}, what),
      element('p', {}, why),
      button(gettext('Search for one credit'), {kind: 'primary', onclick: () => { entry.adopt(); entry.running = this.#run(entry); }})),
    this.below());
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
    const {news} = this.entry.saved;
    replace(this.body,
      understood && this.#understood(understood),
      TIERS[tier] && people.length > 0 && remark(TIERS[tier]),
      degradedRemark(degraded, STEP_WORDS),
      notice && people.length > 0 && remark(notice),
      news && people.length > 0 && remark(news.text),
      this.#list(people, news),
      people.length === 0 && emptyState(gettext('Nobody fits'), notice ?? gettext('Drop a condition, or say it in other words.')),
      understood && this.#relaxations(relaxations, understood));
  }

  /** The query with its words marked, and the conditions read from it, to edit. */
  #understood(understood) {
    const {q: question} = this.search;
    const isChanged = this.search.understood !== null;
    const chips = conditionChips(understood, {question, note: COST, onchange: (changed) => this.#change({}, changed)});
    const readAgain = () => { forgetRemoved(question); this.#change({}, null); };
    return element('section', {class: 'understood', 'aria-label': gettext('How the query was understood')},
      (understood.spans ?? []).length > 0 && element('p', {class: 'understood-query'}, highlighted(question, understood)),
      (understood.chips ?? []).length === 0 && element('p', {class: 'fine'},
        isChanged ? gettext('No condition is left') : gettext('No condition was read from this'), gettext('; the closest people by meaning are shown.')),
      chips,
      element('p', {class: 'fine'}, isChanged && [gettext('Searched with your changes. '), textButton(gettext('Read the query again'), readAgain), '. '],
        (chips.length > 0 || isChanged) && COST));
  }

  #relaxations(relaxations, understood) {
    // the condition that excludes most first
    const helpful = relaxations.filter(({additional_people: more}) => more > 0).toSorted((one, other) => other.additional_people - one.additional_people);
    if (helpful.length === 0) return null;
    return element('section', {class: 'relaxations', 'aria-label': gettext('Relax a condition')}, element('h2', {class: 'section-label'}, gettext('Relax a condition')),
      element('div', {class: 'chips'}, helpful.map(({constraint, label: text, additional_people: more}) =>
        actionChip(text, () => this.#relax(constraint, understood), {count: `+${more}`, data: {relax: constraint}}))));
  }

  /** Search again without one condition: of the request's filters, of the query's, or of both. */
  #relax(constraint, understood) {
    const rest = relaxed(understood, constraint);
    this.#change(constraint in WISHES ? {[WISHES[constraint]]: ''} : {}, rest === understood ? this.search.understood : rest);
  }

  #list(people, news) {
    const {q} = this.search;
    this.comparison = new Comparison(people.map((person) => ({id: person.id, name: person.name ?? gettext('No name given'), rows: comparedRows(person)})), this.context);
    return [resultList({
      class: 'cards people-list', 'aria-label': gettext('People'), results: people, orders: ORDERS,
      item: (person) => element('li', {},
        personCard(person, () => this.context.open('person', person.id, person), this.comparison.control(person.id), news?.keys.includes(`person/${person.id}`))),
      table: (sorted) => ({name: q, columns: EXPORTED, rows: sorted.map((person) => EXPORTED.map((column) => person[column]))}),
      saver: saver(this.context, () => ({domain: 'people', query: q, parameters: parametersOf(this.search), results: people.map(({id}) => ({type: 'person', id}))})),
    }, this.context), this.comparison.bar];
  }

  async #showBalance() {
    const answer = await this.context.api.get('credits').catch(() => null);
    if (answer !== null) this.#setBalance(answer.balance);
  }

  #setBalance(balance) {
    this.balance.classList.toggle('is-empty', balance === 0);
    replace(this.balance, ngettext('{number} credit', '{number} credits', balance));
  }
}

function discoveredCard(person, context) {
  return buttonCard({title: person.name ?? gettext('No name given')}, () => context.open('person', person.id, person),
    person.city && element('span', {class: 'card-meta'}, person.city),
    person.summaries[0] && element('span', {class: 'card-text clamped'}, person.summaries[0]));
}

function personCard(person, onopen, control, isNew) {
  return foundCard({title: person.name ?? gettext('No name given'), line: person.headline, beside: conditionsMet(person)}, onopen, 'h2',
    standing(person),
    element('p', {class: 'card-meta'}, gettext('Why this card was shown:')),
    element('ul', {class: 'reasons', 'aria-label': gettext('Why this card was shown')}, person.why_matched.map((reason) => element('li', {}, icon('check'), element('span', {}, reason)))),
    person.matched_cards.length > 0 && element('ul', {class: 'experience', 'aria-label': gettext('Experience that matched')}, person.matched_cards.map((card) =>
      element('li', {}, element('span', {class: 'experience-title'}, [card.title, card.company_name].filter(Boolean).join(', ')), element('span', {class: 'card-meta'}, whereAndWhen(card))))),
    element('div', {class: 'chips'}, newMark(isNew), availability(person), control));
}

function comparedRows(person) {
  return [
    [gettext('Headline'), person.headline],
    [gettext('Meets'), (person.meets ?? []).join(', ')],
    [gettext('Misses'), (person.misses ?? []).join(', ')],
    [gettext('Experience that matched'), person.matched_cards.map((card) => [card.title, card.company_name, whereAndWhen(card)].filter(Boolean).join(', ')).join('\n')],
    [gettext('Open to'), [person.open_to_work && gettext('work'), person.open_to_contact && gettext('contact')].filter(Boolean).join(gettext(' and '))],
    [gettext('Prefers'), person.work_preferred_locations.join(', ')],
    [gettext('Pay asked'), person.work_preferred_salary_min == null ? null : gettext('from {amount} a year', {amount: rupees(person.work_preferred_salary_min)})],
    [gettext('Why'), person.why_matched.join('\n')],
  ];
}

function availability(person) {
  const salary = person.work_preferred_salary_min;
  return [
    person.open_to_work && label(gettext('Open to work'), {tone: 'accent'}),
    !person.open_to_work && person.open_to_contact && label(gettext('Open to contact')),
    person.work_preferred_locations.length > 0 && label(gettext('Prefers {places}', {places: person.work_preferred_locations.join(', ')})),
    salary != null && label(gettext('From {amount} a year', {amount: rupees(salary)})),
  ];
}

function whereAndWhen(card) {
  const from = card.start_date && month(card.start_date);
  const to = card.is_current ? 'now' : card.end_date && month(card.end_date);
  const when = from && to ? `${from} – ${to}` : from ? gettext('since {day}', {day: from}) : to ? gettext('until {day}', {day: to}) : null;
  return [card.location ?? card.city, when].filter(Boolean).join(' · ');
}

function contactSection(profile, searchId, context, onbalance) {
  const section = element('section', {class: 'contact', 'aria-label': gettext('Contact')});
  const show = () => {
    if (profile.contact) replace(section, contactFacts(profile.contact));
    else if (profile.open_to_work || profile.open_to_contact) replace(section, unlockButton(), element('p', {class: 'fine'}, gettext('Costs one credit, once.')));
    else replace(section, remark(gettext('This person is not open to contact.')));
  };
  const unlockButton = () => {
    const control = button([icon('lock'), gettext('Show contact details')], {kind: 'primary', onclick: async () => {
      control.disabled = true;
      try {
        const unlocked = await context.api.post(pathOf('people', profile.id, 'unlock-contact'), {search_id: searchId});
        profile.contact = unlocked.contact;
        onbalance(unlocked.balance);
        show();
        context.announce(unlocked.charged ? gettext('Contact shown. One credit was used.') : gettext('Contact shown.'));
      } catch (error) {
        replace(section, noticeOf(error, {retry: show, context}));
      }
    }});
    return control;
  };
  show();
  return section;
}

function contactFacts({email, phone, links}) {
  return facts([
    [gettext('Email'), email && element('a', {href: `mailto:${email}`}, email)],
    [gettext('Telephone'), phone && element('a', {href: `tel:${phone.replace(/[^+\d]/g, '')}`}, phone)],
    [gettext('Links'), links.map((link) => element('div', {}, outsideLink(link, link.replace(/^https?:\/\//, ''))))],
  ]);
}

function profileParts(profile) {
  return [
    profile.bio && element('p', {class: 'record-text'}, profile.bio),
    element('div', {class: 'chips'}, [profile.city, profile.country].filter(Boolean).length > 0 && label([profile.city, profile.country].filter(Boolean).join(', ')), availability(profile)),
    element('ol', {class: 'career'}, profile.cards.map(experience)),
  ];
}

function experience(card) {
  return element('li', {class: 'career-card'},
    element('h3', {class: 'experience-title'}, [card.title, card.company_name].filter(Boolean).join(', ')),
    element('p', {class: 'card-meta'}, [whereAndWhen(card), card.employment_type && words(card.employment_type)].filter(Boolean).join(' · ')),
    card.summary && element('p', {class: 'card-text'}, card.summary),
    card.skills.length > 0 && element('div', {class: 'chips'}, card.skills.map((skill) => label(skill))),
    card.children.length > 0 && element('ul', {class: 'career-children'}, card.children.map((child) =>
      element('li', {}, element('b', {}, child.headline ?? child.title), child.summary && ` ${child.summary}`))));
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

/** The understanding without what one relaxation drops; unchanged if it drops nothing. @param {string} relaxation its name */
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
  return dropped ? relaxed(without(understood, dropped).rest, relaxation) : understood;
}

/** The parts of a search's address other than the query. */
function parametersOf({q, understood, former: before, ...wishes}) {
  return {...Object.fromEntries(Object.entries(wishes).filter(([, value]) => value)), ...(understood ? {understood: packed(understood)} : before && {constraints: JSON.stringify(before)})};
}
