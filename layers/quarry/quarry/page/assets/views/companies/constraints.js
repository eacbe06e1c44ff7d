/** How a question for companies was understood, and what is left of it without one condition. */

const STRENGTHS = [
  {strength: 'required', name: 'Must be', tone: 'accent'}, {strength: 'assumed', name: 'Taken to be', tone: ''},
  {strength: 'preferred', name: 'Better with', tone: ''},
];

/**
 * What companies must be, are taken to be, or are better with; what they must not speak of; and what they are about.
 * @param {any} constraints
 * @param {string} question
 * @returns {import('../../components/understood.js').Group[]}
 */
export function understood(constraints, question) {
  const clauses = clausesOf(constraints.conditions);
  const saidNot = new Set(clauses.flatMap((clause) => ruledOut(clause, constraints, question)));
  return [
    ...STRENGTHS.map(({strength, name, tone}) => ({name, tone, conditions: clauses.filter(([first]) => first.strength === strength).map((clause) => ({
      text: [...new Set(clause.map(({label}) => label))].join(' or '),
      tone: isNegated(clause) ? 'warning' : tone,
      without: without(constraints, clause, question),
    }))})),
    {name: 'Not', tone: 'warning', conditions: constraints.excluded.filter((text) => !saidNot.has(text)).map((text) =>
      ({text, without: {...constraints, excluded: constraints.excluded.filter((each) => each !== text)}}))},
    {name: 'About', tone: '', conditions: constraints.topic ? [{text: constraints.topic, without: {...constraints, topic: ''}}] : []},
  ];
}

/** Conditions of the same group are alternatives. @returns {any[][]} */
function clausesOf(conditions) {
  const groups = new Map();
  for (const condition of conditions) {
    const key = condition.group ?? condition;
    groups.set(key, [...(groups.get(key) ?? []), condition]);
  }
  return [...groups.values()];
}

function isNegated(clause) {
  return clause.every(({negated}) => negated);
}

/** What the question says of a clause. */
function evidenceOf(clause, {evidence}) {
  return evidence.filter(({field, value, assertion}) => clause.some((each) =>
    each.field === field && each.negated === (assertion === 'negated') && (each.values.length === 0 || each.values.join(', ') === value)));
}

/** The words of a negated clause, which no company may speak of either. */
function ruledOut(clause, constraints, question) {
  const letters = Array.from(question);
  return isNegated(clause) ? evidenceOf(clause, constraints).map(({start, end}) => letters.slice(start, end).join('')) : [];
}

function without(constraints, clause, question) {
  const gone = new Set(evidenceOf(clause, constraints));
  const words = new Set(ruledOut(clause, constraints, question));
  return {
    ...constraints,
    conditions: constraints.conditions.filter((each) => !clause.includes(each)),
    excluded: constraints.excluded.filter((text) => !words.has(text)),
    evidence: constraints.evidence.filter((each) => !gone.has(each)),
  };
}
