/** Companies: a conversation that shows its steps, and the companies it found with the reasons for each. */

import {pathOf} from '../api.js';
import {label} from '../components/chips.js';
import {Comparison, openComparison} from '../components/compare.js';
import {fitLevel} from '../components/confidence.js';
import {degradedRemark} from '../components/notice.js';
import {numberCharts} from '../components/numbers.js';
import {facts, openPanel} from '../components/panel.js';
import {sortControl, sorted} from '../components/sorting.js';
import {itemActions, markdownText, takeaway} from '../components/takeaway.js';
import {standing} from '../components/understood.js';
import {element, outsideLink, replace} from '../dom.js';
import {money, number, plural, words} from '../format.js';
import {Chat} from './chat/chat.js';
import {Turn} from './chat/turn.js';

export const title = 'Companies';

const MESSAGES_MAX = 50;

const STEP_WORDS = {
  company_plan: 'the plan', company_rerank: 'the ranking', company_critique: 'the check of the results', company_summary: 'the summary',
  companies_answer: 'the answer',
  query_embedding: 'search by meaning',
};

const STATUS_WORDS = {startup: 'Startup', acquired: 'Acquired', public: 'Public', closed: 'Closed'};

/** @param {HTMLElement} root @param {import('../app.js').Context} context */
export function mount(root, context) {
  return new Chat(root, context, {
    domain: 'companies',
    open: (type, id, hint, answersOf) => openFound(type, id, hint, answersOf, context),
    title: 'Find companies in plain words',
    lead: 'Describe what they make and for whom, or name a similar company. You see every step of the search, and why each result is here.',
    label: 'Describe the companies you are looking for',
    placeholder: 'Describe the companies you are looking for',
    turn: (asked, own) => new CompaniesTurn(asked, own, 'companies'),
  });
}

class CompaniesTurn extends Turn {
  get body() {
    const asked = this.before.flatMap(({question, text}) => [{role: 'user', content: question}, {role: 'assistant', content: text}]);
    const last = this.before.at(-1)?.answer?.references ?? [];
    const sessionId = this.before.find(({answer}) => answer?.sessionId)?.answer.sessionId;
    return {
      messages: [...asked, {role: 'user', content: this.question}].slice(-MESSAGES_MAX),
      ...this.sentChanges,
      ...(sessionId && {sessionId}),
      ...(last.length > 0 && {clientContext: {previousCandidateIds: last.map(({companyId}) => companyId)}}),
    };
  }

  take(event) {
    if (event.type === 'activity') this.timeline.set(event.data);
  }

  get summary() {
    return plural(this.answer.references.length, 'company', 'companies');
  }

  get results() {
    return this.answer.references.map(({companyId: id}) => ({type: 'company', id}));
  }

  /** The groups of numbers. */
  figure() {
    return numberCharts(this.answer.aggregation ?? undefined, undefined, this.context.announce);
  }

  found() {
    const {references, companiesById, telemetry} = this.answer;
    const comparison = new Comparison(references.map((reference) => candidateOf(reference, companiesById[reference.companyId])), this.context);
    const list = element('ol', {class: 'cards references', 'aria-label': 'Companies'});
    const show = (order) => replace(list, sorted(references, orders(companiesById), order).map((reference) => element('li', {},
      referenceCard(reference, () => this.context.open('company', reference.companyId, {...reference, company: companiesById[reference.companyId]}), comparison.control(reference.companyId), this.isNew('company', reference.companyId)))));
    show('best');
    return [
      degradedRemark(telemetry.degradedSteps, STEP_WORDS),
      (references.length > 0 || this.before.length === 0) && element('div', {class: 'results-tools'}, references.length > 1 && sortControl(orders(companiesById), 'best', show),
        references.length > 0 && takeaway(() => takenCompanies(this), (text) => this.context.announce(text)), this.saver),
      references.length > 0 && list, comparison.bar,
    ];
  }
}

const TAKEN = ['tagline', 'status', 'hq_city', 'hq_country', 'founded_year', 'employee_count', 'funding_stage', 'total_funding_usd', 'sectors', 'categories', 'business_models', 'website_url'];

/** @param {CompaniesTurn} turn @returns {import('../components/takeaway.js').Taken} */
function takenCompanies({question, text, answer: {references, companiesById}}) {
  const rows = references.map((each) => [each.companyId, each.companyName, each.reason, each.meets, each.misses, ...TAKEN.map((name) => companiesById[each.companyId]?.[name])]);
  const list = references.map((each) => `- **${markdownText(each.companyName)}**: ${markdownText(each.reason)}`);
  return {
    name: question,
    columns: ['id', 'name', 'reason', 'meets', 'misses', ...TAKEN],
    rows,
    json: {question, answer: text, companies: references.map((each) => ({...each, company: companiesById[each.companyId]}))},
    markdown: `# ${markdownText(question)}\n\n${text}\n\n${list.join('\n')}\n`,
  };
}

function orders(companies) {
  const of = (name) => ({companyId}) => companies[companyId]?.[name];
  return [
    {name: 'best', label: 'Best match'},
    {name: 'name', label: 'Name', key: ({companyName}) => companyName},
    {name: 'founded', label: 'Founded, latest first', key: of('founded_year'), isDescending: true},
    {name: 'funding', label: 'Funding, most first', key: of('total_funding_usd'), isDescending: true},
    {name: 'size', label: 'Employees, most first', key: of('employee_count'), isDescending: true},
  ];
}

/** @returns {import('../components/compare.js').Candidate} */
function candidateOf({companyId: id, companyName: name, ...reference}, company = {}) {
  return {id, name, rows: [
    ['What it does', company.tagline ?? reference.inlineDescription],
    ['Meets', (reference.meets ?? []).join(', ')],
    ['Misses', (reference.misses ?? []).join(', ')],
    ['Status', company.status && (STATUS_WORDS[company.status] ?? words(company.status))],
    ['Where', [company.hq_city, company.hq_country].filter(Boolean).join(', ')],
    ['Founded', company.founded_year],
    ['Employees', company.employee_count == null ? null : number(company.employee_count)],
    ['Stage', stageOf(company)],
    ['Funding', company.total_funding_usd == null ? null : money(company.total_funding_usd, 'USD')],
    ['For whom', company.target_customer],
    ['What sets it apart', company.differentiator],
    ['Business models', (company.business_models ?? []).join(', ')],
  ]};
}

/** A funding round named by a letter gets a capital one. */
function stageOf({funding_stage: stage}) {
  return stage && words(stage).replace(/ [a-z]$/, (letter) => letter.toUpperCase());
}

/** One company of the answers, or several side by side. */
function openFound(type, id, hint, answersOf, context) {
  if (type === 'compare') {
    return openComparison(id.split(','), async () => (await answersOf()).flatMap(({references, companiesById}) =>
      references.map((reference) => candidateOf(reference, companiesById[reference.companyId]))));
  }
  if (type !== 'company') return null;
  return openPanel(hint?.companyName ?? 'Company', async (panel) => {
    const company = hint?.company ?? await context.api.get(pathOf('companies', id));
    panel.setTitle(company.company_name, kickerOf(company));
    return [companyDetails(company), itemActions('company', id, context)];
  }, {signIn: () => context.session.signIn()});
}

function referenceCard(reference, onopen, control, isNew) {
  return element('article', {class: 'card found'},
    element('div', {class: 'found-head'},
      element('h3', {class: 'card-title'}, element('button', {type: 'button', class: 'result-open', on: {click: onopen}},
        reference.companyName)),
      fitLevel(reference.confidence)),
    element('p', {class: 'reference-line'}, reference.inlineDescription),
    reference.reason && reference.reason !== reference.inlineDescription && element('p', {class: 'card-text'}, reference.reason),
    standing(reference),
    element('div', {class: 'chips'}, isNew && label('New', {tone: 'accent'}), reference.evidenceChips.map((text) => label(text)), control));
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
      ['Stage', stageOf(company)],
      ['Funding', company.total_funding_usd == null ? null : money(company.total_funding_usd, 'USD')],
      ['Formerly', company.former_names.join(', ')],
      ['Website', company.website_url && outsideLink(company.website_url, company.website_url.replace(/^https?:\/\//, ''))],
    ]),
  ];
}
