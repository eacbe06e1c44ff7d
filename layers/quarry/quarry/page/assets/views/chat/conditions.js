/** How a question of a conversation was understood: its clauses, each by its label, and what is found by words or by meaning. */

/**
 * What must hold or must not, which its label says, and what it is about; each with the constraints without it.
 * @param {any} constraints
 * @returns {import('../../components/understood.js').Group[]} without those that have no condition
 */
export function conditionGroups(constraints) {
  const clauses = constraints.conditions.map((clause) =>
    ({text: clause.label, without: without(constraints, clause), tone: isNegated(clause) ? 'warning' : 'accent'}));
  const texts = ['theme', 'words'].filter((name) => constraints[name])
    .map((name) => ({text: name === 'words' ? `says “${constraints.words}”` : constraints.theme, without: {...constraints, [name]: ''}}));
  return [
    {name: 'Must be', tone: 'accent', conditions: clauses},
    {name: 'About', tone: '', conditions: texts},
  ].filter(({conditions}) => conditions.length > 0);
}

function isNegated({any_of: conditions}) {
  return conditions.every(({negated}) => negated);
}

/** The constraints without a clause, and without the words that say it and no other clause. */
function without(constraints, clause) {
  const conditions = constraints.conditions.filter((each) => each !== clause);
  const isSaid = ({field, value}) => conditions.some(({any_of: others}) => others.some((each) => each.field === field && each.values.join(', ') === value));
  const fields = new Set(clause.any_of.map(({field}) => field));
  return {...constraints, conditions, evidence: constraints.evidence.filter((each) => !fields.has(each.field) || isSaid(each))};
}
