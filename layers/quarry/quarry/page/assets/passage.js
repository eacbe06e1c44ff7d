/**
 * A passage that is cited, marked where it stands. Only text nodes are cut: nothing here parses HTML.
 */

import {element} from './dom.js';

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** What a sentence ends with. */
const END = /[.!?…]*["”’»)]*/y;

/**
 * Mark a passage within what is shown and bring it before the reader; nothing where it does not stand there, or not any more.
 * @param {Element} root
 * @param {string} passage
 */
export function showPassage(root, passage) {
  const [first] = markPassage(root, passage);
  if (first === undefined) return;
  // read out from here on, unless the reader has gone to a control meanwhile
  first.tabIndex = -1;
  if (root.contains(document.activeElement) && document.activeElement.tabIndex < 0) first.focus({preventScroll: true});
  first.scrollIntoView({block: 'start'});
}

/**
 * Wrap a passage in marks. It is compared by its words: between them a record is shown with labels, paragraphs and cells.
 * @param {Element} root
 * @param {string} passage
 * @returns {HTMLElement[]} the marks in their order: one for each text node that holds some of it
 */
function markPassage(root, passage) {
  const read = textNodes(root).flatMap((node) => wordsOf(node.data).map((word) => ({...word, node})));
  const places = placesOf(passage, read.map(({text}) => text));
  if (places.length === 0) return [];
  /** @type {{node: Text, start: number, end: number}[]} */
  const runs = [];
  for (const [index, place] of places.entries()) {
    const {node, start, end} = read[place];
    if (index > 0 && place === places[index - 1] + 1 && runs.at(-1).node === node) runs.at(-1).end = end;
    else runs.push({node, start, end});
  }
  // from the end: cutting a node leaves the places before the cut as they are
  return runs.reverse().map(wrapped).reverse();
}

function wrapped({node, start, end}) {
  END.lastIndex = end;
  const [close] = END.exec(node.data);
  const cited = node.splitText(start);
  cited.splitText(end + close.length - start);
  const mark = element('mark', {class: 'cited'});
  cited.replaceWith(mark);
  mark.append(cited);
  return mark;
}

/**
 * Which words, by their places in order, are those of a passage: in a row, or each of its lines in a row, since these may be
 * shown apart. None unless all of it is there.
 * @param {string} passage
 * @param {string[]} texts
 */
function placesOf(passage, texts) {
  const whole = rowOf(wordsOf(passage), texts);
  if (whole.length > 0) return whole;
  const lines = passage.split('\n').map(wordsOf).filter((line) => line.length > 0);
  const rows = lines.map((line) => rowOf(line, texts));
  if (rows.some((row) => row.length === 0)) return [];
  return [...new Set(rows.flat())].sort((one, other) => one - other);
}

/** The places of these words in a row, the first time that they stand so. */
function rowOf(row, texts) {
  const first = texts.findIndex((_, place) => row.length > 0 && row.every(({text}, index) => texts[place + index] === text));
  return first < 0 ? [] : row.map((_, index) => first + index);
}

function wordsOf(text) {
  return [...text.matchAll(WORD)].map(({0: word, index}) => ({text: word.toLowerCase(), start: index, end: index + word.length}));
}

/** @returns {Text[]} */
function textNodes(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}
