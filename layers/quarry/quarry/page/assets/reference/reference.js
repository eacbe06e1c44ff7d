/** The API reference: shows the service's own OpenAPI document.
 *
 * @typedef {Record<string, any> & {method: string, path: string, id: string}} Operation */

import {Api} from '../api.js';
import {noticeOf} from '../components/panel.js';
import {schemeButton} from '../components/preferences.js';
import {button, element, replace} from '../dom.js';
import {DOMAINS, number, words} from '../format.js';

// --- JSON schemas in words, and as lists of fields to expand

const FORMATS = {date: 'date', 'date-time': 'time', uuid: 'UUID', uri: 'address'};
const SIMPLE = {string: 'text', integer: 'integer', number: 'number', boolean: 'true or false', null: 'null', object: 'object', array: 'list'};

/** Text with code between backticks. */
function prose(text = '') {
  return text.split('`').map((piece, index) => (index % 2 ? element('code', {}, piece) : piece));
}

class Types {
  constructor(schemas) {
    this.schemas = schemas;
  }

  /** The target of a reference, or the schema itself. */
  resolved(schema) {
    return schema.$ref ? this.schemas[schema.$ref.split('/').at(-1)] : schema;
  }

  /** The type of a value in a few words: `list of text or null`. */
  words(schema) {
    const {anyOf, oneOf, type, items} = schema;
    // if two modules define a type of the same name, the module's name precedes it
    if (schema.$ref) return this.#isObject(schema) ? schema.$ref.split('/').at(-1).split('__').at(-1) : this.words(this.resolved(schema));
    if (anyOf ?? oneOf) return [...new Set((anyOf ?? oneOf).map((each) => this.words(each)))].join(' or ');
    if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' or ');
    if ('const' in schema) return JSON.stringify(schema.const);
    if (type === 'array' && items) return `list of ${this.words(items)}`;
    if (type === 'object' && typeof schema.additionalProperties === 'object') return `${this.words(schema.additionalProperties)} by name`;
    return FORMATS[schema.format] ?? SIMPLE[type] ?? 'any value';
  }

  limits(schema) {
    const [inner] = (schema.anyOf ?? [schema]).filter((each) => each.type !== 'null');
    const {minimum, maximum, maxLength, maxItems} = inner;
    return [
      minimum !== undefined && maximum !== undefined ? `${number(minimum)} to ${number(maximum)}`
        : minimum !== undefined ? `at least ${number(minimum)}` : maximum !== undefined && `at most ${number(maximum)}`,
      maxLength !== undefined && `at most ${number(maxLength)} characters`,
      maxItems !== undefined && `at most ${number(maxItems)}`,
      schema.default != null && schema.default !== '' && typeof schema.default !== 'object' && `default ${JSON.stringify(schema.default)}`,
    ].filter(Boolean);
  }

  /** The fields of a schema. Nested fields are built when opened, since types may be recursive. */
  fields(schema) {
    const object = this.#object(schema);
    if (!object) return element('p', {class: 'fine'}, this.words(schema));
    const required = new Set(object.required);
    const named = Object.entries(object.properties).sort(([one], [other]) => required.has(other) - required.has(one));
    return element('dl', {class: 'fields'}, named.map(([name, each]) => this.field(name, each, required.has(name))));
  }

  /** One parameter. It is optional or required; that it may be null adds nothing. */
  parameter({name, in: place, schema, required, description}) {
    const choices = schema.anyOf?.filter((each) => each.type !== 'null');
    return this.field(name, {...schema, ...(choices && {anyOf: choices}), description: description ?? schema.description}, required, [place]);
  }

  field(name, schema, isRequired, notes = []) {
    const inner = this.#object(schema);
    const said = [...notes, this.words(schema), isRequired && 'required', ...this.limits(schema)].filter(Boolean);
    const description = schema.description ?? (inner?.description !== undefined && schema.$ref ? inner.description : '');
    return [
      element('dt', {}, element('code', {}, name), ' ', element('span', {class: 'fine'}, said.join(' · '))),
      element('dd', {}, description && element('p', {}, prose(description)), inner && this.opened(inner)),
    ];
  }

  opened(schema) {
    const details = element('details', {}, element('summary', {}, 'Fields'));
    details.addEventListener('toggle', () => { if (details.childElementCount === 1) details.append(this.fields(schema)); });
    return details;
  }

  /** The object with fields within a schema: itself, the items of a list or mapping, or the only choice other than null. */
  #object(schema) {
    const {anyOf, oneOf, items, properties, additionalProperties} = this.resolved(schema);
    if (properties) return this.resolved(schema);
    if (items) return this.#object(items);
    if (typeof additionalProperties === 'object') return this.#object(additionalProperties);
    const choices = (anyOf ?? oneOf ?? []).filter((each) => each.type !== 'null');
    return choices.length === 1 ? this.#object(choices[0]) : null;
  }

  #isObject(schema) {
    return this.resolved(schema).properties !== undefined;
  }
}

// --- example calls to copy, with their answers

const JSON_TYPE = 'application/json';
const COPIED_MS = 2000;

/** The examples of an operation: `curl` commands with their answers.
 * @param {{home: URL, needsToken: boolean, announce: (text: string) => void}} context the service's address; whether it needs a
 *   token */
function examplesOf(operation, context) {
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

// --- the document

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
  const api = new Api(HOME, null);
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
