/**
 * `<quarry-ask>`: a question field for any page. It asks one collection and shows the cited answer as it streams.
 *
 * Attributes: `src` (the service's address; default: where this script came from), `collection` (a record type; default: all),
 * `token` (sent as a bearer token), `placeholder`, `label`. Events: `quarry-answer` with the answer's id, text and sources in `detail`.
 * Style it from outside with `::part(form | input | button | answer | sources | status)`.
 */

const HOME = new URL('..', import.meta.url);
const SILENCE_MAX_MS = 45_000;
/** The escape sequences in snippets. */
const ENTITIES = {'&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'", '&amp;': '&'};
/** An escaped character, code, bold text, a citation. */
const INLINE = /\\([!-/:-@[-`{-~])|`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[(\d{1,3})\]/g;

const STYLE = `
  :host { display: block; font: inherit; color: inherit; }
  form { display: flex; gap: .5rem; }
  label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  input { flex: 1; min-width: 0; }
  input, button { font: inherit; padding: .5rem .75rem; border: 1px solid; border-radius: .375rem; color: inherit; background: transparent; }
  button { cursor: pointer; }
  :focus-visible { outline: 2px solid; outline-offset: 2px; }
  p, ol { margin: .75rem 0; }
  ol:empty, p:empty { display: none; }
  a { color: inherit; }
  small { display: block; opacity: .8; }
`;

class QuarryAsk extends HTMLElement {
  #stop = null;

  constructor() {
    super();
    const root = this.attachShadow({mode: 'open'});
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    this.input = element('input', {id: 'question', type: 'search', part: 'input', maxLength: 2000, required: true, autocomplete: 'off'});
    this.label = element('label', {htmlFor: 'question'});
    this.status = element('p', {part: 'status', role: 'status'});
    this.answer = element('div', {part: 'answer'});
    this.sources = element('ol', {part: 'sources', ariaLabel: 'Sources'});
    const form = element('form', {part: 'form'}, this.label, this.input, element('button', {part: 'button'}, 'Ask'));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.ask(this.input.value);
    });
    root.append(form, this.status, this.answer, this.sources);
  }

  connectedCallback() {
    this.label.textContent = this.getAttribute('label') ?? 'Your question';
    this.input.placeholder = this.getAttribute('placeholder') ?? '';
  }

  disconnectedCallback() {
    this.#stop?.abort();
  }

  /** Ask a question as if it had been typed. @param {string} question */
  async ask(question) {
    this.#stop?.abort();
    const stop = (this.#stop = new AbortController());
    this.answer.replaceChildren();
    this.sources.replaceChildren();
    this.answer.ariaBusy = 'true';
    this.status.textContent = 'Searching…';
    try {
      const {text, sources, id} = await this.#read(question, stop);
      const count = sources.length;
      this.status.textContent = `Answered from ${count} ${count === 1 ? 'source' : 'sources'}.`;
      this.dispatchEvent(new CustomEvent('quarry-answer', {detail: {id, text, sources}}));
    } catch (error) {
      if (this.#stop === stop) this.status.textContent = stop.signal.reason?.message ?? error.message;
    } finally {
      if (this.#stop === stop) this.answer.ariaBusy = 'false';
      stop.abort();
    }
  }

  /** Show the events of the answer as they come. */
  async #read(question, stop) {
    let [text, sources, flagged, timer] = ['', [], [], 0];
    try {
      for await (const event of this.#events(question, stop.signal)) {
        clearTimeout(timer);
        timer = setTimeout(() => stop.abort(new Error('The service stopped answering. Ask again.')), SILENCE_MAX_MS);
        if (event.type === 'error') throw new Error(event.message);
        if (event.type === 'sources') sources = event.sources;
        if (event.type === 'final_answer_chunk') text += event.chunk;
        if (event.type === 'text_withdrawn') text = '';
        if (event.type === 'citations') flagged = (event.statements ?? []).filter(({state}) => state === 'flagged');
        if (event.type === 'done') {
          const cited = sources.filter(({n}) => text.includes(`[${n}]`));
          this.#show(marked(text, flagged), cited);
          return {text, sources: cited, id: event.answer_id};
        }
        if (event.type === 'final_answer_chunk') this.#show(text, []);
      }
    } finally {
      clearTimeout(timer);
    }
    throw new Error('The connection was lost before the answer was complete. Ask again.');
  }

  async *#events(question, signal) {
    const collection = this.getAttribute('collection');
    const token = this.getAttribute('token');
    const base = new URL(this.getAttribute('src') ?? HOME, document.baseURI);
    if (!base.pathname.endsWith('/')) base.pathname += '/';
    const response = await fetch(new URL('records/ask', base), {
      method: 'POST',
      signal,
      credentials: 'omit',
      headers: {'Content-Type': 'application/json', ...(token ? {Authorization: `Bearer ${token}`} : {})},
      body: JSON.stringify({question, ...(collection ? {types: [collection]} : {})}),
    }).catch((error) => {
      throw signal.aborted ? error : new Error('The service cannot be reached. Check src, and that ALLOWED_ORIGIN names this page.');
    });
    if (!response.ok) throw new Error((await response.json().catch(() => ({}))).detail ?? `The service answered ${response.status}.`);
    let rest = '';
    for await (const piece of pieces(response.body.pipeThrough(new TextDecoderStream()))) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop();
      for (const line of lines) if (line.startsWith('data:')) yield JSON.parse(line.slice(5));
    }
  }

  #show(text, sources) {
    const cited = new Set(sources.map(({n}) => n));
    const paragraphs = text.split(/\n+/).filter((line) => line.trim());
    this.answer.replaceChildren(...paragraphs.map((line) => element('p', {}, ...this.#inline(line.replace(/^(#+|[-*]) /, ''), cited))));
    this.sources.replaceChildren(
      ...sources.map(({n, title, snippet, date}) => {
        const passage = snippet.replace(/<\/?mark>/g, '').replace(/&(?:lt|gt|quot|#x27|amp);/g, (entity) => ENTITIES[entity]);
        return element('li', {value: n, id: `source-${n}`, tabIndex: -1}, date ? `${title} · ${date}` : title, element('small', {}, passage));
      }),
    );
  }

  /** Bold text, and citations as links to their sources. Nothing is parsed as HTML. */
  *#inline(line, cited) {
    let end = 0;
    for (const match of line.matchAll(INLINE)) {
      yield line.slice(end, match.index);
      end = match.index + match[0].length;
      const [whole, escaped, code, bold, n] = match;
      if (bold) yield element('strong', {}, bold);
      else if (n) yield cited.has(Number(n)) ? this.#citation(n) : whole;
      else yield escaped ?? element('code', {}, code);
    }
    yield line.slice(end);
  }

  #citation(n) {
    const link = element('a', {href: `#source-${n}`, ariaLabel: `Source ${n}`}, `[${n}]`);
    link.addEventListener('click', (event) => {
      event.preventDefault();
      this.shadowRoot.getElementById(`source-${n}`)?.focus();
    });
    return link;
  }
}

/** A text with a dagger behind each flagged statement, and their reasons below. Offsets count characters, not code units. */
function marked(text, flagged) {
  const characters = [...text];
  for (const {end} of [...flagged].reverse()) characters.splice(characters[end - 1] === '|' ? end - 1 : end, 0, '†');
  const reasons = [...new Set(flagged.map(({reason}) => reason))].filter(Boolean);
  return reasons.length ? `${characters.join('')}\n\n† ${reasons.join('; ')}` : characters.join('');
}

/** Safari can only read a stream through its reader. */
async function* pieces(stream) {
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

function element(name, properties, ...children) {
  const made = document.createElement(name);
  const {part, ...others} = properties;
  if (part) made.part = part;
  Object.assign(made, others);
  made.append(...children);
  return made;
}

customElements.define('quarry-ask', QuarryAsk);
