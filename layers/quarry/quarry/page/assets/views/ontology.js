/** Projects: one search over tasks, plans, goals, milestones, documents, outputs and requirements, with details next to the list.
 *
 * The address is the state: `q`, the query; `type` and `project`, the filters. */

import {pathOf} from '../api.js';
import {emptyState, openPanel, propertyFacts, remark} from '../components/panel.js';
import {exportMenu, label, newMark, openedSearch, removable, resultItem, saver, toggle} from '../components/results.js';
import {button, element, plain, replace} from '../dom.js';
import {moment, number, words} from '../format.js';
import {markdown} from '../markdown.js';
import {gettext, ngettext} from '../messages.js';
import {itemActions} from '../components/results.js';
import {AnswersView} from './answers.js';

const TYPES = {
  task: gettext('Tasks'), plan: gettext('Plans'), goal: gettext('Goals'), milestone: gettext('Milestones'), document: gettext('Documents'), output: gettext('Outputs'), requirement: gettext('Requirements'),
};

export class OntologyView extends AnswersView {
  constructor(root, context) {
    super('ontology', root, context, {
      label: gettext('Search the projects'), placeholder: gettext('Search tasks, plans, goals, documents …'),
      onsubmit: (text) => context.go({...this.#parameters(), q: text}),
    });
    /** What a change of the types keeps: the results of all types, and the focused filter. */
    this.carried = null;
  }

  searchOf(params) {
    return {...super.searchOf(params), type: params.getAll('type').filter((name) => Object.hasOwn(TYPES, name)), project: params.get('project') ?? ''};
  }

  showFirst() {
    this.showHero({
      title: gettext('Everything in your projects'), label: gettext('Searches to try'),
      lead: gettext('Find your own tasks, plans, goals, milestones, documents, outputs and requirements by a few words, even misspelt.'),
    }, (text) => this.context.go({q: text}));
  }

  showSearch(params, entry) {
    const {carried} = this;
    this.carried = null;
    this.lay(gettext('Projects: {text}', {text: this.search.q}), element('div', {class: 'entities-body'}));
    entry.all ??= entry.saved.all ?? carried?.all;
    entry.response ??= entry.saved.response;
    if (entry.response) this.#showResponse(entry);
    else this.#run(entry);
    if (carried) this.root.querySelector(`[data-filter="${CSS.escape(carried.control)}"]`)?.focus({preventScroll: true});
  }

  open(type, id, hint) {
    if (!Object.hasOwn(TYPES, type)) return null;
    return openPanel(hint?.title ?? words(type), async (panel) => {
      const entity = await this.context.api.get(pathOf('ontology', type, id));
      panel.setTitle(entity.title, [words(type), entity.project?.name].filter(Boolean).join(' · '));
      const {body_markdown: body, ...properties} = entity.props;
      return [
        typeof body === 'string' && markdown(body),
        propertyFacts(properties, [[gettext('Project'), entity.project?.name], [gettext('Changed'), entity.updated_at && moment(entity.updated_at)]]),
        itemActions(type, id, this.context),
      ];
    }, this.context, {kicker: [words(type), hint?.project_name].filter(Boolean).join(' · ')});
  }

  get filters() {
    const {project, type} = this.search;
    return {...(project && {project_id: project}), ...(type.length > 0 && {types: type})};
  }

  #run(entry) {
    const {type} = this.search;
    return this.attempt(entry, {place: this.body, lines: 6, label: gettext('Search again'), again: () => this.#run(entry)}, async (signal) => {
      // every type is searched, so that each filter can show its number of results, if these are all
      entry.all ??= await this.#find([], signal);
      const {results, total} = entry.all;
      const ofType = results.filter((result) => type.includes(result.type));
      if (type.length === 0) entry.response = entry.all;
      // there may be more results of these types than are among the best of all types
      else if (total > results.length) entry.response = await this.#find(type, signal);
      else entry.response = {results: ofType, total: ofType.length};
      entry.save({all: entry.all, response: entry.response});
      const news = this.saved && await openedSearch(this.context, this.saved, entry.response.results);
      if (news) entry.save({news});
      if (this.entry !== entry) return;
      this.#showResponse(entry);
      this.context.announce(ngettext('{number} result', '{number} results', entry.response.results.length));
    });
  }

  #find(types, signal) {
    const {q, project} = this.search;
    return this.context.api.post('ontology/search', {query: q, ...(project && {project_id: project}), ...(types.length > 0 && {types})}, {signal});
  }

  #showResponse({all, response: {results: shown, total, more}}) {
    const {news} = this.entry.saved;
    this.answerPlace = element('div', {'aria-live': 'polite'});
    const counts = {shown: number(shown.length), all: number(total)};
    replace(this.body, this.#filterRow(all), this.answerPlace,
      news && remark(news.text),
      this.#tools(shown),
      total > shown.length && element('p', {class: 'fine'}, more
        ? gettext('The best {shown} of at least {all} are shown. A filter or another word finds the rest.', counts)
        : gettext('The best {shown} of {all} are shown. A filter or another word finds the rest.', counts)),
      shown.length === 0
        ? emptyState(gettext('No matches in your projects'), this.search.project || this.search.type.length > 0
          ? button(gettext('Search all projects and types'), {onclick: () => this.context.go({q: this.search.q})}) : gettext('Try another word, or fewer.'))
        : [...Map.groupBy(shown, ({type}) => type)].map(([name, results]) => element('section', {class: 'entity-group', 'aria-label': TYPES[name]},
          element('h2', {class: 'section-label'}, TYPES[name], total === shown.length && total > results.length && ` · ${results.length}`),
          element('ol', {class: 'results'}, results.map((result) => element('li', {class: 'result'}, this.result(result, news)))))));
    this.showStored();
  }

  #tools(results) {
    const {q} = this.search;
    const parameters = Object.fromEntries(Object.entries(this.#parameters()).filter(([, value]) => value.length > 0));
    const columns = ['type', 'id', 'title', 'project_name', 'score', 'snippet'];
    const table = () => ({name: q, columns, rows: results.map((result) => columns.map((name) => (name === 'snippet' ? plain(result.snippet ?? '') : result[name])))});
    return element('div', {class: 'results-tools'},
      button(gettext('Answer this question'), {onclick: () => this.ask(this.entry)}),
      results.length > 0 && exportMenu(table, this.context),
      saver(this.context, () => ({domain: 'ontology', query: q, parameters, results: results.map(({type, id}) => ({type, id}))})));
  }

  #filterRow(all) {
    const {type, project, q} = this.search;
    const counts = Map.groupBy(all.results, (result) => result.type);
    const projects = Map.groupBy(all.results, (result) => result.project_id);
    // the best of very many cannot be counted, and other types may be among the rest
    const isWhole = all.total <= all.results.length;
    const countOf = (results = []) => (isWhole ? results.length : null);
    const go = (changes) => this.context.go({...this.#parameters(), ...changes, q});
    const projectName = projects.get(project)?.[0].project_name ?? gettext('One project');
    return element('div', {class: 'entity-filters'}, element('div', {class: 'filters', role: 'group', 'aria-label': gettext('Project')},
      project && removable(projectName, {label: gettext('Search all projects'), onremove: () => go({project: ''})}),
      !project && projects.size > 1 && [...projects].map(([id, results]) =>
        toggle(results[0].project_name ?? id, {pressed: false, name: `project-${id}`, count: countOf(results), ontoggle: () => go({project: id})}))),
    element('div', {class: 'filters', role: 'group', 'aria-label': gettext('Type')},
      Object.keys(TYPES).filter((name) => !isWhole || counts.has(name) || type.includes(name)).map((name) =>
        toggle(TYPES[name], {
          pressed: type.includes(name), name, count: countOf(counts.get(name)),
          ontoggle: (pressed) => {
            this.carried = {all, control: name};
            go({type: pressed ? [...type, name] : type.filter((each) => each !== name)});
          },
        }))));
  }

  result(result, news) {
    const above = [result.project_name, result.near && label(gettext('Near')), newMark(news?.keys.includes(`${result.type}/${result.id}`))];
    return resultItem({...result, above}, () => this.context.open(result.type, result.id, result));
  }

  #parameters() {
    const {type = [], project = ''} = this.search ?? {};
    return {type, project};
  }
}
