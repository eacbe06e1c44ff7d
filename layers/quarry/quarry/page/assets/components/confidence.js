/** How far an answer or result can be trusted: in words, with a small meter next to it; the marks behind the statements that the check did
 * not verify; and how a question is read without a chat model. */

import {element, textButton} from '../dom.js';
import {number, sentenceCase} from '../format.js';
import {statementPlace} from '../markdown.js';
import {gettext} from '../messages.js';
import {facts, openPanel, openPreview, previewed} from './panel.js';

const LEVELS = {low: 1, medium: 2, high: 3};

export function confidenceLevel(level, text) {
  return element('span', {class: 'confidence', data: {level}},
    element('span', {class: 'meter', 'aria-hidden': 'true'}, [1, 2, 3].map((step) => element('i', {class: step <= LEVELS[level] ? 'is-on' : ''}))),
    text);
}

const FITS = {high: gettext('Likely fit'), medium: gettext('Possible fit'), low: gettext('Doubtful fit')};

/** How likely a result fits according to the ranking, in words and in percent. It is an estimate, not a measured share. */
export function fitLevel(share) {
  const level = share >= 0.75 ? 'high' : share >= 0.45 ? 'medium' : 'low';
  return confidenceLevel(level, `${FITS[level]}, ${gettext('{number} %', {number: Math.round(100 * share)})}`);
}

// how the states of statements are marked, and what the marks mean
const MARKS = {flagged: ['†', gettext('Not borne out')], plausible: ['?', gettext('Not checked in full')]};

/** @typedef {{start: number, end: number, state: string, reason?: string | null}} Statement */

/** A text with a place for the mark behind each statement that is not verified. Offsets count characters, not code units. */
export function withStatementPlaces(text, statements) {
  const characters = [...text];
  for (const [place, {end, state}] of [...statements.entries()].reverse()) {
    if (state in MARKS) characters.splice(characters[end - 1] === '|' ? end - 1 : end, 0, statementPlace(place));
  }
  return characters.join('');
}

/** The mark behind a statement, with the reason on hover, focus and tap. */
export function statementMark({state, reason} = {start: 0, end: 0, state: ''}) {
  if (!(state in MARKS)) return null;
  const [sign, meaning] = MARKS[state];
  const mark = element('button', {type: 'button', class: 'citation statement-mark', 'aria-label': `${meaning}: ${reason}`, data: {state},
    on: {click: () => openPreview(mark, content)}}, sign);
  const content = () => [element('p', {class: 'card-meta'}, meaning), element('p', {}, sentenceCase(reason ?? ''))];
  previewed(mark, content);
  return mark;
}

const VERDICTS = {confident: gettext('answered'), doubted: gettext('answered with doubt'), refused: gettext('not answered by a query')};

/** A button that opens the explanation of how a question is read.
 * @param {{question: string, domain: string, sources?: string[], after?: string}} request `after` is the previous question */
export function explanationControl(request, context) {
  const load = async () => content(await context.api.post('query/explain', request));
  return textButton(gettext('How was this read?'), () => openPanel(gettext('How was this read?'), load, context, {kicker: request.question}));
}

function content({verdict, chance, unread, words, queries}) {
  return [
    element('p', {}, queries.length > 0
      ? gettext('Without a chat model, the first query below has a {chance} chance of being right: {verdict}.', {chance: percent(chance), verdict: VERDICTS[verdict]})
      : gettext('Without a chat model, no query was found for this question.')),
    unread.length > 0 && element('p', {}, gettext('Not understood: {words}.', {words: unread.map((each) => gettext('“{text}”', {text: each})).join(', ')})),
    words.length > 0 && section(gettext('What the words may mean'), facts(words.map(({text, means}) => [text, means]))),
    queries.length > 0 && section(gettext('Likeliest queries'), element('ol', {class: 'explained'}, queries.map(explained))),
  ];
}

function section(title, ...children) {
  return element('section', {}, element('h3', {class: 'section-label'}, title), children);
}

function explained({text, query, score, pair_score: pair, probability}) {
  const scores = [gettext('score {number}', {number: score}), pair !== undefined && gettext('pair score {number}', {number: pair})].filter(Boolean).join(', ');
  return element('li', {}, text, element('p', {class: 'fine'}, gettext('probability {share}', {share: percent(probability)})),
    element('details', {}, element('summary', {class: 'fine'}, gettext('As a query')), element('p', {class: 'fine'}, scores), element('pre', {}, JSON.stringify(query, null, 2))));
}

/** A share in whole percent. An uncertain share is never shown as 0 or 100. */
function percent(share) {
  if (share < 0.005) return gettext('below 1 %');
  return share > 0.995 ? gettext('over 99 %') : gettext('{number} %', {number: number(Math.round(100 * share))});
}
