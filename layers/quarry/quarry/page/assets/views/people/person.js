/** A person: as a result, and in the panel with the full profile and, for a credit, contact details. */

import {pathOf} from '../../api.js';
import {label} from '../../components/chips.js';
import {noticeOf, remark} from '../../components/notice.js';
import {facts, openPanel} from '../../components/panel.js';
import {itemActions} from '../../components/takeaway.js';
import {conditionsMet, standing} from '../../components/understood.js';
import {button, element, icon, outsideLink, replace} from '../../dom.js';
import {month, rupees, words} from '../../format.js';
import {gettext} from '../../messages.js';

/**
 * @param {any} person a result
 * @param {() => void} onopen
 * @param {import('../../dom.js').Child} [control] another control
 * @param {boolean} [isNew] the saved search has not shown it before
 */
export function personCard(person, onopen, control, isNew = false) {
  return element('article', {class: 'card found'},
    element('div', {class: 'found-head'},
      element('div', {}, element('h2', {class: 'card-title'},
        element('button', {type: 'button', class: 'result-open', on: {click: onopen}}, person.name ?? gettext('No name given'))),
      person.headline && element('p', {class: 'card-meta'}, person.headline)),
      conditionsMet(person)),
    standing(person),
    element('p', {class: 'card-meta'}, gettext('Why this card was shown:')),
    element('ul', {class: 'reasons', 'aria-label': gettext('Why this card was shown')}, person.why_matched.map((reason) => element('li', {}, icon('check'), element('span', {}, reason)))),
    person.matched_cards.length > 0 && element('ul', {class: 'experience', 'aria-label': gettext('Experience that matched')}, person.matched_cards.map((card) =>
      element('li', {}, element('span', {class: 'experience-title'}, [card.title, card.company_name].filter(Boolean).join(', ')), element('span', {class: 'card-meta'}, whereAndWhen(card))))),
    element('div', {class: 'chips'}, isNew && label(gettext('New'), {tone: 'accent'}), availability(person), control));
}

/** The rows of a comparison of people. @param {any} person @returns {[name: string, value: import('../../dom.js').Child][]} */
export function comparedRows(person) {
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

/** The people found, without paid contact details. @returns {import('../../components/takeaway.js').Taken} */
export function takenPeople(name, people) {
  const columns = ['id', 'name', 'headline', 'bio', 'meets', 'misses', 'why_matched', 'open_to_work', 'open_to_contact', 'work_preferred_locations', 'work_preferred_salary_min'];
  return {name, columns, rows: people.map((person) => columns.map((column) => person[column]))};
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

/**
 * A person's profile: within a search with access to contact details, otherwise the public profile.
 * @param {{id: string, name?: string, headline?: string}} person
 * @param {() => Promise<string | null>} searchOf resolves to the search that found them, if any
 * @param {import('../../app.js').Context} context
 * @param {(balance: number) => void} onbalance
 */
export function openPerson({id, name, headline}, searchOf, context, onbalance) {
  return openPanel(name ?? gettext('No name given'), async (panel) => {
    const search = await searchOf();
    const profile = await context.api.get(search ? pathOf('people', id) : pathOf('people', id, 'profile'), {query: {search_id: search}});
    panel.setTitle(profile.name ?? gettext('No name given'), profile.headline ?? headline);
    return [search && contactSection(profile, search, context, onbalance), profileParts(profile), itemActions('person', id, context)];
  }, {kicker: headline, signIn: () => context.session.signIn()});
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
        replace(section, noticeOf(error, {retry: show, signIn: () => context.session.signIn()}));
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
