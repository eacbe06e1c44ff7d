/** Reads and edits the constraints of a question for companies. */

import {alternatives, reasserted} from '../../components/conditions.js';
import {number} from '../../format.js';

const MEASURED = new Set(['founded_year', 'closed_year', 'employees', 'funding']);
const TAGS = new Set(['sector', 'category', 'business_model', 'niche']);
const CHOICES = ['required', 'preferred', 'excluded'];
/** A condition with more values than this (a continent has many countries) cannot be edited. */
const VALUES_MAX = 6;

/** @type {import('../../components/conditions.js').Reader} */
export const reader = {read, without, put, changed};

function read(constraints, question) {
  const {conditions = [], excluded = [], topic = ''} = constraints;
  const clauses = clausesOf(conditions).map((clause) => clauseCondition(clause, constraints, question));
  const saidNot = new Set(clauses.flatMap(({assertion, held}) => (assertion === 'excluded' ? held.words : [])));
  return [
    ...clauses,
    ...excluded.filter((text) => !saidNot.has(text)).map((text) => ({text, assertion: 'excluded', choices: [], inputs: [{label: 'Words', value: text}], held: {excluded: text}})),
    ...(topic ? [{text: topic, assertion: 'about', choices: [], inputs: [{label: 'About', value: topic}], held: {topic}}] : []),
  ];
}

function clauseCondition(clause, constraints, question) {
  const assertion = clause.every(({negated}) => negated) ? 'excluded' : clause[0].strength ?? 'required';
  const evidence = evidenceOf(clause, constraints);
  const labels = new Set(clause.map((each) => (each.label ?? labelOf(each)).replace(/^not /, '')));
  const letters = Array.from(question);
  return {
    text: [...labels].join(' or '),
    assertion,
    choices: assertion === 'assumed' ? ['assumed', ...CHOICES] : CHOICES,
    inputs: inputsOf(clause),
    held: {clause, evidence, words: evidence.map(({start, end}) => letters.slice(start, end).join(''))},
  };
}

/** Conditions of the same group are alternatives; exclusions in several fields are one condition. @returns {any[][]} */
function clausesOf(conditions) {
  const groups = new Map();
  for (const condition of conditions) {
    const isOne = condition.negated && condition.group == null && condition.values?.length > 0;
    const key = condition.group ?? (isOne ? `not ${condition.values.join(', ').toLowerCase()}` : condition);
    groups.set(key, [...(groups.get(key) ?? []), condition]);
  }
  return [...groups.values()];
}

function inputsOf(clause) {
  const [{field, least, most, values = []}] = clause;
  if (MEASURED.has(field)) {
    const hasBounds = clause.length === 1 && (least != null || most != null);
    return hasBounds ? [['At least', least], ['At most', most]].map(([label, bound]) => ({label, type: 'number', value: bound == null ? '' : String(bound)})) : [];
  }
  const spelt = values.join(' or ');
  const isOne = values.length > 0 && values.length <= VALUES_MAX && clause.every((each) => each.values.join(' or ').toLowerCase() === spelt.toLowerCase());
  return isOne ? [{label: 'Value', value: spelt}] : [];
}

function labelOf({field, values = [], least, most}) {
  const name = field.replaceAll('_', ' ');
  const bounds = [least != null && `from ${number(least)}`, most != null && `to ${number(most)}`].filter(Boolean).join(' ');
  return values.length > 0 ? values.join(' or ') : `${name} ${bounds}`.trim();
}

/** The words of the question for a clause. */
function evidenceOf(clause, {evidence = []}) {
  return evidence.filter(({field, value, assertion}) => clause.some((each) =>
    each.field === field && Boolean(each.negated) === (assertion === 'negated') && (!each.values?.length || each.values.join(', ') === value)));
}

function without(constraints, {assertion, held: {clause, evidence, words, excluded, topic}}) {
  if (topic !== undefined) return {...constraints, topic: ''};
  if (excluded !== undefined) return {...constraints, excluded: constraints.excluded.filter((each) => each !== excluded)};
  return {
    ...constraints,
    conditions: constraints.conditions.filter((each) => !clause.includes(each)),
    // companies must not mention an excluded value either
    excluded: (constraints.excluded ?? []).filter((text) => assertion !== 'excluded' || !words.includes(text)),
    evidence: (constraints.evidence ?? []).filter((each) => !evidence.includes(each)),
  };
}

function put(constraints, {held: {clause, evidence, words, excluded, topic}}, assertion) {
  if (topic !== undefined) return {...constraints, topic};
  if (excluded !== undefined) return {...constraints, excluded: [...(constraints.excluded ?? []), excluded]};
  const {conditions = []} = constraints;
  const isOut = assertion === 'excluded';
  // alternatives are one group; every exclusion must hold
  const group = isOut || clause.length === 1 ? undefined : 1 + Math.max(-1, ...conditions.map((each) => each.group ?? -1));
  const meant = clause.map((each) => ({...each, negated: isOut, strength: isOut ? 'required' : assertion, group}));
  return {
    ...constraints,
    conditions: [...conditions, ...meant],
    excluded: isOut && TAGS.has(clause[0].field) ? [...new Set([...(constraints.excluded ?? []), ...words])] : constraints.excluded,
    evidence: [...(constraints.evidence ?? []), ...reasserted(evidence, assertion)],
  };
}

function changed(condition, values) {
  const [text] = values;
  const {held} = condition;
  if (held.topic !== undefined) return {...condition, held: {topic: text}};
  if (held.excluded !== undefined) return {...condition, held: {excluded: text}};
  const bounds = values.map((value) => (value === '' ? null : Number(value)));
  const [first] = held.clause;
  // a taxonomy value is shown without the name of its field
  const fields = TAGS.has(first.field) ? [...TAGS] : held.clause.map(({field}) => field);
  const clause = MEASURED.has(first.field)
    ? [{...first, label: null, least: bounds[0], most: bounds[1]}] : fields.map((field) => ({...first, field, label: null, values: alternatives(text)}));
  return {...condition, held: {clause, evidence: [], words: []}};
}
