/** A person: as a result, and in the panel with the full profile and, for a credit, contact details. */

import {pathOf} from '../../api.js';
import {label} from '../../components/chips.js';
import {noticeOf, remark} from '../../components/notice.js';
import {facts, openPanel} from '../../components/panel.js';
import {itemActions} from '../../components/takeaway.js';
import {conditionsMet, standing} from '../../components/understood.js';
import {button, element, icon, outsideLink, replace} from '../../dom.js';
import {month, rupees, words} from '../../format.js';

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
        element('button', {type: 'button', class: 'result-open', on: {click: onopen}}, person.name ?? 'No name given')),
      person.headline && element('p', {class: 'card-meta'}, person.headline)),
      conditionsMet(person)),
    standing(person),
    element('p', {class: 'card-meta'}, 'Why this card was shown:'),
    element('ul', {class: 'reasons', 'aria-label': 'Why this card was shown'}, person.why_matched.map((reason) => element('li', {}, icon('check'), element('span', {}, reason)))),
    person.matched_cards.length > 0 && element('ul', {class: 'experience', 'aria-label': 'Experience that matched'}, person.matched_cards.map((card) =>
      element('li', {}, element('span', {class: 'experience-title'}, [card.title, card.company_name].filter(Boolean).join(', ')), element('span', {class: 'card-meta'}, whereAndWhen(card))))),
    element('div', {class: 'chips'}, isNew && label('New', {tone: 'accent'}), availability(person), control));
}

/** The rows of a comparison of people. @param {any} person @returns {[name: string, value: import('../../dom.js').Child][]} */
export function comparedRows(person) {
  return [
    ['Headline', person.headline],
    ['Meets', (person.meets ?? []).join(', ')],
    ['Misses', (person.misses ?? []).join(', ')],
    ['Experience that matched', person.matched_cards.map((card) => [card.title, card.company_name, whereAndWhen(card)].filter(Boolean).join(', ')).join('\n')],
    ['Open to', [person.open_to_work && 'work', person.open_to_contact && 'contact'].filter(Boolean).join(' and ')],
    ['Prefers', person.work_preferred_locations.join(', ')],
    ['Pay asked', person.work_preferred_salary_min == null ? null : `from ${rupees(person.work_preferred_salary_min)} a year`],
    ['Why', person.why_matched.join('\n')],
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
    person.open_to_work && label('Open to work', {tone: 'accent'}),
    !person.open_to_work && person.open_to_contact && label('Open to contact'),
    person.work_preferred_locations.length > 0 && label(`Prefers ${person.work_preferred_locations.join(', ')}`),
    salary != null && label(`From ${rupees(salary)} a year`),
  ];
}

function whereAndWhen(card) {
  const from = card.start_date && month(card.start_date);
  const to = card.is_current ? 'now' : card.end_date && month(card.end_date);
  const when = from && to ? `${from} – ${to}` : from ? `since ${from}` : to ? `until ${to}` : null;
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
  return openPanel(name ?? 'No name given', async (panel) => {
    const search = await searchOf();
    const profile = await context.api.get(search ? pathOf('people', id) : pathOf('people', id, 'profile'), {query: {search_id: search}});
    panel.setTitle(profile.name ?? 'No name given', profile.headline ?? headline);
    return [search && contactSection(profile, search, context, onbalance), profileParts(profile), itemActions('person', id, context)];
  }, {kicker: headline, signIn: () => context.session.signIn()});
}

function contactSection(profile, searchId, context, onbalance) {
  const section = element('section', {class: 'contact', 'aria-label': 'Contact'});
  const show = () => {
    if (profile.contact) replace(section, contactFacts(profile.contact));
    else if (profile.open_to_work || profile.open_to_contact) replace(section, unlockButton(), element('p', {class: 'fine'}, 'Costs one credit, once.'));
    else replace(section, remark('This person is not open to contact.'));
  };
  const unlockButton = () => {
    const control = button([icon('lock'), 'Show contact details'], {kind: 'primary', onclick: async () => {
      control.disabled = true;
      try {
        const unlocked = await context.api.post(pathOf('people', profile.id, 'unlock-contact'), {search_id: searchId});
        profile.contact = unlocked.contact;
        onbalance(unlocked.balance);
        show();
        context.announce(unlocked.charged ? 'Contact shown. One credit was used.' : 'Contact shown.');
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
    ['Email', email && element('a', {href: `mailto:${email}`}, email)],
    ['Telephone', phone && element('a', {href: `tel:${phone.replace(/[^+\d]/g, '')}`}, phone)],
    ['Links', links.map((link) => element('div', {}, outsideLink(link, link.replace(/^https?:\/\//, ''))))],
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
