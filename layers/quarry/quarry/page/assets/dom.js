/** Builds the page's nodes. Text becomes text nodes and nothing here parses HTML, so text from a model or a record stays text.
 *
 *     element('p', {class: 'lead', hidden: false}, 'Hello ', element('b', {}, name))
 *     element('button', {type: 'button', on: {click: open}}, 'Open')
 *
 * @typedef {Node | string | number | null | undefined | false | Child[]} Child */

const SVG = 'http://www.w3.org/2000/svg';

/** Create an element. Attributes with the value false, null or undefined are omitted, true is an empty attribute; `on` holds event
 * listeners, `data` data attributes, `style` styles and custom properties by CSS name. Throws on attributes that could run code; an
 * address that is not http(s), mailto or tel is omitted. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  const {on = {}, data = {}, style = {}, ...others} = attributes;
  for (const [name, value] of Object.entries(others)) setAttribute(node, name, value);
  for (const [name, value] of Object.entries(data)) if (value != null) node.dataset[name] = String(value);
  for (const [name, value] of Object.entries(style)) if (value != null) node.style.setProperty(name, String(value));
  for (const [type, listener] of Object.entries(on)) if (listener) node.addEventListener(type, listener);
  node.append(...nodes(children));
  return node;
}

// Ids and filter values stay as in the data; their invisible characters are not shown.
const INVISIBLE = /[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/g;

/** A text without invisible characters that change how it reads. */
export function visible(text) {
  return text.replace(INVISIBLE, '').replace(/[\u2028\u2029]/g, '\n');
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child != null && child !== false).map((child) => (child instanceof Node ? child : visible(String(child))));
}

function setAttribute(node, name, value) {
  if (value == null || value === false) return;
  const lower = name.toLowerCase();
  if (lower.startsWith('on') || lower === 'srcdoc') throw new TypeError(`${name} cannot be set as an attribute`);
  if (lower === 'href' || lower === 'src') {
    const address = safeAddress(String(value));
    if (address === null) return;
    node.setAttribute(name, address);
    return;
  }
  node.setAttribute(name, value === true ? '' : String(value));
}

const SAFE_SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:']);

/** The address if it is safe to follow, otherwise null. */
function safeAddress(address) {
  try {
    return SAFE_SCHEMES.has(new URL(address, document.baseURI).protocol) ? address : null;
  } catch {
    return null;
  }
}

/** A link to another site, or only its text if the address is not a full http or https one. */
export function outsideLink(address, ...children) {
  if (!/^https?:\/\//i.test(address) || safeAddress(address) === null) return element('span', {}, ...children);
  return element('a', {href: address, target: '_blank', rel: 'noopener noreferrer nofollow'}, ...children);
}

export function replace(node, ...children) {
  node.replaceChildren(...nodes(children));
}

const MARK = '<mark>';
const MARK_END = '</mark>';
const ENTITIES = {amp: '&', lt: '<', gt: '>', quot: '"', apos: "'"};

/** A snippet from the service, escaped except for `<mark>`, as nodes: marks become elements, everything else text.
 * @returns {(Node | string)[]} */
export function marked(snippet) {
  const pieces = [];
  let end = 0;
  for (;;) {
    const start = snippet.indexOf(MARK, end);
    const close = start < 0 ? -1 : snippet.indexOf(MARK_END, start);
    if (close < 0) break;
    pieces.push(unescaped(snippet.slice(end, start)), element('mark', {}, unescaped(snippet.slice(start + MARK.length, close))));
    end = close + MARK_END.length;
  }
  pieces.push(unescaped(snippet.slice(end)));
  return pieces.filter((piece) => piece !== '');
}

export function plain(snippet) {
  return unescaped(snippet.replace(/<\/?mark>/g, ''));
}

function unescaped(text) {
  return text.replace(/&(?:#(\d{1,6})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi, (whole, decimal, hexadecimal, name) => {
    if (name) return ENTITIES[name.toLowerCase()];
    const code = decimal ? parseInt(decimal, 10) : parseInt(hexadecimal, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

const ICONS = {
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM20 20l-4.6-4.6',
  arrow: 'M12 19V5m-6 6 6-6 6 6',
  stop: 'M7 7h10v10H7z',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M7 7l10 10M17 7 7 17',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1',
  plus: 'M12 5v14M5 12h14',
  chevron: 'M9 6l6 6-6 6',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M4.9 4.9l1.8 1.8M17.3 17.3l1.8 1.8M4.9 19.1l1.8-1.8M17.3 6.7l1.8-1.8',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  filter: 'M4 7h16M7 12h10M10 17h4',
  outside: 'M9 5H5v14h14v-4M13 5h6v6M19 5l-9 9',
  lock: 'M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z',
  bookmark: 'M7 4h10v16l-5-4-5 4z',
  calendar: 'M5 6h14v14H5zM5 10.5h14M9 3.5v4M15 3.5v4',
  document: 'M7 3.5h7l4 4v13H7zM14 3.5v4h4M10 12h5M10 16h5',
  gavel: 'M13 4l7 7M10 7l7 7M15 5l-6 6M19 9l-6 6M11 13l-7 7M4 21h9',
  list: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  speech: 'M4 5h16v11H11l-5 4v-4H4z',
  folder: 'M3.5 6h6l2 2.5h9V19h-17z',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20a7.5 7.5 0 0 1 15 0',
};

/** A line icon, hidden from screen readers: its meaning is in the text next to it or in its button's label. */
export function icon(name) {
  return svg('svg', {viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true', focusable: 'false'}, svg('path', {d: ICONS[name]}));
}

/** A button. Its kinds are `primary`, `quiet` and `icon`.
 * @param {Child | Child[]} label
 * @param {{onclick?: (event: Event) => void, kind?: string, title?: string, [attribute: string]: any}} [options] */
export function button(label, {onclick, kind = '', ...attributes} = {}) {
  return element('button', {type: 'button', class: `button ${kind}`.trim(), on: {click: onclick}, ...attributes}, label);
}

/** A button whose work may fail; it then says so by what `failure` makes of the error. @param {(control: Element) => Promise<void>} work */
export function taskButton(label, work, failure) {
  const control = button(label, {kind: 'quiet', onclick: () => work(control).catch((error) => {
    control.disabled = false;
    replace(control, failure(error));
  })});
  return control;
}

/** A button that looks like a link in a sentence. */
export function textButton(text, onclick) {
  return element('button', {type: 'button', class: 'text-button', on: {click: onclick}}, text);
}

export function hiddenText(text) {
  return element('span', {class: 'visually-hidden'}, text);
}

let lastId = 0;

export function uniqueId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}
