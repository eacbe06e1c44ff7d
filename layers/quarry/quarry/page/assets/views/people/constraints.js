/** How a query was understood, in words, and the query without one of its conditions. */

import {day, rupees, words} from '../../format.js';

const MUST = {
  company_norm: 'at', team_norm: 'team', intent_primary: 'kind', domain: 'field', sub_domain: 'speciality', employment_type: 'employment',
  seniority_level: 'seniority',
};

/**
 * Groups of conditions, those that must hold first.
 * @param {any} constraints as the service read them
 * @returns {{name: string, tone: string, texts: string[]}[]}
 */
export function understood({must, should, exclude}) {
  const required = [
    ...Object.entries(MUST).flatMap(([name, word]) => must[name].map((value) => `${word} ${name.endsWith('_norm') ? titled(value) : words(value).toLowerCase()}`)),
    ...(must.city || must.location_text || must.country ? [`in ${titled(must.city ?? must.location_text ?? must.country)}`] : []),
    ...period(must),
    ...(must.is_current === null || must.is_current === undefined ? [] : [must.is_current ? 'current' : 'former']),
    ...(must.open_to_work_only ? ['open to work'] : []),
    ...(must.offer_salary_inr_per_year ? [`pay up to ${rupees(must.offer_salary_inr_per_year)} a year`] : []),
  ];
  const wished = [...should.skills_or_tools, ...should.keywords, ...should.intent_secondary.map((each) => words(each).toLowerCase())];
  const excluded = [...exclude.company_norm.map(titled), ...exclude.keywords];
  return [
    {name: 'Must', tone: 'accent', texts: required}, {name: 'Better with', tone: '', texts: wished}, {name: 'Not', tone: 'warning', texts: excluded},
  ].filter(({texts}) => texts.length > 0);
}

function period({time_start: start, time_end: end}) {
  if (start && end) return [`between ${day(start)} and ${day(end)}`];
  if (start) return [`since ${day(start)}`];
  return end ? [`until ${day(end)}`] : [];
}

function titled(name) {
  return name.replace(/(^|[\s-])\p{Ll}/gu, (letter) => letter.toUpperCase());
}

const BEFORE = '(?:\\b(?:in|at|from|of|with|for|near|around|based in|worked at|working at|who worked at|ex|currently|only)[ -]+){0,4}';
const MONEY = /\s*\b(?:for|under|below|up to|within|at|offering|paying|budget(?: of)?)?\s*(?:inr|rs\.?|₹)?\s*\d[\d,.]*\s*(?:k|lpa|lakhs?|lacs?|crores?|cr)?(?:\s*(?:inr|rupees))?(?:\s*(?:\/|per|a)\s*(?:month|year|annum))?/gi;
const YEARS = /\s*\b(?:between|from|since|after|before|until|in|during)?\s*(?:\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\s+)?(?:19|20)\d\d(?:\s*(?:-|–|to|and)\s*(?:\w+\s+)?(?:19|20)\d\d)?\b/gi;

/**
 * The query without the words of a condition; the query itself where they are not to be found.
 * @param {string} query
 * @param {string} constraint its name in the relaxations
 * @param {any} constraints
 */
export function without(query, constraint, {must}) {
  // what follows tries every way to part a run of white space
  const line = oneLine(query);
  if (constraint === 'time') return tidy(line.replace(YEARS, ' '), query);
  if (constraint === 'offer_salary_inr_per_year') return tidy(line.replace(MONEY, ' '), query);
  const values = {
    location: [must.city, must.location_text, must.country], is_current: ['currently', 'current', 'now', 'former', 'formerly', 'ex'],
  }[constraint] ?? must[constraint] ?? [];
  const text = values.filter(Boolean).flatMap((value) => [value, words(value)]).sort((one, other) => other.length - one.length)
    .reduce((left, value) => left.replace(new RegExp(`${BEFORE}\\b${escaped(value)}s?\\b`, 'giu'), ' '), line);
  return tidy(text, query);
}

function tidy(text, otherwise) {
  const left = oneLine(text).replace(/ (?=[,.;])/g, '').replace(/(?:, ?)+/g, ', ');
  let start = 0;
  let end = left.length;
  while (start < end && ' ,;'.includes(left[start])) start += 1;
  while (end > start && ' ,;'.includes(left[end - 1])) end -= 1;
  return left.slice(start, end) || otherwise;
}

function oneLine(text) {
  return text.replace(/\s+/g, ' ');
}

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
