/**
 * The dates of the results: a bar for each month, or each year if there are many, that filters by it. For a chosen year, its
 * months.
 */

import {element} from '../../dom.js';
import {month} from '../../format.js';
import {gettext, ngettext} from '../../messages.js';

const MONTHS_MAX = 36;

/**
 * @typedef {{from: string, to: string, label: string, count: number}} Period its first and last day
 */

/**
 * Periods without gaps from first to last: months, of all or of the searched years, if there are few; otherwise years.
 * @param {{value: string, count: number}[]} groups by first day of month
 * @param {{from?: string, to?: string}} [search]
 * @param {string} [language] of the month names
 * @returns {Period[]}
 */
export function periods(groups, search = {}, language) {
  const counts = new Map(groups.filter(({value}) => value).map(({value, count}) => [String(value).slice(0, 7), count]));
  const places = [...counts.keys()].sort().map(placeOf);
  if (places.length === 0) return [];
  const [first, last] = [places[0], places.at(-1)];
  const months = Array.from({length: Math.min(last - first + 1, 12 * 300)}, (_, step) => first + step);
  const name = (place) => `${String(Math.floor(place / 12)).padStart(4, '0')}-${String((place % 12) + 1).padStart(2, '0')}`;
  const drawn = searched(months, search);
  if (drawn !== null) {
    return drawn.map((place) => ({from: `${name(place)}-01`, to: lastDay(name(place)), label: month(`${name(place)}-01`, language), count: counts.get(name(place)) ?? 0}));
  }
  const years = new Map();
  for (const place of months) years.set(name(place).slice(0, 4), (years.get(name(place).slice(0, 4)) ?? 0) + (counts.get(name(place)) ?? 0));
  return [...years].map(([year, count]) => ({from: `${year}-01-01`, to: `${year}-12-31`, label: year, count}));
}

/** The months to draw: all, those of the searched years, or only the searched ones; null if even these are too many. */
function searched(months, {from = '', to = ''}) {
  const first = from ? placeOf(from) : months[0];
  const last = to ? placeOf(to) : months.at(-1);
  const ways = [() => true, (place) => place >= first - first % 12 && place < last - last % 12 + 12, (place) => place >= first && place <= last];
  return ways.map((isIn) => months.filter(isIn)).find((part) => part.length > 0 && part.length <= MONTHS_MAX) ?? null;
}

/** The month of a date, counted from year 0. @param {string} text */
function placeOf(text) {
  return Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)) - 1;
}

function lastDay(text) {
  const [year, number] = text.split('-').map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}

/**
 * One bar is in the tab order; arrows move between bars.
 * @param {Period[]} shown
 * @param {{from: string, to: string}} search
 * @param {(filters: {from: string, to: string}, control: string) => void} onfilter
 */
export function monthsChart(shown, {from, to}, onfilter) {
  const largest = Math.max(1, ...shown.map(({count}) => count));
  const isIn = (period) => (!from || period.to >= from) && (!to || period.from <= to);
  const isChosen = (period) => period.from === from && period.to === to;
  const bars = shown.map((period) => element('button', {
    type: 'button', class: isIn(period) ? 'month is-in' : 'month', 'aria-pressed': String(isChosen(period)), tabindex: '-1', data: {filter: `month-${period.from}`},
    'aria-label': ngettext('{label}: {number} record', '{label}: {number} records', period.count, {label: period.label}), title: `${period.label}: ${period.count}`,
    on: {
      click: () => onfilter(isChosen(period) ? {from: '', to: ''} : {from: period.from, to: period.to}, `month-${period.from}`),
      keydown: (event) => move(event, bars),
    },
  }, element('span', {style: {'--share': period.count / largest}})));
  (bars.find((bar, place) => isChosen(shown[place])) ?? bars[0]).tabIndex = 0;
  return element('figure', {class: 'months'},
    element('figcaption', {}, shown[0].label.length === 4
      ? gettext('Records that hold all of these words, by year. Choose one to filter by it.')
      : gettext('Records that hold all of these words, by month. Choose one to filter by it.')),
    element('div', {class: 'months-bars', role: 'group', 'aria-label': gettext('When they are from')}, bars),
    element('div', {class: 'months-ends', 'aria-hidden': 'true'}, element('span', {}, shown[0].label), shown.length > 1 && element('span', {}, shown.at(-1).label)));
}

function move(event, bars) {
  const place = bars.indexOf(event.currentTarget);
  const next = {ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: bars.length - 1}[event.key];
  if (next === undefined || bars[next] === undefined) return;
  event.preventDefault();
  bars[place].tabIndex = -1;
  bars[next].tabIndex = 0;
  bars[next].focus();
}
