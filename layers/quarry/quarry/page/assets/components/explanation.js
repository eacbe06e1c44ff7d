/**
 * How a question is read without a chat model: what its words may mean, the likeliest queries, and the words that were not read.
 */

import {element} from '../dom.js';
import {number} from '../format.js';
import {facts, openPanel} from './panel.js';
import {gettext} from '../messages.js';

const VERDICTS = {confident: gettext('answered'), doubted: gettext('answered with doubt'), refused: gettext('not answered by a query')};

/**
 * A button that opens the explanation.
 * @param {{question: string, domain: string, sources?: string[], after?: string}} asked `after` is the previous question
 * @param {import('../app.js').Context} context
 */
export function explanationControl(asked, context) {
  const load = async () => content(await context.api.post('query/explain', asked));
  const open = () => openPanel(gettext('How was this read?'), load, {kicker: asked.question, signIn: () => context.session.signIn()});
  return element('button', {type: 'button', class: 'text-button', on: {click: open}}, gettext('How was this read?'));
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
