/** Reads and edits the constraints of a question about campaigns. */

import {alternatives, reasserted} from '../../components/conditions.js';

const CHOICES = ['required', 'preferred', 'excluded'];
/** A condition with more values than this cannot be edited. */
const VALUES_MAX = 6;
/** The constraints that are fields of their own: what the campaigns are about, and what their copy says. */
const ALONE = {theme: ['About', (text) => text], words: ['Words of the copy', (text) => `says “${text}”`]};

/** @type {import('../../components/conditions.js').Reader} */
export const reader = {read, without, put, changed};

function read(constraints) {
  const alone = Object.entries(ALONE).filter(([name]) => constraints[name]).map(([name, [label, word]]) => (
    {text: word(constraints[name]), assertion: 'about', choices: [], inputs: [{label, value: constraints[name]}], held: {name, text: constraints[name]}}));
  return [...chipsOf(constraints.conditions ?? []).map((clauses) => clauseCondition(clauses, constraints)), ...alone];
}

function clauseCondition(clauses, {evidence = []}) {
  const conditions = clauses.flatMap((clause) => clause.any_of);
  const labels = new Set(clauses.map((clause) => (clause.label || labelOf(clause)).replaceAll(/\bnot /g, isNegated(clause) ? '' : 'not ')));
  return {
    text: [...labels].join(' or '),
    assertion: isNegated(clauses[0]) ? 'excluded' : clauses[0].strength ?? 'required',
    choices: CHOICES,
    inputs: inputsOf(conditions),
    held: {clauses, conditions, evidence: evidence.filter((each) => conditions.some((condition) => isSaid(condition, each)))},
  };
}

/** Clauses by chip; exclusions in several fields are one chip. @returns {any[][]} */
function chipsOf(clauses) {
  const chips = new Map();
  for (const clause of clauses) {
    const [{values = []}] = clause.any_of;
    const key = isNegated(clause) && clause.any_of.length === 1 && values.length > 0 ? values.join(', ').toLowerCase() : clause;
    chips.set(key, [...(chips.get(key) ?? []), clause]);
  }
  return [...chips.values()];
}

function isNegated({any_of: conditions}) {
  return conditions.every(({negated}) => negated);
}

function isSaid({field, values = [], negated = false}, each) {
  return field === each.field && Boolean(negated) === (each.assertion === 'negated') && (values.length === 0 || values.join(', ') === each.value);
}

function inputsOf(conditions) {
  const [{field, values = [], from, to, months = []}] = conditions;
  if (field === 'capture_date') {
    const canChange = conditions.length === 1 && months.length === 0;
    return canChange ? [{label: 'From', type: 'date', value: from ?? ''}, {label: 'To', type: 'date', value: to ?? ''}] : [];
  }
  const spelt = values.join(' or ');
  const isOne = values.length > 0 && values.length <= VALUES_MAX && conditions.every((each) => (each.values ?? []).join(' or ') === spelt);
  return isOne ? [{label: 'Value', value: spelt}] : [];
}

function labelOf({any_of: conditions}) {
  return [...new Set(conditions.map(({field, values = [], from, to}) =>
    (values.length > 0 ? values.join(' or ') : [field.replaceAll('_', ' '), from && `from ${from}`, to && `to ${to}`].filter(Boolean).join(' '))))].join(' or ');
}

function without(constraints, {held: {name, clauses, evidence}}) {
  if (name) return {...constraints, [name]: ''};
  return {
    ...constraints,
    conditions: constraints.conditions.filter((each) => !clauses.includes(each)),
    evidence: (constraints.evidence ?? []).filter((each) => !evidence.includes(each)),
  };
}

function put(constraints, {held: {name, text, conditions, evidence}}, assertion) {
  if (name) return {...constraints, [name]: text};
  const meant = conditions.map((each) => ({...each, negated: assertion === 'excluded'}));
  // every exclusion must hold
  const clauses = assertion === 'excluded' ? meant.map((each) => ({any_of: [each]})) : [{any_of: meant, strength: assertion}];
  return {
    ...constraints,
    conditions: [...(constraints.conditions ?? []), ...clauses],
    evidence: [...(constraints.evidence ?? []), ...reasserted(evidence, assertion)],
  };
}

function changed(condition, values) {
  const {held} = condition;
  const [text] = values;
  if (held.name) return {...condition, held: {...held, text}};
  const [from, to] = values.map((value) => value || null);
  const conditions = held.conditions.map((each) => (each.field === 'capture_date' ? {...each, from, to} : {...each, values: alternatives(text)}));
  return {...condition, held: {...held, conditions, evidence: []}};
}
