/**
 * The foot of a finished answer: its confidence, link, how the question was read, export, and feedback.
 */

import {pathOf} from '../../api.js';
import {confidenceLevel} from '../../components/confidence.js';
import {explanationControl} from '../../components/explanation.js';
import {markdownText, takeaway} from '../../components/takeaway.js';
import {button, element, icon, replace} from '../../dom.js';
import {citationText} from './record.js';
import {gettext} from '../../messages.js';

/** @param {import('./answer.js').Answer} answer */
export function answerFoot(answer) {
  const {confidence, id, isOwn, run, state, text, context} = answer;
  const isFinished = state !== 'running';
  return element('div', {class: 'answer-foot'}, confidence && confidenceLevel(confidence.level, confidence.label),
    id && (answer.isShared ? linkControl(answer) : isOwn && shareControl(answer)), id && isOwn && revokeControl(answer), run && isFinished && explanation(answer),
    text && isFinished && takeaway(() => taken(answer), (said) => context.announce(said)), run && isFinished && feedback(answer));
}

/** How the question was read, over the same records and after the same question. */
function explanation({question, scope, topicChanged, context}) {
  const before = topicChanged ? undefined : scope.history.at(-1)?.question;
  return explanationControl({question, domain: 'records', sources: scope.types, ...(before && {after: before})}, context);
}

/** The answer and its citations, each with the record's address here. @returns {import('../../components/takeaway.js').Taken} */
function taken({sources: found, citations, statements, unsupported, question, text, confidence, context}) {
  const sources = [...found.values()].map((source) => ({...source, url: context.itemAddress(source.type, source.id)}));
  const cited = sources.map(({url, ...source}) => `${source.n}. ${markdownText(citationText(source))} <${url}>`);
  return {
    name: question,
    columns: ['n', 'type', 'id', 'title', 'date', 'url', 'quotes'],
    rows: sources.map(({n, type, id, title, date, url}) =>
      [n, type, id, title, date, url, citations.filter((each) => each.n === n && each.quote).map(({quote}) => quote)]),
    json: {question, answer: text, confidence: confidence?.level ?? null, sources, citations, statements, unsupported},
    markdown: `# ${markdownText(question)}\n\n${text}\n\n## Sources\n\n${cited.join('\n')}\n`,
  };
}

/** Asks whether the answer helped; a reader who says no can say why. */
function feedback({run, context}) {
  const failed = element('span', {class: 'fine', role: 'alert', hidden: true}, gettext('Sending failed. Try again.'));
  const thanks = () => {
    failed.hidden = true;
    replace(said, gettext('Thank you.'));
    context.announce(gettext('Thank you'));
  };
  const tell = async (body) => {
    try {
      await context.api.send(pathOf('runs', run, 'feedback'), body);
    } catch {
      failed.hidden = false;
      return;
    }
    if (body.helpful || body.reason !== undefined) thanks();
    else askWhy();
  };
  const askWhy = () => {
    const reason = element('input', {type: 'text', name: 'reason', maxlength: '2000', 'aria-label': gettext('What is wrong?'), placeholder: gettext('What is wrong?')});
    replace(said, element('form', {class: 'feedback-form', on: {submit: (event) => {
      event.preventDefault();
      if (reason.value.trim()) tell({helpful: false, reason: reason.value.trim()});
      else thanks();
    }}}, reason, element('button', {class: 'button quiet'}, gettext('Send'))));
    reason.focus();
  };
  const said = element('span', {class: 'feedback', role: 'group', 'aria-label': gettext('Did this help?')},
    button(gettext('Helpful'), {kind: 'quiet', onclick: () => tell({helpful: true})}),
    button(gettext('Not helpful'), {kind: 'quiet', onclick: () => tell({helpful: false})}));
  return element('span', {class: 'feedback'}, said, failed);
}

function revokeControl(answer) {
  const control = button(gettext('Revoke link'), {kind: 'quiet', onclick: async () => {
    try {
      await answer.context.api.delete(pathOf('answers', answer.id));
    } catch (error) {
      if (error.kind !== 'not_found') {
        replace(control, gettext('Revoking failed. Try again.'));
        return;
      }
    }
    answer.forgetAddress();
    answer.context.announce(gettext('The link no longer works'));
  }});
  return control;
}

/** Sharing is an act of its own where the service is set so. */
function shareControl(answer) {
  const control = button([icon('link'), gettext('Share')], {kind: 'quiet', onclick: async () => {
    try {
      await answer.context.api.post(pathOf('me/answers', answer.id, 'share'), {});
    } catch {
      replace(control, gettext('Sharing failed. Try again.'));
      return;
    }
    answer.isShared = true;
    control.replaceWith(linkControl(answer));
    answer.context.announce(gettext('Shared: whoever has the link can open this answer'));
  }});
  return control;
}

function linkControl({question, id, context}) {
  const control = button([icon('link'), gettext('Copy link')], {kind: 'quiet', onclick: async () => {
    const address = new URL(context.address({q: question, id}), document.baseURI);
    try {
      await navigator.clipboard.writeText(address.href);
      replace(control, icon('check'), gettext('Link copied'));
      context.announce(gettext('Link copied'));
    } catch {
      // copying is not allowed here; the address bar shows the link too
      replace(control, element('a', {href: address.href}, gettext('This answer’s address')));
    }
  }});
  return element('span', {}, control, element('span', {class: 'fine'}, gettext('Whoever has the link can open this answer.')));
}
