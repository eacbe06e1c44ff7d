/** How a question about campaigns was understood, and what is left of it without one condition. */

/**
 * What must hold or must not, which its label says, and what it is about.
 * @param {any} constraints
 * @returns {import('../../components/understood.js').Group[]}
 */
export function understood(constraints) {
  const {conditions, theme, words} = constraints;
  return [
    {name: 'Must be', tone: 'accent', conditions: conditions.map((clause) =>
      ({text: clause.label, tone: isNegated(clause) ? 'warning' : 'accent', without: without(constraints, clause)}))},
    {name: 'About', tone: '', conditions: [
      ...(theme ? [{text: theme, without: {...constraints, theme: ''}}] : []),
      ...(words ? [{text: `says “${words}”`, without: {...constraints, words: ''}}] : []),
    ]},
  ];
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
