/** Campaigns: a conversation that shows its searches, the campaigns in an answer, and charts of them. */

import {pathOf} from '../api.js';
import {barChart, numberCharts} from '../components/charts.js';
import {standing} from '../components/conditions.js';
import {degradedRemark, facts, openPanel} from '../components/panel.js';
import {answerMarkdown, buttonCard, choices, itemActions, markdownText, newMark, resultList, toggle} from '../components/results.js';
import {element, outsideLink} from '../dom.js';
import {day, month, NONE, words} from '../format.js';
import {gettext, ngettext} from '../messages.js';
import {Chat, Turn} from './chat.js';

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

const EXPORTED = ['id', 'company', 'brand', 'channel', 'offer', 'key_value_props', 'imagery_sentiment', 'imagery_visual_style', 'capture_date', 'url', 'full_campaign_text'];

export class CampaignsView extends Chat {
  constructor(root, context) {
    super(root, context, 'campaigns', {
      title: gettext('Ask about the campaigns'),
      lead: gettext('See what others offer and promise, and how they sound, by channel, brand, mood, date or theme. Counts cover every match.'),
      label: gettext('Ask about the campaigns'),
      placeholder: gettext('Ask about offers, channels, moods or themes'),
    });
  }

  turn(asked) {
    return new CampaignsTurn(asked, this.context, 'campaigns');
  }

  open(type, id, hint) {
    if (type !== 'campaign') return null;
    return openPanel(hint?.brand ?? hint?.company ?? gettext('Campaign'), async (panel) => {
      const campaign = hint ?? await this.context.api.get(pathOf('campaigns', id));
      panel.setTitle(campaign.brand ?? campaign.company, campaign.company === campaign.brand ? undefined : campaign.company);
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
        itemActions('campaign', id, this.context),
      ];
    }, this.context);
  }
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

  get snapshot() {
    return {...super.snapshot, keepsFilters: this.keepsFilters};
  }

  restore(stored) {
    this.keepsFilters = stored.keepsFilters ?? false;
    return super.restore(stored);
  }

  take({type, data}) {
    if (type === 'tool_call') this.called(data, callLabel(data));
    if (type === 'tool_observation') this.observed(data);
  }

  get summary() {
    return countText(this.answer);
  }

  get results() {
    return this.answer.campaigns.map(({id}) => ({type: 'campaign', id}));
  }

  /** Only if numbers were asked for: charts would push the first campaign of a list off the screen. */
  figure() {
    return this.#hasNumbers ? numberCharts(this.answer.aggregation ?? undefined, this.context) ?? this.#charts() : null;
  }

  get #hasNumbers() {
    return Boolean(this.answer.aggregation?.query?.aggregate);
  }

  #charts() {
    const {aggregation, total} = this.answer;
    if (!aggregation || total <= 1) return null;
    const fields = [['channel', gettext('By channel')], ['sentiment', gettext('By sentiment')], ['value_prop', gettext('By value proposition')]];
    return element('div', {class: 'charts'}, fields.filter(([field]) => Object.keys(aggregation[field]).length > 1).map(([field, name]) =>
      // the empty value stands for campaigns without one
      barChart(name, Object.entries(aggregation[field]).map(([text, value]) => ({label: text || NONE, value})), {max: BARS})));
  }

  content() {
    const {campaigns, suggestions, detectedFilters, telemetry} = this.answer;
    return [
      degradedRemark(telemetry.degradedSteps, STEP_WORDS),
      this.#keep(detectedFilters),
      !this.#hasNumbers && this.#charts(),
      campaigns.length > 0 && this.#list(),
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

  /** The first cards, and a button for the others. */
  #list() {
    const {answer: {campaigns, total, more}, question, text} = this;
    const count = countText({total, more});
    return resultList({
      class: 'cards campaign-cards', 'aria-label': count, results: campaigns, orders: ORDERS, most: CARDS, saver: this.saver,
      item: (campaign) => campaignItem(campaign, this.context, this.isNew('campaign', campaign.id)),
      of: campaigns.length < total ? gettext('of these {number}', {number: campaigns.length}) : '',
      foot: (more || total > campaigns.length) && element('p', {class: 'fine'}, gettext('Showing the first {shown} of {all}.', {shown: campaigns.length, all: count})),
      table: (sorted) => ({
        name: question, columns: EXPORTED, rows: sorted.map((campaign) => EXPORTED.map((name) => campaign[name])), json: {question, answer: text, campaigns: sorted},
        markdown: answerMarkdown(question, text, sorted.map((each) =>
          `- **${markdownText(each.brand ?? each.company)}**, ${markdownText([each.channel, each.capture_date, each.offer].filter(Boolean).join(', '))}`)),
      }),
    }, this.context);
  }
}

function callLabel({tool, arguments: values}) {
  const texts = Object.entries(values).filter(([name]) => name !== 'embedding_field').map(([, value]) => valueText(value));
  return [TOOLS[tool] ?? words(tool), texts.join(', ')].filter(Boolean).join(': ');
}

function valueText(value) {
  if (Array.isArray(value)) return value.join(gettext(' or '));
  if (typeof value === 'boolean') return value ? gettext('with an offer') : gettext('without an offer');
  if (value !== null && typeof value === 'object') return [value.from && gettext('from {day}', {day: day(value.from)}), value.to && gettext('until {day}', {day: day(value.to)})].filter(Boolean).join(' ');
  return String(value);
}

/** The number of campaigns, as far as counted. */
function countText({total, more}) {
  return more ? ngettext('at least {number} campaign', 'at least {number} campaigns', total) : ngettext('{number} campaign', '{number} campaigns', total);
}

function campaignItem(campaign, context, isNew) {
  const above = [campaign.channel, campaign.imagery_sentiment, campaign.capture_date && month(campaign.capture_date)].filter(Boolean).join(' · ');
  return element('li', {class: 'campaign-item'},
    buttonCard({class: 'campaign', above, title: campaign.brand ?? campaign.company}, () => context.open('campaign', campaign.id, campaign),
      campaign.offer && element('span', {class: 'campaign-offer'}, campaign.offer),
      element('span', {class: 'card-text clamped'}, campaign.campaign_text), newMark(isNew)), standing(campaign));
}
