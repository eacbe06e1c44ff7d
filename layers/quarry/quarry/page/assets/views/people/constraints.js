/** How a query for people was understood, in words, and what is left of it without one condition. */

import {day, rupees, words} from '../../format.js';

/**
 * @typedef {{part: string, names: string[], said: string, read: (held: any[], evidence: Said[]) => [text: string, values: string[] | null][]}} Field
 * @typedef {{names: string[], words: string}} Said the names that words of the query stand for
 */

/** What may be read from a query. `names` are its fields in that part of the constraints; `said` is what its evidence calls it. */
const FIELDS = [
  list('must', 'name', (name) => titled(name)),
  list('must', 'role', (role) => role.split('|')[0].toLowerCase()),
  list('must', 'company_norm', (name) => `at ${titled(name)}`),
  list('must', 'school_norm', (name) => `at ${titled(name)}`),
  list('must', 'team_norm', (name) => `team ${titled(name)}`),
  list('must', 'intent_primary', (kind) => `kind ${spoken(kind)}`),
  list('must', 'domain', (name) => `field ${spoken(name)}`),
  list('must', 'sub_domain', (name) => `speciality ${spoken(name)}`),
  list('must', 'employment_type', (kind) => `employment ${spoken(kind)}`),
  list('must', 'seniority_level', (level) => `seniority ${spoken(level)}`),
  list('must', 'text', (text) => `says “${text}”`),
  one('must', ['city', 'location_text', 'country'], 'location_text', (city, text, country) => `in ${titled(city ?? text ?? country)}`),
  one('must', ['time_start', 'time_end'], 'time', period),
  one('must', ['started_from', 'started_until'], 'started', (from, until) => `started ${period(from, until)}`),
  one('must', ['ended_from', 'ended_until'], 'ended', (from, until) => `ended ${period(from, until)}`),
  one('must', ['is_current'], 'is_current', (isCurrent) => (isCurrent ? 'current' : 'former')),
  one('must', ['open_to_work_only'], 'open_to_work_only', (isOpen) => isOpen && 'open to work'),
  one('must', ['offer_salary_inr_per_year'], 'offer_salary_inr_per_year', (amount) => `pay up to ${rupees(amount)} a year`),
  list('should', 'skills_or_tools', (skill) => skill),
  list('should', 'keywords', (word) => word),
  list('should', 'intent_secondary', spoken),
  list('exclude', 'company_norm', (name) => `at ${titled(name)}`),
  list('exclude', 'team_norm', (name) => `team ${titled(name)}`),
  list('exclude', 'location', (name) => `in ${titled(name)}`),
  one('exclude', ['time_start', 'time_end'], 'time', period),
  one('exclude', ['is_current'], 'is_current', (isCurrent) => (isCurrent ? 'current' : 'former')),
  list('exclude', 'keywords', (word) => word),
];

const PARTS = [
  {part: 'must', name: 'Must', tone: 'accent'}, {part: 'should', name: 'Better with', tone: ''}, {part: 'exclude', name: 'Not', tone: 'warning'},
];

/** The fields that a relaxation drops, where it is not called as its field is. */
const RELAXED = {location: ['location_text'], time: ['time', 'started', 'ended']};

/**
 * A field that holds any number of values. What the same words say is one condition, and is called by them. @returns {Field}
 */
function list(part, name, word) {
  return {part, names: [name], said: name, read: ([values], evidence) => {
    const taken = new Set();
    return (values ?? []).flatMap((value) => {
      if (taken.has(value)) return [];
      const names = namesIn(value);
      const said = evidence.filter((each) => each.names.some((other) => names.includes(other)));
      const alike = new Set(said.flatMap((each) => each.names));
      const together = values.filter((each) => each === value || namesIn(each).some((other) => alike.has(other)));
      for (const each of together) taken.add(each);
      return [[word(said.length > 0 ? said.map(({words: text}) => text).join(' or ') : value), together]];
    });
  }};
}

/** One condition that these fields hold together. @returns {Field} */
function one(part, names, said, word) {
  return {part, names, said, read: (held) => {
    const text = held.some((value) => value != null) && word(...held);
    return text ? [[text, null]] : [];
  }};
}

/**
 * Groups of conditions, those that must hold first.
 * @param {any} constraints as the service read them
 * @returns {import('../../components/understood.js').Group[]}
 */
export function understood(constraints) {
  const roles = new Set((constraints.must.role ?? []).flatMap((role) => role.split('|')));
  const evidence = (field) => saidOf(constraints, `${field.part}.${field.said}`);
  return PARTS.map(({part, name, tone}) => ({name, tone, conditions: FIELDS.filter((field) => field.part === part).flatMap((field) =>
    field.read(field.names.map((each) => constraints[part][each]), evidence(field))
      // what must hold is better held too
      .filter(([, values]) => part !== 'should' || !values.every((value) => roles.has(value.toLowerCase())))
      .map(([text, values]) => ({text, without: without(constraints, field, values)})))}));
}

/** What the query's own words say of a field. @returns {Said[]} */
function saidOf({query_cleaned: query, evidence = []}, field) {
  const letters = Array.from(query);
  return evidence.filter((each) => each.field === field)
    .map(({value, start, end}) => ({names: namesIn(value), words: letters.slice(start, end).join('')}));
}

/**
 * The constraints without what one relaxation drops; themselves where it drops nothing of theirs.
 * @param {any} constraints
 * @param {string} relaxation its name
 */
export function relaxed(constraints, relaxation) {
  const said = RELAXED[relaxation] ?? [relaxation];
  return FIELDS.filter(({part, names, said: name}) => part === 'must' && said.includes(name) && names.some((each) => constraints.must[each] != null))
    .reduce((left, field) => without(left, field, null), constraints);
}

/** The constraints without a field, or without some of its values, and without the words that say it. */
function without(constraints, {part, names, said}, values) {
  const gone = new Set((values ?? []).flatMap(namesIn));
  const held = {...constraints[part]};
  for (const name of names) held[name] = Array.isArray(held[name]) ? held[name].filter((each) => values !== null && !values.includes(each)) : null;
  const left = {...constraints, [part]: held};
  if (said === 'role') left.should = withoutNames(constraints.should, gone);
  left.evidence = (constraints.evidence ?? []).filter((each) =>
    each.field !== `${part}.${said}` || (values !== null && !namesIn(each.value).some((name) => gone.has(name))));
  // what these say of all conditions together is made anew
  return {...left, search_phrases: [], query_embedding_text: ''};
}

function withoutNames(should, gone) {
  return Object.fromEntries(Object.entries(should).map(([name, values]) => [name, values.filter((value) => !gone.has(value.toLowerCase()))]));
}

/** The names of one value, or of the several that one piece of evidence stands for. */
function namesIn(value) {
  return value.toLowerCase().split('|').flatMap((names) => names.split(' or '));
}

function period(start, end) {
  if (start && end) return `between ${day(start)} and ${day(end)}`;
  return start ? `since ${day(start)}` : `until ${day(end)}`;
}

function spoken(name) {
  return words(name).toLowerCase();
}

function titled(name) {
  return name.replace(/(^|[\s-])\p{Ll}/gu, (letter) => letter.toUpperCase());
}
