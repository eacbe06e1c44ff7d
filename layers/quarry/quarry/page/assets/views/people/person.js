/** A person: as a result, and in the panel with the whole profile and, for a credit, how to reach them. */

import {pathOf} from '../../api.js';
import {label} from '../../components/chips.js';
import {noticeOf, remark} from '../../components/notice.js';
import {facts, openPanel} from '../../components/panel.js';
import {conditionsMet, standing} from '../../components/understood.js';
import {button, element, icon, outsideLink, replace} from '../../dom.js';
import {month, rupees, words} from '../../format.js';

/** @param {any} person a result @param {() => void} onopen */
export function personCard(person, onopen) {
  return element('article', {class: 'card found'},
    element('div', {class: 'found-head'},
      element('div', {}, element('h2', {class: 'card-title'},
        element('button', {type: 'button', class: 'result-open', on: {click: onopen}}, person.name ?? 'Somebody')),
      person.headline && element('p', {class: 'card-meta'}, person.headline)),
      conditionsMet(person)),
    standing(person),
    element('ul', {class: 'reasons', 'aria-label': 'Why'}, person.why_matched.map((reason) => element('li', {}, icon('check'), element('span', {}, reason)))),
    person.matched_cards.length > 0 && element('ul', {class: 'experience', 'aria-label': 'Experience that matched'}, person.matched_cards.map((card) =>
      element('li', {}, element('span', {class: 'experience-title'}, [card.title, card.company_name].filter(Boolean).join(', ')), element('span', {class: 'card-meta'}, whereAndWhen(card))))),
    element('div', {class: 'chips'}, availability(person)));
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
 * The profile within a search, contact details included once they are unlocked.
 * @param {any} person
 * @param {string} searchId
 * @param {import('../../app.js').Context} context
 * @param {(balance: number) => void} onbalance
 */
export function openPerson(person, searchId, context, onbalance) {
  openPanel(person.name ?? 'Somebody', async () => {
    const profile = await context.api.get(pathOf('people', person.id), {query: {search_id: searchId}});
    return [contactSection(profile, searchId, context, onbalance), profileParts(profile)];
  }, {kicker: person.headline ?? undefined, signIn: () => context.session.signIn()});
}

/** The profile that everybody may see. */
export function openPublicProfile(person, context) {
  openPanel(person.name ?? 'Somebody', async () => profileParts(await context.api.get(pathOf('people', person.id, 'profile'))),
    {kicker: person.city ?? undefined, signIn: () => context.session.signIn()});
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
