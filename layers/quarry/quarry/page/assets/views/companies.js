/** Companies: a conversation that shows its steps, and the companies that it found with what speaks for each. */

import {label} from '../components/chips.js';
import {fitLevel} from '../components/confidence.js';
import {degradedRemark} from '../components/notice.js';
import {facts, openPanel} from '../components/panel.js';
import {standing} from '../components/understood.js';
import {element, outsideLink} from '../dom.js';
import {money, number, plural, words} from '../format.js';
import {Chat, stylesheet} from './chat/chat.js';
import {Turn} from './chat/turn.js';
import {reader} from './companies/constraints.js';

export {stylesheet};
export const title = 'Companies';

const MESSAGES_MAX = 50;

const STEP_WORDS = {
  company_plan: 'the plan', company_rerank: 'the ranking', company_critique: 'the check of the results', company_summary: 'the summary',
  query_embedding: 'search by meaning',
};

const STATUS_WORDS = {startup: 'Startup', acquired: 'Acquired', public: 'Public', closed: 'Closed'};

/** @param {HTMLElement} root @param {import('../app.js').Context} context */
export function mount(root, context) {
  return new Chat(root, context, {
    title: 'Find companies in plain words',
    lead: 'By what they make, for whom, or by a company that they resemble. Every step of the search is shown, and every result says why it is here.',
    label: 'Describe the companies you are looking for',
    placeholder: 'Describe the companies you are looking for',
    turn: (asked, own) => new CompaniesTurn(asked, own),
  });
}

class CompaniesTurn extends Turn {
  constructor(asked, context) {
    super(asked, context, {path: 'companies/chat', activity: 'Search'});
  }

  get body() {
    const asked = this.before.flatMap(({question, text}) => [{role: 'user', content: question}, {role: 'assistant', content: text}]);
    const last = this.before.at(-1)?.answer?.references ?? [];
    return {
      messages: [...asked, {role: 'user', content: this.question}].slice(-MESSAGES_MAX),
      ...(this.constraints !== null && {constraints: this.constraints}),
      ...(last.length > 0 && {clientContext: {previousCandidateIds: last.map(({companyId}) => companyId)}}),
    };
  }

  take(event) {
    if (event.type === 'activity') this.timeline.set(event.data);
  }

  get summary() {
    return plural(this.answer.references.length, 'company', 'companies');
  }

  get reader() {
    return reader;
  }

  found() {
    const {references, companiesById, telemetry} = this.answer;
    return [
      degradedRemark(telemetry.degradedSteps, STEP_WORDS),
      references.length > 0 && element('ol', {class: 'cards references', 'aria-label': 'Companies'}, references.map((reference) =>
        element('li', {}, referenceCard(reference, companiesById[reference.companyId])))),
    ];
  }
}

function referenceCard(reference, company) {
  return element('article', {class: 'card found'},
    element('div', {class: 'found-head'},
      element('h3', {class: 'card-title'}, element('button', {type: 'button', class: 'result-open', on: {click: () => openCompany(reference, company)}},
        reference.companyName)),
      fitLevel(reference.confidence)),
    element('p', {class: 'reference-line'}, reference.inlineDescription),
    reference.reason && reference.reason !== reference.inlineDescription && element('p', {class: 'card-text'}, reference.reason),
    standing(reference),
    element('div', {class: 'chips'}, reference.evidenceChips.map((text) => label(text))));
}

function openCompany(reference, company) {
  openPanel(reference.companyName, () => companyDetails(company), {kicker: kickerOf(company)});
}

function kickerOf(company) {
  return [STATUS_WORDS[company.status] ?? words(company.status), [company.hq_city, company.hq_country].filter(Boolean).join(', ')].filter(Boolean).join(' · ');
}

function companyDetails(company) {
  const texts = [
    ['What it does', company.description], ['Product', company.product_description], ['Problem', company.problem_solved],
    ['For whom', company.target_customer], ['What sets it apart', company.differentiator],
  ];
  return [
    company.tagline && element('p', {class: 'lead'}, company.tagline),
    texts.filter(([, text]) => text).map(([name, text]) => element('section', {}, element('h3', {class: 'section-label'}, name), element('p', {}, text))),
    company.niches.length > 0 && element('section', {}, element('h3', {class: 'section-label'}, 'Niches'),
      element('div', {class: 'chips'}, company.niches.map((niche) => label(niche)))),
    facts([
      ['Sectors', company.sectors.join(', ')],
      ['Categories', company.categories.join(', ')],
      ['Business models', company.business_models.join(', ')],
      ['Founded', company.founded_year],
      ['Closed', company.closed_year],
      ['Acquired by', company.acquirer],
      ['Founders', company.founders.join(', ')],
      ['Employees', company.employee_count == null ? null : number(company.employee_count)],
      ['Stage', company.funding_stage && words(company.funding_stage)],
      ['Funding', company.total_funding_usd == null ? null : money(company.total_funding_usd, 'USD')],
      ['Formerly', company.former_names.join(', ')],
      ['Website', company.website_url && outsideLink(company.website_url, company.website_url.replace(/^https?:\/\//, ''))],
    ]),
  ];
}
