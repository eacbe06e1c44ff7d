/**
 * The API reference: shows the service's own OpenAPI document.
 *
 * @typedef {Record<string, any> & {method: string, path: string, id: string}} Operation
 */

import {Api} from '../api.js';
import {noticeOf} from '../components/notice.js';
import {schemeButton} from '../components/scheme.js';
import {element, replace} from '../dom.js';
import {DOMAINS} from '../domains.js';
import {number, words} from '../format.js';
import {examplesOf} from './examples.js';
import {Types, prose} from './types.js';

const HOME = new URL('./', location.href);
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** The first sections, in order; others follow under their own names. */
const SECTIONS = {
  ...DOMAINS,
  agents: 'Agents and chat interfaces', kept: 'Saved items', runs: 'Runs', service: 'Service', console: 'Page',
};

const page = {
  reference: document.querySelector('[data-reference]'),
  contents: document.querySelector('[data-contents]'),
  tools: document.querySelector('[data-tools]'),
  announcer: document.querySelector('[data-announcer]'),
};

async function start() {
  replace(page.tools, schemeButton());
  const api = new Api(HOME, {token: async () => null, refused: () => {}});
  try {
    const [described, config] = await Promise.all([
      api.get('openapi.json', {isPublic: true}),
      // the reference also works while the database is down
      api.get('config.json', {isPublic: true}).catch(() => null),
    ]);
    show(described, config?.sign_in != null);
  } catch (problem) {
    replace(page.reference, noticeOf(problem, {retry: start}));
  }
}

function show(described, needsToken) {
  const context = {home: HOME, needsToken, types: new Types(described.components.schemas), problems: described['x-problems'], announce};
  const sections = sectionsOf(described.paths);
  replace(page.reference,
    introduction(described, needsToken),
    sections.map(({name, operations}) => section(name, operations.map((each) => operation(each, context)))),
    section('Errors', described['x-problems'].map(problem)));
  showContents(sections, described['x-problems']);
  document.addEventListener('keydown', focusFilter);
  addEventListener('hashchange', showNamed);
  showNamed();
}

/** The operations by section; both in the order of the document. */
function sectionsOf(paths) {
  const byTag = new Map(Object.keys(SECTIONS).map((tag) => [tag, []]));
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of METHODS.filter((each) => each in methods)) {
      const [tag] = methods[method].tags ?? ['service'];
      const id = `${method}${path.replace(/[^\w]+/g, '-').replace(/-$/, '')}`;
      byTag.set(tag, [...(byTag.get(tag) ?? []), {...methods[method], path, method: method.toUpperCase(), id}]);
    }
  }
  return [...byTag].filter(([, operations]) => operations.length).map(([tag, operations]) => ({name: SECTIONS[tag] ?? words(tag), operations}));
}

function introduction({info}, needsToken) {
  const token = needsToken
    ? ['Routes that are not public take the token of a signed-in user: ', element('code', {}, 'Authorization: Bearer $TOKEN'), '.']
    : ['There is no sign-in here: ', element('code', {}, 'Authorization: Bearer NAME'), ' selects the user NAME. The default is ', element('code', {}, 'demo'), '.'];
  return element('header', {class: 'reference-intro'},
    element('h1', {}, 'API reference'),
    element('p', {class: 'lead'}, 'Quarry ', info.version, '. All calls go to ', element('code', {}, HOME.href.replace(/\/$/, '')), '. ',
      'Bodies are JSON in UTF-8; times are ISO 8601 in UTC. For programs: ', element('a', {href: 'openapi.json'}, 'openapi.json'), ' (OpenAPI 3.1).'),
    element('p', {}, token),
    element('p', {}, 'The examples use the sample data, without a model. A stream that fails ends with the event ', element('code', {}, 'error'),
      '; every other error is a problem, ', element('a', {href: '#errors'}, 'listed below'), '.'));
}

function section(name, articles) {
  const id = name.toLowerCase().replaceAll(' ', '-');
  return element('section', {class: 'reference-section', 'aria-labelledby': id, data: {section: name}}, element('h2', {id, tabindex: '-1'}, name), articles);
}

/** @param {Operation} described */
function operation(described, context) {
  const {method, path, id, description, parameters = [], requestBody, responses} = described;
  const body = requestBody?.content?.['application/json']?.schema;
  return element('article', {class: 'operation', 'aria-labelledby': id, data: {text: searched(described, context.types)}},
    element('h3', {id, tabindex: '-1'}, element('a', {href: `#${id}`}, methodBadge(method), ' ', element('code', {}, path))),
    description && element('p', {}, prose(description)),
    !responses[401] && element('p', {class: 'chips'}, element('span', {class: 'chip'}, 'Public')),
    parameters.length > 0 && part('Parameters', element('dl', {class: 'fields'},
      parameters.toSorted((one, other) => Boolean(other.required) - Boolean(one.required)).map((each) => context.types.parameter(each)))),
    body && part('Body', context.types.fields(body)),
    part('Answers', answers(responses, context)),
    part('Example', examplesOf(described, context)));
}

function part(name, ...content) {
  return element('div', {class: 'operation-part'}, element('h4', {}, name), content);
}

/** Every status: success with its fields, then the errors in one line. */
function answers(responses, {types, problems}) {
  const statuses = Object.entries(responses);
  const succeeded = statuses.filter(([status]) => status < '400');
  const failed = statuses.filter(([status]) => status >= '400');
  return [
    succeeded.map(([status, {description, content = {}}]) => element('div', {class: 'answer-kind'},
      element('p', {}, element('strong', {}, status), ' ', prose(description === 'Successful Response' ? '' : description), ' ',
        element('span', {class: 'fine'}, Object.keys(content).join(' or '))),
      Object.values(content).filter(({schema}) => schema && Object.keys(schema).length).map(({schema}) => types.opened(schema)))),
    element('ul', {class: 'statuses'}, failed.map(([status, {description}]) => {
      const known = problems.find((each) => each.title === description);
      const text = `${status} ${description}`;
      return element('li', {}, known ? element('a', {href: `#${idOf(known)}`}, text) : text);
    })),
  ];
}

function problem(each) {
  const id = idOf(each);
  return element('article', {class: 'operation', 'aria-labelledby': id, data: {text: Object.values(each).join(' ').toLowerCase()}},
    element('h3', {id, tabindex: '-1'}, element('a', {href: `#${id}`}, `${each.status} ${each.title}`)),
    element('p', {class: 'fine'}, element('code', {}, each.type), ', below ', element('code', {}, '/v1/'), ' ', element('code', {}, each.code)),
    element('p', {}, prose(each.meaning)),
    element('p', {}, element('strong', {}, 'What to do: '), prose(each.remedy)));
}

function idOf({type}) {
  return `problem-${type.split(':').at(-1)}`;
}

function methodBadge(method) {
  return element('span', {class: `method method-${method.toLowerCase()}`}, method);
}

// --- contents and search

function showContents(sections, problems) {
  const filter = element('input', {type: 'search', id: 'filter', placeholder: 'Find a route, a field, an error', autocomplete: 'off', spellcheck: 'false'});
  filter.addEventListener('input', () => filterBy(filter.value));
  const list = element('details', {class: 'contents-list', open: matchMedia('(min-width: 60rem)').matches},
    element('summary', {}, 'Contents'),
    sections.map(({name, operations}) => contentsOf(name, operations.map(({id, method, path}) => [id, [methodBadge(method), ' ', path]]))),
    contentsOf('Errors', problems.map((each) => [idOf(each), `${each.status} ${each.title}`])));
  replace(page.contents, element('label', {for: 'filter', class: 'visually-hidden'}, 'Find'), filter, list);
}

function contentsOf(name, links) {
  return element('div', {data: {contentsOf: name}},
    element('p', {class: 'section-label'}, element('a', {href: `#${name.toLowerCase().replaceAll(' ', '-')}`}, name)),
    element('ul', {}, links.map(([id, text]) => element('li', {data: {leadsTo: id}}, element('a', {href: `#${id}`}, text)))));
}

/** Show the operations that contain every word of `text`. */
function filterBy(text) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const article of page.reference.querySelectorAll('.operation')) {
    article.hidden = !wanted.every((word) => article.dataset.text.includes(word));
    shown += article.hidden ? 0 : 1;
    page.contents.querySelector(`[data-leads-to="${article.getAttribute('aria-labelledby')}"]`).hidden = article.hidden;
  }
  for (const each of page.reference.querySelectorAll('[data-section]')) {
    each.hidden = !each.querySelector('.operation:not([hidden])');
    page.contents.querySelector(`[data-contents-of="${each.dataset.section}"]`).hidden = each.hidden;
  }
  announce(wanted.length ? `${number(shown)} ${shown === 1 ? 'match' : 'matches'}` : '');
}

/** Show the operation in the address, even if the search hid it. */
function showNamed() {
  const named = location.hash && document.getElementById(location.hash.slice(1));
  if (!named) return;
  if (named.closest('[hidden]')) {
    document.getElementById('filter').value = '';
    filterBy('');
  }
  named.scrollIntoView();
}

/** The text to search: the route, its description, the names of its fields. */
function searched({method, path, description = '', parameters = [], requestBody, responses}, types) {
  const bodies = [requestBody ?? {}, ...Object.entries(responses).filter(([status]) => status < '400').map(([, response]) => response)];
  const fields = bodies.flatMap(({content = {}}) => Object.values(content)).flatMap(({schema}) => Object.keys((schema && types.resolved(schema).properties) ?? {}));
  return [method, path, description, ...parameters.map(({name}) => name), ...fields].join(' ').toLowerCase();
}

/** `/` focuses the search, except while typing. */
function focusFilter(event) {
  if (event.key !== '/' || event.metaKey || event.ctrlKey || event.altKey || event.target.closest?.('input, textarea')) return;
  event.preventDefault();
  document.getElementById('filter').select();
}

function announce(text) {
  page.announcer.textContent = text;
}

start();
