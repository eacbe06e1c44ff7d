/**
 * Example calls to copy, with their answers.
 */

import {button, element} from '../dom.js';
import {words} from '../format.js';

const JSON_TYPE = 'application/json';
const COPIED_MS = 2000;

/**
 * The examples of an operation: `curl` commands with their answers.
 * @param {import('./reference.js').Operation} operation
 * @param {{home: URL, needsToken: boolean, announce: (text: string) => void}} context the service's address; whether it needs a token
 */
export function examplesOf(operation, context) {
  return names(operation).map((name) => {
    const answer = answerOf(operation, name);
    return element('div', {class: 'example', role: 'group', 'aria-label': `Example: ${words(name)}`},
      codeBlock(command(operation, name, answer, context), 'Command', context.announce, true),
      answer.text && element('details', {},
        element('summary', {}, 'Answer ', element('span', {class: 'fine'}, answer.status)),
        answer.note && element('p', {class: 'fine'}, answer.note),
        codeBlock(answer.text, 'Answer', context.announce)));
  });
}

/** All names of examples in the operation. */
function names({parameters = [], requestBody, responses}) {
  const bodies = [requestBody ?? {}, ...Object.values(responses)].flatMap((each) => Object.values(each.content ?? {}));
  const all = [...parameters, ...bodies].flatMap((place) => Object.keys(place.examples ?? {}));
  return all.length ? [...new Set(all)] : [''];
}

function answerOf({responses}, name) {
  for (const [status, {description, content = {}}] of Object.entries(responses)) {
    for (const [mediaType, {examples = {}}] of Object.entries(content)) {
      if (!Object.hasOwn(examples, name)) continue;
      const {value, description: note} = examples[name];
      return {status, mediaType, note, text: typeof value === 'string' ? value : JSON.stringify(value, null, 2)};
    }
    if (status < '300' && Object.keys(content).length === 0) return {status: `${status} ${description}`, mediaType: null, note: '', text: ''};
  }
  return {status: '', mediaType: null, note: '', text: ''};
}

/** @returns {string} the call as a line for a shell */
function command({method, path, parameters = [], requestBody, responses}, name, answer, {home, needsToken}) {
  const sent = (place) => parameters.filter((each) => each.in === place && each.examples?.[name]).map((each) => [each.name, each.examples[name].value]);
  let filled = path;
  for (const [parameter, value] of sent('path')) filled = filled.replace(`{${parameter}}`, encodeURIComponent(value));
  const query = new URLSearchParams(sent('query').flatMap(([parameter, value]) => [value].flat().map((each) => [parameter, String(each)])));
  const body = requestBody?.content?.[JSON_TYPE]?.examples?.[name]?.value;
  const streams = answer.mediaType !== null && answer.mediaType !== JSON_TYPE;
  const parts = [
    `curl${streams ? ' -N' : ''}${method === (body ? 'POST' : 'GET') ? '' : ` -X ${method}`} ${quoted(home.href.replace(/\/$/, '') + filled + (query.size ? `?${query}` : ''))}`,
    needsToken && responses[401] && '-H "Authorization: Bearer $TOKEN"',
    ...sent('header').map(([header, value]) => `-H ${quoted(`${header}: ${value}`)}`),
    streams && `-H ${quoted(`Accept: ${answer.mediaType}`)}`,
    body && `-H ${quoted(`Content-Type: ${JSON_TYPE}`)}`,
    body && `-d ${quoted(JSON.stringify(body))}`,
  ];
  return parts.filter(Boolean).join(' \\\n  ');
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function codeBlock(text, label, announce, isCopied = false) {
  const copy = button('Copy', {kind: 'quiet copy', onclick: async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = 'Copied';
    announce('Copied');
    setTimeout(() => { copy.textContent = 'Copy'; }, COPIED_MS);
  }});
  // it scrolls, so it must be reachable by keyboard
  return element('div', {class: 'code'},
    element('pre', {tabindex: '0', role: 'group', 'aria-label': label}, element('code', {}, text)),
    isCopied && navigator.clipboard && copy);
}
