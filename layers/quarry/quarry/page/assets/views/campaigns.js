/** Campaigns: a conversation that shows its searches, the campaigns in an answer, and charts of them. */

import {pathOf} from '../api.js';
import {barChart} from '../components/bars.js';
import {choices, label, toggle} from '../components/chips.js';
import {degradedRemark} from '../components/notice.js';
import {numberCharts} from '../components/numbers.js';
import {facts, openPanel} from '../components/panel.js';
import {sortControl, sorted} from '../components/sorting.js';
import {itemActions, markdownText, takeaway} from '../components/takeaway.js';
import {standing} from '../components/understood.js';
import {button, element, outsideLink, replace} from '../dom.js';
import {NONE, day, month, words} from '../format.js';
import {Chat} from './chat/chat.js';
import {Turn} from './chat/turn.js';
import {gettext, ngettext} from '../messages.js';

export const title = gettext('Campaigns');

const CARDS = 9;
const BARS = 6;
const HISTORY_MAX = 50;

const ORDERS = [
  {name: 'best', label: gettext('As found')},
  {name: 'newest', label: gettext('Newest'), key: ({capture_date: date}) => date, isDescending: true},
  {name: 'oldest', label: gettext('Oldest'), key: ({capture_date: date}) => date},
  {name: 'brand', label: gettext('Brand'), key: ({brand, company}) => brand ?? company},
];

const STEP_WORDS = {campaigns_research: gettext('the answer of the model'), query_embedding: gettext('search by meaning')};

const TOOLS = {semantic_search: gettext('Searching by meaning'), filter_campaigns: gettext('Filtering'), full_text_search: gettext('Searching the copy'), aggregate_campaigns: gettext('Counting'), query: gettext('Querying'), get: gettext('Reading a campaign')};

/** @param {HTMLElement} root @param {import('../app.js').Context} context */
export function mount(root, context) {
  return new Chat(root, context, {
    domain: 'campaigns',
    open: (type, id, hint) => openFound(type, id, hint, context),
    title: gettext('Ask about the campaigns'),
    lead: gettext('See what others offer and promise, and how they sound, by channel, brand, mood, date or theme. Counts cover every match.'),
    label: gettext('Ask about the campaigns'),
    placeholder: gettext('Ask about offers, channels, moods or themes'),
    turn: (asked, own) => new CampaignsTurn(asked, own, 'campaigns'),
  });
}

class CampaignsTurn extends Turn {
  /** Whether the next question applies within the results of this one. */
  keepsFilters = false;

  get body() {
    const history = this.before.flatMap(({question, text}) => [{role: 'user', content: question}, {role: 'assistant', content: text}]);
    const last = this.before.at(-1);
    return {
      message: this.question,
      history: history.slice(-HISTORY_MAX),
      ...this.sentChanges,
      // the changes include the applied filters
      ...(this.changes === null && last?.keepsFilters && {activeFilters: last.answer.detectedFilters, applyFiltersToQuery: true}),
    };
  }

  get kept() {
    return {...super.kept, keepsFilters: this.keepsFilters};
  }

  restore(kept) {
    this.keepsFilters = kept.keepsFilters ?? false;
    return super.restore(kept);
  }

  take({type, data}) {
    if (type === 'tool_call') this.called(data, callLabel(data));
    if (type === 'tool_observation') this.observed(data);
  }

  get summary() {
    return counted(this.answer);
  }

  get results() {
    return this.answer.campaigns.map(({id}) => ({type: 'campaign', id}));
  }

  /** Only if numbers were asked for: charts would push the first campaign of a list off the screen. */
  figure() {
    return this.#isCounted ? numberCharts(this.answer.aggregation ?? undefined, undefined, this.context.announce) ?? this.#charts() : null;
  }

  get #isCounted() {
    return Boolean(this.answer.aggregation?.query?.aggregate);
  }

  #charts() {
    const {aggregation, total} = this.answer;
    return aggregation && total > 1 ? element('div', {class: 'charts'}, charts(aggregation)) : null;
  }

  found() {
    const {campaigns, suggestions, detectedFilters, telemetry} = this.answer;
    return [
      degradedRemark(telemetry.degradedSteps, STEP_WORDS),
      this.#keep(detectedFilters),
      !this.#isCounted && this.#charts(),
      campaigns.length > 0 && campaignList(this.answer, this),
      suggestions.length > 0 && element('section', {class: 'followups'}, element('h3', {class: 'section-label'}, gettext('Ask next')),
        choices(gettext('Follow-up questions'), suggestions, (text) => this.callbacks.onfollow(text))),
    ];
  }

  /** Whether the conditions that can be kept also apply to the next question. */
  #keep(filters) {
    if (Object.keys(filters).length === 0) return null;
    const keep = toggle(gettext('Keep for the next question'), {pressed: this.keepsFilters, name: 'keep', ontoggle: () => {
      this.keepsFilters = !this.keepsFilters;
      keep.setAttribute('aria-pressed', String(this.keepsFilters));
      this.callbacks.onchange();
    }});
    return element('div', {class: 'chips'}, keep);
  }
}

function callLabel({tool, arguments: given}) {
  const values = Object.entries(given).filter(([name]) => name !== 'embedding_field').map(([, value]) => valueText(value));
  return [TOOLS[tool] ?? words(tool), values.join(', ')].filter(Boolean).join(': ');
}

function valueText(value) {
  if (Array.isArray(value)) return value.join(gettext(' or '));
  if (typeof value === 'boolean') return value ? gettext('with an offer') : gettext('without an offer');
  if (value !== null && typeof value === 'object') return [value.from && gettext('from {day}', {day: day(value.from)}), value.to && gettext('until {day}', {day: day(value.to)})].filter(Boolean).join(' ');
  return String(value);
}

/** A chart for each field. */
function charts(counted) {
  const fields = [['channel', gettext('By channel')], ['sentiment', gettext('By sentiment')], ['value_prop', gettext('By value proposition')]];
  const shown = fields.filter(([field]) => Object.keys(counted[field]).length > 1);
  return shown.map(([field, name]) =>
    // the empty value stands for campaigns without one
    barChart(name, Object.entries(counted[field]).map(([text, value]) => ({label: text || NONE, value})), {max: BARS}));
}

/** The number of campaigns, as far as counted. */
function counted({total, more}) {
  return more ? ngettext('at least {number} campaign', 'at least {number} campaigns', total) : ngettext('{number} campaign', '{number} campaigns', total);
}

/** The first cards, and a button for the others. */
function campaignList({campaigns, total, more}, turn) {
  const {question, text, context} = turn;
  const list = element('ol', {class: 'cards campaign-cards', 'aria-label': counted({total, more})});
  const foot = element('div', {});
  const remark = (more || total > campaigns.length) && element('p', {class: 'fine'}, gettext('Showing the first {shown} of {all}.', {shown: campaigns.length, all: counted({total, more})}));
  let order = 'best';
  const item = (campaign) => campaignItem(campaign, context, turn.isNew('campaign', campaign.id));
  const show = (chosen) => {
    order = chosen;
    const shown = sorted(campaigns, ORDERS, order);
    const rest = shown.slice(CARDS);
    replace(list, shown.slice(0, CARDS).map(item));
    replace(foot, rest.length > 0 && button(ngettext('Show {number} more', 'Show {number} more', rest.length), {onclick: () => {
      const first = item(rest[0]);
      list.append(first, ...rest.slice(1).map(item));
      replace(foot, remark);
      first.querySelector('button').focus();
    }}), remark);
  };
  show('best');
  const tools = element('div', {class: 'results-tools'}, campaigns.length > 1 && sortControl(ORDERS, 'best', show, campaigns.length < total ? gettext('of these {number}', {number: campaigns.length}) : ''),
    takeaway(() => takenCampaigns(question, text, sorted(campaigns, ORDERS, order)), (said) => context.announce(said)), turn.saver);
  return [tools, list, foot];
}

/** @returns {import('../components/takeaway.js').Taken} */
function takenCampaigns(question, text, campaigns) {
  const columns = ['id', 'company', 'brand', 'channel', 'offer', 'key_value_props', 'imagery_sentiment', 'imagery_visual_style', 'capture_date', 'url', 'full_campaign_text'];
  const list = campaigns.map((each) => `- **${markdownText(each.brand ?? each.company)}**, ${markdownText([each.channel, each.capture_date, each.offer].filter(Boolean).join(', '))}`);
  return {
    name: question, columns, rows: campaigns.map((campaign) => columns.map((name) => campaign[name])),
    json: {question, answer: text, campaigns}, markdown: `# ${markdownText(question)}\n\n${text}\n\n${list.join('\n')}\n`,
  };
}

function campaignItem(campaign, context, isNew) {
  return element('li', {class: 'campaign-item'}, element('button', {type: 'button', class: 'card campaign', on: {click: () => context.open('campaign', campaign.id, campaign)}},
    element('span', {class: 'card-meta'}, [campaign.channel, campaign.imagery_sentiment, campaign.capture_date && month(campaign.capture_date)]
      .filter(Boolean).join(' · ')),
    element('span', {class: 'card-title'}, campaign.brand ?? campaign.company),
    campaign.offer && element('span', {class: 'campaign-offer'}, campaign.offer),
    element('span', {class: 'card-text clamped'}, campaign.campaign_text), isNew && label(gettext('New'), {tone: 'accent'})), standing(campaign));
}

/** One campaign. */
function openFound(type, id, hint, context) {
  if (type !== 'campaign') return null;
  return openPanel(hint?.brand ?? hint?.company ?? gettext('Campaign'), async (panel) => {
    const campaign = hint ?? await context.api.get(pathOf('campaigns', id));
    panel.setTitle(campaign.brand ?? campaign.company, campaign.company === campaign.brand ? undefined : campaign.company);
    return [details(campaign), itemActions('campaign', id, context)];
  }, {signIn: () => context.session.signIn()});
}

function details(campaign) {
  return [
    element('blockquote', {class: 'campaign-copy'}, campaign.full_campaign_text ?? campaign.campaign_text),
    facts([
      [gettext('Company'), campaign.company],
      [gettext('Channel'), campaign.channel],
      [gettext('Offer'), campaign.offer],
      [gettext('Value propositions'), campaign.key_value_props.join(', ')],
      [gettext('Sentiment'), campaign.imagery_sentiment],
      [gettext('Visual style'), campaign.imagery_visual_style],
      [gettext('Captured'), campaign.capture_date && day(campaign.capture_date)],
      [gettext('Seen at'), campaign.url && outsideLink(campaign.url, campaign.url.replace(/^https?:\/\//, ''))],
    ]),
  ];
}
