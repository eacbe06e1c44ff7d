/** Reads and edits the constraints of a query for people. */

import {alternatives, reasserted} from '../../components/conditions.js';
import {day, rupees, words} from '../../format.js';

/**
 * @typedef {object} Field
 * @property {'must' | 'should' | 'exclude'} part of the constraints
 * @property {string[]} names its fields there
 * @property {string} said its name in the evidence
 * @property {boolean} isList whether it can have several values
 * @property {Partial<Record<'must' | 'should' | 'exclude', string>>} as the matching fields of the other parts; words if there is none
 * @property {(held: any[], evidence: Said[]) => {text: string, values: any[], inputs: import('../../components/conditions.js').Input[]}[]} read
 * @property {(held: any[], values: string[]) => any[]} changed
 *
 * @typedef {{names: string[], words: string, each: any}} Said the names that words of the query mean
 */

const ASSERTIONS = {must: 'required', should: 'preferred', exclude: 'excluded'};
const PART_OF = {required: 'must', preferred: 'should', excluded: 'exclude'};

const WORDS = {must: 'text', should: 'keywords', exclude: 'keywords'};
const ORGANISATION = {must: 'company_norm', should: 'company_norm', exclude: 'company_norm'};
const TEAM = {must: 'team_norm', should: 'team_norm', exclude: 'team_norm'};
const PLACE = {must: 'location_text', should: 'location', exclude: 'location'};
const ALONE = {};

/** A period is edited as its first and last day. */
const DAYS = {
  inputs: ([start, end]) => [{label: 'From', type: 'date', value: start ?? ''}, {label: 'To', type: 'date', value: end ?? ''}],
  changed: (held, values) => values.map((value) => value || null),
};

/** The fields that may be read from a query. */
const FIELDS = [
  list('must', 'name', (name) => titled(name), ALONE),
  list('must', 'role', (role) => role.split('|')[0].toLowerCase(), WORDS),
  list('must', 'company_norm', (name) => `at ${titled(name)}`, ORGANISATION),
  list('must', 'school_norm', (name) => `at ${titled(name)}`, ORGANISATION),
  list('must', 'team_norm', (name) => `team ${titled(name)}`, TEAM),
  list('must', 'intent_primary', (kind) => `kind ${spoken(kind)}`, WORDS),
  list('must', 'domain', (name) => `field ${spoken(name)}`, WORDS),
  list('must', 'sub_domain', (name) => `speciality ${spoken(name)}`, WORDS),
  list('must', 'employment_type', (kind) => `employment ${spoken(kind)}`, WORDS),
  list('must', 'seniority_level', (level) => `seniority ${spoken(level)}`, WORDS),
  list('must', 'text', (text) => `says “${text}”`, WORDS),
  one('must', ['city', 'location_text', 'country'], 'location_text', ([city, text, country]) => `in ${titled(city ?? text ?? country)}`, {
    as: PLACE, inputs: ([city, text, country]) => [{label: 'Place', value: titled(city ?? text ?? country)}], changed: (held, [text]) => [null, text.toLowerCase(), null],
  }),
  list('must', 'preferred_locations', (name) => (name === 'remote' ? 'would work remotely' : `would work in ${titled(name)}`), ALONE),
  list('must', 'or_preferred_locations', (name) => (name === 'remote' ? 'or would work remotely' : `or would work in ${titled(name)}`), ALONE),
  one('must', ['time_start', 'time_end'], 'time', period, {...DAYS, as: {exclude: 'time'}}),
  one('must', ['started_from', 'started_until'], 'started', (held) => `started ${period(held)}`, DAYS),
  one('must', ['ended_from', 'ended_until'], 'ended', (held) => `ended ${period(held)}`, DAYS),
  one('must', ['is_current'], 'is_current', ([isCurrent]) => (isCurrent ? 'current' : 'former'), {as: {exclude: 'is_current'}}),
  one('must', ['open_to_work_only'], 'open_to_work_only', ([isOpen]) => isOpen && 'open to work'),
  one('must', ['offer_salary_inr_per_year'], 'offer_salary_inr_per_year', ([amount]) => `pay up to ${rupees(amount)} a year`, {
    inputs: ([amount]) => [{label: '₹ a year', type: 'number', value: String(amount)}], changed: (held, [amount]) => [Number(amount)],
  }),
  one('must', ['experience_years_min', 'experience_years_max'], 'experience_years', ([least, most]) => `${[least && `${least}+`, most && `up to ${most}`].filter(Boolean).join(', ')} years of experience`, {
    inputs: ([least, most]) => [{label: 'Years, at least', type: 'number', value: String(least ?? '')}, {label: 'At most', type: 'number', value: String(most ?? '')}],
    changed: (held, values) => values.map((value) => (value ? Number(value) : null)),
  }),
  list('should', 'company_norm', (name) => `at ${titled(name)}`, ORGANISATION),
  list('should', 'team_norm', (name) => `team ${titled(name)}`, TEAM),
  list('should', 'location', (name) => `in ${titled(name)}`, PLACE),
  list('should', 'skills_or_tools', (skill) => skill, WORDS),
  list('should', 'keywords', (word) => word, WORDS),
  list('should', 'intent_secondary', spoken, WORDS),
  list('exclude', 'company_norm', (name) => `at ${titled(name)}`, ORGANISATION),
  list('exclude', 'team_norm', (name) => `team ${titled(name)}`, TEAM),
  list('exclude', 'location', (name) => `in ${titled(name)}`, PLACE),
  one('exclude', ['time_start', 'time_end'], 'time', period, {...DAYS, as: {must: 'time'}}),
  one('exclude', ['is_current'], 'is_current', ([isCurrent]) => (isCurrent ? 'current' : 'former'), {as: {must: 'is_current'}}),
  one('exclude', ['open_to_work'], 'open_to_work', ([isOpen]) => isOpen && 'open to work'),
  list('exclude', 'keywords', (word) => word, WORDS),
];

/** The fields that a relaxation drops, if its name is not that of its field. */
const RELAXED = {location: ['location_text'], time: ['time', 'started', 'ended'], open_to_work_only: ['open_to_work_only', 'open_to_work']};

/** The single-valued fields, by their name in the evidence. */
const SINGLE = {time: ['time_start', 'time_end'], is_current: ['is_current']};

/** @type {import('../../components/conditions.js').Reader} */
export const reader = {read, without, put, changed};

/**
 * A field with several values. Values stated by the same words are one condition, labelled with these words. @returns {Field}
 */
function list(part, name, word, as) {
  const read = ([values], evidence) => {
    const taken = new Set();
    return (values ?? []).flatMap((value) => {
      if (taken.has(value)) return [];
      const names = namesIn(value);
      const said = evidence.filter((each) => each.names.some((other) => names.includes(other)));
      const alike = new Set(said.flatMap((each) => each.names));
      const together = values.filter((each) => each === value || namesIn(each).some((other) => alike.has(other)));
      for (const each of together) taken.add(each);
      const spelt = together.map((each) => titledFor(as, each.split('|')[0])).join(' or ');
      return [{text: word(said.length > 0 ? said.map(({words: text}) => text).join(' or ') : value), values: together, inputs: [{label: 'Value', value: spelt}]}];
    });
  };
  return {part, names: [name], said: name, isList: true, as, read, changed: (held, [text]) => alternatives(text.toLowerCase())};
}

/** One condition made of several fields. @returns {Field} */
function one(part, names, said, word, {as = ALONE, inputs = () => [], changed: change = (held) => held} = {}) {
  const read = (held) => {
    const text = held.some((value) => value != null) && word(held);
    return text ? [{text, values: held.map((value) => value ?? null), inputs: inputs(held)}] : [];
  };
  return {part, names, said, isList: false, as, read, changed: change};
}

function read(constraints) {
  const roles = new Set((constraints.must?.role ?? []).flatMap((role) => role.split('|')));
  return FIELDS.flatMap((field) => {
    const evidence = saidOf(constraints, `${field.part}.${field.said}`);
    return field.read(field.names.map((name) => constraints[field.part]?.[name]), evidence)
      // prefer the condition that must hold
      .filter(({values}) => field.part !== 'should' || !values.every((value) => roles.has(value.toLowerCase())))
      .map(({text, values, inputs}) => ({text, assertion: ASSERTIONS[field.part], choices: choicesOf(field), inputs, held: heldOf(field, values, evidence)}));
  });
}

function choicesOf({part, as}) {
  const parts = Object.keys(PART_OF).filter((assertion) => PART_OF[assertion] === part || as[PART_OF[assertion]]);
  return parts.length > 1 ? parts : [];
}

/** The reader's data of a condition: its field, values and evidence. */
function heldOf(field, values, evidence) {
  const names = new Set(field.isList ? values.flatMap(namesIn) : []);
  const own = evidence.filter((each) => !field.isList || each.names.some((name) => names.has(name)));
  return {field, values, evidence: own.map(({each}) => each)};
}

/** What the query's own words say about a field. @returns {Said[]} */
function saidOf({query_original: query = '', evidence = []}, field) {
  const letters = Array.from(query);
  return evidence.filter((each) => each.field === field)
    .map((each) => ({names: namesIn(each.value), words: letters.slice(each.start, each.end).join(''), each}));
}

/**
 * The constraints without what one relaxation drops; unchanged if it drops nothing.
 * @param {any} constraints
 * @param {string} relaxation its name
 */
export function relaxed(constraints, relaxation) {
  const said = RELAXED[relaxation] ?? [relaxation];
  return read(constraints).filter(({held: {field}}) => (field.part === 'must' || field.said === 'open_to_work') && said.includes(field.said))
    .reduce((left, condition) => without(left, condition), constraints);
}

function without(constraints, {held: {field: {part, names, said}, values, evidence}}) {
  const held = {...constraints[part]};
  for (const name of names) held[name] = Array.isArray(held[name]) ? held[name].filter((each) => !values.includes(each)) : null;
  const left = {...constraints, [part]: held};
  if (said === 'role') left.should = withoutNames(constraints.should, new Set(values.flatMap(namesIn)));
  left.evidence = (constraints.evidence ?? []).filter((each) => !evidence.includes(each));
  // these cover all conditions together, so the server rebuilds them
  return {...left, search_phrases: [], query_embedding_text: ''};
}

function withoutNames(should, gone) {
  return Object.fromEntries(Object.entries(should ?? {}).map(([name, values]) => [name, values.filter((value) => !gone.has(value.toLowerCase()))]));
}

function put(constraints, {held: {field, values, evidence}}, assertion) {
  const part = PART_OF[assertion];
  const isMoved = part !== field.part;
  const name = isMoved ? field.as[part] : field.said;
  const held = {...constraints[part]};
  const set = (names, given) => names.forEach((each, place) => { held[each] = given[place]; });
  const listed = field.isList ? values : [values.find((value) => value !== null)];
  const meant = isMoved && field.as === WORDS ? listed.flatMap((value) => value.split('|')).map((value) => value.replaceAll('_', ' ')) : listed;
  if (!isMoved && !field.isList) set(field.names, values);
  else if (name === 'location_text') set(['city', 'location_text', 'country'], [null, meant.join(' or '), null]);
  else if (SINGLE[name]) set(SINGLE[name], values);
  else held[name] = [...new Set([...(held[name] ?? []), ...meant])];
  const moved = reasserted(evidence, assertion).map((each) => ({...each, field: `${part}.${name}`}));
  // the server rebuilds the text to embed
  return {...constraints, [part]: held, evidence: [...(constraints.evidence ?? []), ...moved], search_phrases: [], query_embedding_text: ''};
}

function changed(condition, values) {
  const {field, values: held} = condition.held;
  return {...condition, held: {field, values: field.changed(held, values), evidence: []}};
}

/** The names of one value, or of the several values that one piece of evidence stands for. */
function namesIn(value) {
  return value.toLowerCase().split('|').flatMap((names) => names.split(' or '));
}

function period([start, end]) {
  if (start && end) return `between ${day(start)} and ${day(end)}`;
  return start ? `since ${day(start)}` : `until ${day(end)}`;
}

function spoken(name) {
  return words(name).toLowerCase();
}

const SMALL_WORDS = new Set(['of', 'and', 'the', 'in', 'for', 'de', 'do', 'da', 'or']);

function titled(name) {
  return name.replace(/(^|[\s-])(\p{Ll}[\p{L}\p{M}]*)/gu, (said, before, word) => before && SMALL_WORDS.has(word) ? said : before + word[0].toUpperCase() + word.slice(1));
}

/** A value to type: names capitalised, other words unchanged. */
function titledFor(as, value) {
  return as === WORDS ? spoken(value) : titled(value);
}
