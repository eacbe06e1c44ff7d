/**
 * Projects: one search over tasks, plans, goals, milestones, documents, outputs and requirements, with details next to the list.
 *
 * The address is the state: `q`, the query; `type` and `project`, the filters.
 */

import {pathOf} from '../api.js';
import {answerSection} from '../components/answer.js';
import {choices, label, removable, toggle} from '../components/chips.js';
import {openedSearch, saver} from '../components/kept.js';
import {emptyState, endedNotice, remark} from '../components/notice.js';
import {loading, openPanel} from '../components/panel.js';
import {Prompt, promptBar} from '../components/prompt.js';
import {propertyFacts} from '../components/properties.js';
import {itemActions, takeaway} from '../components/takeaway.js';
import {button, element, marked, plain, replace} from '../dom.js';
import {moment, number, words} from '../format.js';
import {MarkdownView} from '../markdown.js';
import {gettext, ngettext} from '../messages.js';

export const title = gettext('Projects');

const TYPES = {
  task: gettext('Tasks'), plan: gettext('Plans'), goal: gettext('Goals'), milestone: gettext('Milestones'), document: gettext('Documents'), output: gettext('Outputs'), requirement: gettext('Requirements'),
};

/** @param {HTMLElement} root @param {import('../app.js').Context} context */
export function mount(root, context) {
  return new OntologyView(root, context);
}

class OntologyView {
  constructor(root, context) {
    this.root = root;
    this.context = context;
    /** What a change of the types keeps: the results of all types, and the focused filter. */
    this.carried = null;
    this.prompt = new Prompt({
      label: gettext('Search the projects'), placeholder: gettext('Search tasks, plans, goals, documents …'),
      onsubmit: (text) => this.context.go({...this.#filters(), q: text}), onstop: () => this.controller?.abort(),
    });
  }

  /** @param {URLSearchParams} params */
  show(params, entry) {
    this.controller?.abort();
    const {carried} = this;
    this.carried = null;
    this.entry = entry;
    this.search = searchOf(params);
    this.context.setTitle(this.search.q);
    Object.assign(this.prompt, {value: this.search.q, busy: false});
    if (!this.search.q) {
      this.#showFirst();
      return;
    }
    this.#lay();
    this.saved = params.get('saved');
    entry.all ??= entry.saved.all ?? carried?.all;
    entry.response ??= entry.saved.response;
    if (entry.response) this.#showResponse(entry);
    else this.#run(entry);
    if (carried) this.root.querySelector(`[data-filter="${CSS.escape(carried.control)}"]`)?.focus({preventScroll: true});
  }

  close() {
    this.controller?.abort();
  }

  open(type, id, hint) {
    if (!Object.hasOwn(TYPES, type)) return null;
    return openPanel(hint?.title ?? words(type), async (panel) => {
      const entity = await this.context.api.get(pathOf('ontology', type, id));
      panel.setTitle(entity.title, [words(type), entity.project?.name].filter(Boolean).join(' · '));
      return [details(entity), itemActions(type, id, this.context)];
    }, {kicker: [words(type), hint?.project_name].filter(Boolean).join(' · '), signIn: () => this.context.session.signIn()});
  }

  #showFirst() {
    const {examples} = this.context;
    replace(this.root, element('div', {class: 'column hero'},
      element('div', {}, element('h1', {}, gettext('Everything in your projects')),
        element('p', {class: 'lead'}, gettext('Find your own tasks, plans, goals, milestones, documents, outputs and requirements by a few words, even misspelt.'))),
      this.prompt.root,
      examples.length > 0 && element('section', {'aria-label': gettext('Examples')}, choices(gettext('Searches to try'), examples, (text) => this.context.go({q: text})))));
    this.prompt.focus();
  }

  #lay() {
    this.body = element('div', {class: 'entities-body'});
    const heading = element('h1', {class: 'visually-hidden', tabindex: '-1'}, gettext('Projects: {text}', {text: this.search.q}));
    replace(this.root, element('div', {class: 'wide workspace'},
      promptBar(this.prompt, () => this.context.go({})),
      heading, this.body));
    // the focused element was removed
    if (document.activeElement === document.body) heading.focus({preventScroll: true});
  }

  async #run(entry) {
    this.controller = new AbortController();
    const {type} = this.search;
    try {
      // every type is searched, so that each filter can show its number of results, if these are all
      entry.all ??= await this.#find();
      const {results, total} = entry.all;
      const ofType = results.filter((result) => type.includes(result.type));
      if (type.length === 0) entry.response = entry.all;
      // there may be more results of these types than are among the best of all types
      else if (total > results.length) entry.response = await this.#find(type);
      else entry.response = {results: ofType, total: ofType.length};
      entry.save({all: entry.all, response: entry.response});
      const told = this.saved && await openedSearch(this.context, this.saved, entry.response.results);
      if (told) entry.save({news: told});
      if (this.entry !== entry) return;
      this.#showResponse(entry);
      this.context.announce(ngettext('{number} result', '{number} results', entry.response.results.length));
    } catch (error) {
      if (this.entry === entry) replace(this.body, endedNotice(error, gettext('Search again'), () => this.#run(entry), this.context.session));
    } finally {
      if (this.entry === entry) this.prompt.busy = false;
    }
  }

  #find(types) {
    const {q, project} = this.search;
    this.prompt.busy = true;
    replace(this.body, loading(6));
    const body = {query: q, ...(project && {project_id: project}), ...(types && {types})};
    return this.context.api.post('ontology/search', body, {signal: this.controller.signal});
  }

  #showResponse({all, response: {results: shown, total, more}}) {
    const {news} = this.entry.saved;
    this.answerPlace = element('div', {'aria-live': 'polite'});
    replace(this.body, this.#filterRow(all), this.answerPlace,
      news && remark(news.text),
      this.#tools(shown),
      total > shown.length && element('p', {class: 'fine'}, more
        ? gettext('The best {shown} of at least {all} are shown. A filter or another word finds the rest.', {shown: number(shown.length), all: number(total)})
        : gettext('The best {shown} of {all} are shown. A filter or another word finds the rest.', {shown: number(shown.length), all: number(total)})),
      shown.length === 0
        ? emptyState(gettext('No matches in your projects'), this.search.project || this.search.type.length > 0
          ? button(gettext('Search all projects and types'), {onclick: () => this.context.go({q: this.search.q})}) : gettext('Try another word, or fewer.'))
        : [...groups(shown, (result) => result.type)].map(([name, results]) => element('section', {class: 'entity-group', 'aria-label': TYPES[name]},
          element('h2', {class: 'section-label'}, TYPES[name], total === shown.length && total > results.length && ` · ${results.length}`),
          element('ol', {class: 'results'}, results.map((result) => element('li', {class: 'result'}, this.#result(result, news)))))));
    this.entry.answer ??= this.entry.saved.answer;
    if (this.entry.answer) this.#showAnswer(this.entry.answer);
  }

  /** Ask the question that the words are, which a model or the reader answers. */
  async #ask(entry, understood = null) {
    const {q, project, type} = this.search;
    this.controller = new AbortController();
    replace(this.answerPlace, loading(2));
    try {
      const body = {question: q, ...(project && {project_id: project}), ...(type.length > 0 && {types: type}), ...(understood !== null && {understood})};
      entry.answer = await this.context.api.post('ontology/ask', body, {signal: this.controller.signal});
      entry.save({answer: entry.answer});
      if (this.entry === entry) this.#showAnswer(entry.answer);
    } catch (error) {
      if (this.entry === entry) replace(this.answerPlace, endedNotice(error, gettext('Ask again'), () => this.#ask(entry, understood), this.context.session));
    }
  }

  #showAnswer(answer) {
    replace(this.answerPlace, answerSection(answer, {
      question: this.search.q, onchange: (changed) => this.#ask(this.entry, changed), result: (result) => this.#result(result),
    }));
  }

  /** Actions on all results. */
  #tools(results) {
    const {q, ...filters} = this.search;
    const parameters = Object.fromEntries(Object.entries(filters).filter(([, value]) => value.length > 0));
    const columns = ['type', 'id', 'title', 'project_name', 'score', 'snippet'];
    return element('div', {class: 'results-tools'},
      button(gettext('Answer this question'), {onclick: () => this.#ask(this.entry)}),
      results.length > 0 && takeaway(() => ({name: q, columns, rows: results.map((result) => columns.map((name) => (name === 'snippet' ? plain(result.snippet ?? '') : result[name])))}), (text) => this.context.announce(text)),
      saver(this.context, {domain: 'ontology', query: q, parameters, results: () => results.map(({type, id}) => ({type, id}))}));
  }

  #filterRow(all) {
    const {type, project} = this.search;
    const counts = groups(all.results, (result) => result.type);
    const projects = groups(all.results, (result) => result.project_id);
    // the best of very many cannot be counted, and other types may be among the rest
    const isWhole = all.total <= all.results.length;
    const told = (results = []) => (isWhole ? results.length : null);
    const go = (changes) => this.context.go({...this.#filters(), ...changes, q: this.search.q});
    return element('div', {class: 'entity-filters'}, element('div', {class: 'filters', role: 'group', 'aria-label': gettext('Project')},
      project && removable(projectName(all, project), {label: gettext('Search all projects'), onremove: () => go({project: ''})}),
      !project && projects.size > 1 && [...projects].map(([id, results]) =>
        toggle(results[0].project_name ?? id, {pressed: false, name: `project-${id}`, count: told(results), ontoggle: () => go({project: id})}))),
    element('div', {class: 'filters', role: 'group', 'aria-label': gettext('Type')},
      Object.keys(TYPES).filter((name) => !isWhole || counts.has(name) || type.includes(name)).map((name) =>
        toggle(TYPES[name], {
          pressed: type.includes(name), name, count: told(counts.get(name)),
          ontoggle: (pressed) => {
            this.carried = {all, control: name};
            go({type: pressed ? [...type, name] : type.filter((each) => each !== name)});
          },
        }))));
  }

  #result(result, news) {
    return [
      element('p', {class: 'card-meta'}, result.project_name, result.near && label(gettext('Near')), news?.keys.includes(`${result.type}/${result.id}`) && label(gettext('New'), {tone: 'accent'})),
      element('h3', {class: 'result-title'}, element('button', {type: 'button', class: 'result-open', on: {click: () => this.context.open(result.type, result.id, result)}}, result.title)),
      result.snippet && element('p', {class: 'card-text'}, marked(result.snippet)),
    ];
  }

  #filters() {
    const {type = [], project = ''} = this.search ?? {};
    return {type, project};
  }
}

function details(entity) {
  const {body_markdown: body, ...props} = entity.props;
  const prose = element('div', {class: 'prose'});
  if (typeof body === 'string') new MarkdownView(prose).show(body);
  return [
    typeof body === 'string' && prose,
    propertyFacts(props, [[gettext('Project'), entity.project?.name], [gettext('Changed'), entity.updated_at && moment(entity.updated_at)]]),
  ];
}

/** Results grouped by a property, the group of the best result first. */
function groups(results, key) {
  const found = new Map();
  for (const result of results) found.set(key(result), [...(found.get(key(result)) ?? []), result]);
  return found;
}

function projectName({results}, id) {
  return results.find((result) => result.project_id === id)?.project_name ?? gettext('One project');
}

/** @param {URLSearchParams} params */
function searchOf(params) {
  return {
    q: (params.get('q') ?? '').trim(),
    type: params.getAll('type').filter((name) => Object.hasOwn(TYPES, name)),
    project: params.get('project') ?? '',
  };
}
