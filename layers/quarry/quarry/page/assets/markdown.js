/** Markdown to nodes. The vendored lexer reads it; what it found becomes elements by the list below and everything else text. Raw
 * HTML, images, link definitions and addresses that are not http(s) never become what they ask for. */

import {repeats, sortable} from './components/charts.js';
import {element, outsideLink} from './dom.js';
import {Lexer, Marked} from './vendor/marked/marked.esm.js';

const NESTING_MAX = 12;
// A longer paragraph is shown without its markup.
const INLINE_CHARACTERS_MAX = 2000;
// a citation, or the place of a statement that the check marks: see statementPlace
const CITATION = /\[(\d{1,3})\]|\ue010(\d{1,3})\ue011/g;

/** What stands in a text for the mark of a statement. */
export const statementPlace = (place) => `\ue010${place}\ue011`;

// Without these an HTML tag is text, and `[1]: http://…` cannot turn a citation into a link.
const {defaults: OPTIONS} = new Marked({gfm: true, breaks: false, tokenizer: {html() {}, tag() {}, def() {}}});

/** Parsing emphasis and links takes time quadratic in the length of a paragraph, and quotes in their depth. Both are bounded here. */
class BoundedLexer extends Lexer {
  depth = 0;

  blockTokens(text, tokens = [], ...rest) {
    if (this.depth > NESTING_MAX) return asText(text, tokens);
    this.depth += 1;
    try {
      return super.blockTokens(text, tokens, ...rest);
    } finally {
      this.depth -= 1;
    }
  }

  inlineTokens(text, tokens = []) {
    return text.length > INLINE_CHARACTERS_MAX ? asText(text, tokens) : super.inlineTokens(text, tokens);
  }
}

function asText(text, tokens) {
  tokens.push({type: 'text', raw: text, text});
  return tokens;
}

/** @typedef {(n: number, isStatement?: boolean) => Node | null} Cite builds the mark of citation `[n]`, or of a statement; null if there
 * is no such source, or nothing to mark */

/** A growing text. Unchanged blocks keep their nodes, so that focus and selection in them survive. */
export class MarkdownView {
  /** @param {{cite?: Cite, above?: number}} [options] `above`: the level of the heading above it */
  constructor(root, {cite = () => null, above = 2} = {}) {
    this.root = root;
    this.cite = cite;
    this.above = above;
    /** Each block with the heading levels that are open after it. @type {{raw: string, node: Node, open: number[]}[]} */
    this.blocks = [];
    this.figure = null;
  }

  show(text) {
    const tokens = new BoundedLexer(OPTIONS).lex(text).filter((token) => token.type !== 'space');
    let kept = 0;
    while (kept < tokens.length && kept < this.blocks.length && this.blocks[kept].raw === tokens[kept].raw) kept += 1;
    for (const {node} of this.blocks.splice(kept)) this.root.removeChild(node);
    const open = [...(this.blocks.at(-1)?.open ?? [])];
    for (const token of tokens.slice(kept)) {
      const node = block(token, {cite: this.cite, above: this.above, open}, 0);
      this.root.append(node);
      this.blocks.push({raw: token.raw, node, open: [...open]});
    }
    this.#place();
  }

  /** Keep `node`, which charts a number, right below the first block that contains one; null removes it. */
  illustrate(node) {
    for (const {node: each} of this.blocks) each.hidden = false;
    this.figure?.remove();
    this.figure = node;
    this.#place();
  }

  #place() {
    if (!this.figure || this.blocks.length === 0) return;
    const {node} = this.blocks.find((block) => /\d/.test(block.raw)) ?? this.blocks[0];
    if (node.nextSibling !== this.figure) node.after(this.figure);
    const next = this.figure.nextElementSibling;
    if (next) next.hidden = repeats(next, this.figure);
  }
}

export function markdown(text, cite) {
  const root = element('div', {class: 'prose'});
  new MarkdownView(root, {cite}).show(text);
  return root;
}

/** The tag of a heading. No level is skipped, whatever the text does. */
function headingTag({depth}, {above, open}) {
  while (open.at(-1) >= depth) open.pop();
  open.push(depth);
  return `h${Math.min(above + open.length, 6)}`;
}

function block(token, into, depth) {
  if (depth > NESTING_MAX) return element('p', {}, token.raw);
  switch (token.type) {
    case 'paragraph': return element('p', {}, inline(token.tokens, into, depth));
    case 'text': return element('span', {}, token.tokens ? inline(token.tokens, into, depth) : cited(token.raw, into.cite));
    case 'heading': return element(headingTag(token, into), {}, inline(token.tokens, into, depth));
    case 'list': return list(token, into, depth);
    case 'blockquote': return element('blockquote', {}, blocks(token.tokens, into, depth));
    case 'code': return element('pre', {tabindex: '0'}, element('code', {}, token.text));
    case 'table': return table(token, into, depth);
    case 'hr': return element('hr');
    default: return element('p', {}, token.raw);
  }
}

function blocks(tokens, into, depth) {
  return tokens.filter((token) => token.type !== 'space').map((token) => block(token, into, depth + 1));
}

function list(token, into, depth) {
  const items = token.items.map((item) => element('li', {}, blocks(item.tokens, into, depth)));
  return element(token.ordered ? 'ol' : 'ul', token.ordered && token.start !== 1 ? {start: token.start} : {}, items);
}

function table(token, into, depth) {
  const cells = (row, tag) => element('tr', {}, row.map((cell) => element(tag, {}, inline(cell.tokens, into, depth))));
  const body = token.rows.map((row) => cells(row, 'td'));
  return element('div', {class: 'table-scroll', tabindex: '0'},
    sortable(element('table', {}, element('thead', {}, cells(token.header, 'th')), element('tbody', {}, body))));
}

function inline(tokens, into, depth) {
  if (depth > NESTING_MAX) return tokens.map((token) => token.raw);
  return tokens.map((token) => {
    const inner = () => inline(token.tokens ?? [], into, depth + 1);
    switch (token.type) {
      case 'text': return token.tokens ? inner() : cited(token.raw, into.cite);
      case 'escape': return token.text;
      case 'strong': return element('strong', {}, inner());
      case 'em': return element('em', {}, inner());
      case 'del': return element('del', {}, inner());
      case 'codespan': return element('code', {}, token.text);
      case 'br': return element('br');
      case 'link': return outsideLink(token.href, inner());
      // a remote image would reveal the reader to its server
      case 'image': return token.text;
      default: return token.raw;
    }
  });
}

/** Text with each `[n]` that has a source turned into a citation. */
function cited(text, cite) {
  const pieces = [];
  let end = 0;
  for (const match of text.matchAll(CITATION)) {
    const mark = match[1] ? cite(Number(match[1])) : cite(Number(match[2]), true);
    if (mark === null) continue;
    const before = text.slice(end, match.index);
    // the mark directly follows its sentence, so no line starts with one
    if (before === '' && pieces.length > 0) pieces.at(-1).append(mark);
    else {
      const [last] = before.match(/\S? ?$/u);
      pieces.push(before.slice(0, before.length - last.length), element('span', {class: 'cited-end'}, last.replace(/ $/, '\u00a0'), mark));
    }
    end = match.index + match[0].length;
  }
  pieces.push(text.slice(end));
  return pieces.filter((piece) => piece !== '');
}
