/** Companies: a conversation that shows its steps, and the companies it found with the reasons for each. */

import {pathOf} from '../api.js';
import {numberCharts} from '../components/charts.js';
import {standing} from '../components/conditions.js';
import {fitLevel} from '../components/confidence.js';
import {degradedRemark, facts, openPanel} from '../components/panel.js';
import {answerMarkdown, Comparison, foundCard, itemActions, label, markdownText, newMark, openComparison, resultList} from '../components/results.js';
import {element, outsideLink} from '../dom.js';
import {money, number, words} from '../format.js';
import {gettext, ngettext} from '../messages.js';
import {Chat, Turn} from './chat.js';

const MESSAGES_MAX = 50;

const STEP_WORDS = {
  company_plan: gettext('the plan'), company_rerank: gettext('the ranking'), company_critique: gettext('the check of the results'), company_summary: gettext('the summary'),
  companies_answer: gettext('the answer'),
  query_embedding: gettext('search by meaning'),
};

const STATUS_WORDS = {startup: gettext('Startup'), acquired: gettext('Acquired'), public: gettext('Public'), closed: gettext('Closed')};

const EXPORTED = ['tagline', 'status', 'hq_city', 'hq_country', 'founded_year', 'employee_count', 'funding_stage', 'total_funding_usd', 'sectors', 'categories', 'business_models', 'website_url'];

export class CompaniesView extends Chat {
  constructor(root, context) {
    super(root, context, 'companies', {
      title: gettext('Find companies in plain words'),
      lead: gettext('Describe what they make and for whom, or name a similar company. You see every step of the search, and why each result is here.'),
      label: gettext('Describe the companies you are looking for'),
      placeholder: gettext('Describe the companies you are looking for'),
    });
  }

  turn(asked) {
    return new CompaniesTurn(asked, this.context, 'companies');
  }

  /** One company of the answers, or several side by side. */
  open(type, id, hint) {
    const {context, entry} = this;
    if (type === 'compare') {
      return openComparison(id.split(','), async () => (await this.answersOf(entry)).flatMap(({references, companiesById}) =>
        references.map((reference) => candidateOf(reference, companiesById[reference.companyId]))), context);
    }
    if (type !== 'company') return null;
    return openPanel(hint?.companyName ?? gettext('Company'), async (panel) => {
      const company = hint?.company ?? await context.api.get(pathOf('companies', id));
      panel.setTitle(company.company_name, [statusOf(company), placeOf(company)].filter(Boolean).join(' · '));
      return [companyDetails(company), itemActions('company', id, context)];
    }, context);
  }
}

class CompaniesTurn extends Turn {
  get body() {
    const messages = this.before.flatMap(({question, text}) => [{role: 'user', content: question}, {role: 'assistant', content: text}]);
    const last = this.before.at(-1)?.answer?.references ?? [];
    const sessionId = this.before.find(({answer}) => answer?.sessionId)?.answer.sessionId;
    return {
      messages: [...messages, {role: 'user', content: this.question}].slice(-MESSAGES_MAX),
      ...this.sentChanges,
      ...(sessionId && {sessionId}),
      ...(last.length > 0 && {clientContext: {previousCandidateIds: last.map(({companyId}) => companyId)}}),
    };
  }

  take(event) {
    if (event.type === 'activity') this.timeline.set(event.data);
  }

  get summary() {
    return ngettext('{number} company', '{number} companies', this.answer.references.length);
  }

  get results() {
    return this.answer.references.map(({companyId: id}) => ({type: 'company', id}));
  }

  figure() {
    return numberCharts(this.answer.aggregation ?? undefined, this.context);
  }

  content() {
    const {references, companiesById, telemetry} = this.answer;
    const comparison = new Comparison(references.map((reference) => candidateOf(reference, companiesById[reference.companyId])), this.context);
    return [
      degradedRemark(telemetry.degradedSteps, STEP_WORDS),
      (references.length > 0 || this.before.length === 0) && resultList({
        class: 'cards references', 'aria-label': gettext('Companies'), results: references, orders: orders(companiesById), saver: this.saver,
        item: (reference) => element('li', {}, this.#card(reference, comparison)), table: (results) => this.#table(results),
      }, this.context),
      comparison.bar,
    ];
  }

  #card(reference, comparison) {
    const {companyId: id, companyName: title, inlineDescription: line, reason} = reference;
    return foundCard({title, beside: fitLevel(reference.confidence)}, () => this.context.open('company', id, {...reference, company: this.answer.companiesById[id]}), 'h3',
      element('p', {}, line),
      reason && reason !== line && element('p', {class: 'card-text'}, reason),
      standing(reference),
      element('div', {class: 'chips'}, newMark(this.isNew('company', id)), reference.evidenceChips.map((text) => label(text)), comparison.control(id)));
  }

  #table(references) {
    const {question, text, answer: {companiesById}} = this;
    const lines = references.map((each) => `- **${markdownText(each.companyName)}**: ${markdownText(each.reason)}`);
    return {
      name: question,
      columns: ['id', 'name', 'reason', 'meets', 'misses', ...EXPORTED],
      rows: references.map((each) => [each.companyId, each.companyName, each.reason, each.meets, each.misses, ...EXPORTED.map((name) => companiesById[each.companyId]?.[name])]),
      json: {question, answer: text, companies: references.map((each) => ({...each, company: companiesById[each.companyId]}))},
      markdown: answerMarkdown(question, text, lines),
    };
  }
}

function orders(companies) {
  const of = (name) => ({companyId}) => companies[companyId]?.[name];
  return [
    {name: 'best', label: gettext('Best match')},
    {name: 'name', label: gettext('Name'), key: ({companyName}) => companyName},
    {name: 'founded', label: gettext('Founded, latest first'), key: of('founded_year'), isDescending: true},
    {name: 'funding', label: gettext('Funding, most first'), key: of('total_funding_usd'), isDescending: true},
    {name: 'size', label: gettext('Employees, most first'), key: of('employee_count'), isDescending: true},
  ];
}

function candidateOf({companyId: id, companyName: name, ...reference}, company = {}) {
  return {id, name, rows: [
    [gettext('What it does'), company.tagline ?? reference.inlineDescription],
    [gettext('Meets'), (reference.meets ?? []).join(', ')],
    [gettext('Misses'), (reference.misses ?? []).join(', ')],
    [gettext('Status'), company.status && statusOf(company)],
    [gettext('Where'), placeOf(company)],
    [gettext('Founded'), company.founded_year],
    ...sizeOf(company),
    [gettext('For whom'), company.target_customer],
    [gettext('What sets it apart'), company.differentiator],
    [gettext('Business models'), (company.business_models ?? []).join(', ')],
  ]};
}

function statusOf({status}) {
  return STATUS_WORDS[status] ?? words(status);
}

function placeOf(company) {
  return [company.hq_city, company.hq_country].filter(Boolean).join(', ');
}

function sizeOf({employee_count: employees, funding_stage: stage, total_funding_usd: funding}) {
  return [
    [gettext('Employees'), employees == null ? null : number(employees)],
    // a funding round named by a letter gets a capital one
    [gettext('Stage'), stage && words(stage).replace(/ [a-z]$/, (letter) => letter.toUpperCase())],
    [gettext('Funding'), funding == null ? null : money(funding, 'USD')],
  ];
}

function companyDetails(company) {
  const texts = [
    [gettext('What it does'), company.description], [gettext('Product'), company.product_description], [gettext('Problem'), company.problem_solved],
    [gettext('For whom'), company.target_customer], [gettext('What sets it apart'), company.differentiator],
  ];
  const section = (name, content) => element('section', {}, element('h3', {class: 'section-label'}, name), content);
  return [
    company.tagline && element('p', {class: 'lead'}, company.tagline),
    texts.filter(([, text]) => text).map(([name, text]) => section(name, element('p', {}, text))),
    company.niches.length > 0 && section(gettext('Niches'), element('div', {class: 'chips'}, company.niches.map((niche) => label(niche)))),
    facts([
      [gettext('Sectors'), company.sectors.join(', ')],
      [gettext('Categories'), company.categories.join(', ')],
      [gettext('Business models'), company.business_models.join(', ')],
      [gettext('Founded'), company.founded_year],
      [gettext('Closed'), company.closed_year],
      [gettext('Acquired by'), company.acquirer],
      [gettext('Founders'), company.founders.join(', ')],
      ...sizeOf(company),
      [gettext('Formerly'), company.former_names.join(', ')],
      [gettext('Website'), company.website_url && outsideLink(company.website_url, company.website_url.replace(/^https?:\/\//, ''))],
    ]),
  ];
}
