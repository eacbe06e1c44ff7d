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
import {money, number, words} from '../format.js';
import {Chat} from './chat/chat.js';
import {Turn} from './chat/turn.js';
import {gettext, ngettext} from '../messages.js';

export const title = gettext('Companies');

const MESSAGES_MAX = 50;

const STEP_WORDS = {
  company_plan: gettext('the plan'), company_rerank: gettext('the ranking'), company_critique: gettext('the check of the results'), company_summary: gettext('the summary'),
  companies_answer: gettext('the answer'),
  query_embedding: gettext('search by meaning'),
};

const STATUS_WORDS = {startup: gettext('Startup'), acquired: gettext('Acquired'), public: gettext('Public'), closed: gettext('Closed')};

/** @param {HTMLElement} root @param {import('../app.js').Context} context */
export function mount(root, context) {
  return new Chat(root, context, {
    domain: 'companies',
    open: (type, id, hint, answersOf) => openFound(type, id, hint, answersOf, context),
    title: gettext('Find companies in plain words'),
    lead: gettext('Describe what they make and for whom, or name a similar company. You see every step of the search, and why each result is here.'),
    label: gettext('Describe the companies you are looking for'),
    placeholder: gettext('Describe the companies you are looking for'),
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
    return ngettext('{number} company', '{number} companies', this.answer.references.length);
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
    const list = element('ol', {class: 'cards references', 'aria-label': gettext('Companies')});
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
    {name: 'best', label: gettext('Best match')},
    {name: 'name', label: gettext('Name'), key: ({companyName}) => companyName},
    {name: 'founded', label: gettext('Founded, latest first'), key: of('founded_year'), isDescending: true},
    {name: 'funding', label: gettext('Funding, most first'), key: of('total_funding_usd'), isDescending: true},
    {name: 'size', label: gettext('Employees, most first'), key: of('employee_count'), isDescending: true},
  ];
}

/** @returns {import('../components/compare.js').Candidate} */
function candidateOf({companyId: id, companyName: name, ...reference}, company = {}) {
  return {id, name, rows: [
    [gettext('What it does'), company.tagline ?? reference.inlineDescription],
    [gettext('Meets'), (reference.meets ?? []).join(', ')],
    [gettext('Misses'), (reference.misses ?? []).join(', ')],
    [gettext('Status'), company.status && (STATUS_WORDS[company.status] ?? words(company.status))],
    [gettext('Where'), [company.hq_city, company.hq_country].filter(Boolean).join(', ')],
    [gettext('Founded'), company.founded_year],
    [gettext('Employees'), company.employee_count == null ? null : number(company.employee_count)],
    [gettext('Stage'), stageOf(company)],
    [gettext('Funding'), company.total_funding_usd == null ? null : money(company.total_funding_usd, 'USD')],
    [gettext('For whom'), company.target_customer],
    [gettext('What sets it apart'), company.differentiator],
    [gettext('Business models'), (company.business_models ?? []).join(', ')],
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
  return openPanel(hint?.companyName ?? gettext('Company'), async (panel) => {
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
    element('div', {class: 'chips'}, isNew && label(gettext('New'), {tone: 'accent'}), reference.evidenceChips.map((text) => label(text)), control));
}

function kickerOf(company) {
  return [STATUS_WORDS[company.status] ?? words(company.status), [company.hq_city, company.hq_country].filter(Boolean).join(', ')].filter(Boolean).join(' · ');
}

function companyDetails(company) {
  const texts = [
    [gettext('What it does'), company.description], [gettext('Product'), company.product_description], [gettext('Problem'), company.problem_solved],
    [gettext('For whom'), company.target_customer], [gettext('What sets it apart'), company.differentiator],
  ];
  return [
    company.tagline && element('p', {class: 'lead'}, company.tagline),
    texts.filter(([, text]) => text).map(([name, text]) => element('section', {}, element('h3', {class: 'section-label'}, name), element('p', {}, text))),
    company.niches.length > 0 && element('section', {}, element('h3', {class: 'section-label'}, gettext('Niches')),
      element('div', {class: 'chips'}, company.niches.map((niche) => label(niche)))),
    facts([
      [gettext('Sectors'), company.sectors.join(', ')],
      [gettext('Categories'), company.categories.join(', ')],
      [gettext('Business models'), company.business_models.join(', ')],
      [gettext('Founded'), company.founded_year],
      [gettext('Closed'), company.closed_year],
      [gettext('Acquired by'), company.acquirer],
      [gettext('Founders'), company.founders.join(', ')],
      [gettext('Employees'), company.employee_count == null ? null : number(company.employee_count)],
      [gettext('Stage'), stageOf(company)],
      [gettext('Funding'), company.total_funding_usd == null ? null : money(company.total_funding_usd, 'USD')],
      [gettext('Formerly'), company.former_names.join(', ')],
      [gettext('Website'), company.website_url && outsideLink(company.website_url, company.website_url.replace(/^https?:\/\//, ''))],
    ]),
  ];
}
