/** `<quarry-ask>`: a question field for any page. It asks one collection and shows the cited answer as it streams.
 *
 * Attributes: `src` (the service's address; default: where this script came from), `collection` (a record type; default: all),
 * `token` (sent as a bearer token), `placeholder`, `label`. Events: `quarry-answer` with the answer's id, text and sources in
 * `detail`. Its labels are in the language of the page around it, English, German or French. Its colours follow from the text
 * colour there, light or dark, and from the custom properties in `STYLE`; `::part(form | input | button | status | answer |
 * citation | sources | source)` reaches the rest. Enter asks, Escape stops an answer, and leads from a source back to where it is
 * cited. */

/** By language, the messages of this file; filled in where it is served.
 * @type {Record<string, Record<string, string | string[]>>} */
const MESSAGES = {};
/** The forms of a message in the order in which a catalogue has them. */
const FORMS = ['zero', 'one', 'two', 'few', 'many', 'other'];

const HOME = new URL('..', import.meta.url);
const SILENCE_MAX_MS = 45_000;
const ENTITIES = {'&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'", '&amp;': '&'};
/** An escaped character, code, bold text, a citation. */
const INLINE = /\\([!-/:-@[-`{-~])|`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[(\d{1,3})\]/g;

const STYLE = `
  :host {
    display: block; font: inherit; color: inherit; line-height: 1.5;
    --line: var(--quarry-line, color-mix(in srgb, currentColor 28%, transparent));
    --soft: var(--quarry-surface, color-mix(in srgb, currentColor 5%, transparent));
    --muted: var(--quarry-muted, color-mix(in srgb, currentColor 72%, transparent));
    --radius: var(--quarry-radius, .5rem);
    --accent: var(--quarry-accent, currentColor);
  }
  :host([hidden]) { display: none; }
  * { box-sizing: border-box; }
  form { display: flex; flex-wrap: wrap; gap: .5rem; }
  label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  input, button { min-height: 2.75rem; font: inherit; color: inherit; border: 1px solid var(--line); border-radius: var(--radius); }
  input { flex: 1 1 12rem; min-width: 0; padding: .5rem .875rem; background: var(--soft); }
  input::placeholder { color: var(--muted); opacity: 1; }
  button { padding: .5rem 1.125rem; font-weight: 600; cursor: pointer;
    background: var(--quarry-accent, color-mix(in srgb, currentColor 12%, transparent)); color: var(--quarry-on-accent, inherit); }
  button:hover { filter: brightness(1.08); }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  p, ol { margin: .75rem 0; }
  ol:empty, p:empty { display: none; }
  [part=status] { color: var(--muted); font-size: .875em; }
  [part=status].is-busy::before { content: ''; display: inline-block; width: .625em; height: .625em; margin-inline-end: .5em; border-radius: 50%;
    background: var(--accent); animation: pulse 1s ease-in-out infinite alternate; }
  @keyframes pulse { to { opacity: .25; } }
  @media (prefers-reduced-motion: reduce) { [part=status].is-busy::before { animation: none; } }
  ol { display: grid; gap: .5rem; padding: 0; list-style: none; }
  li { padding: .625rem .875rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--soft); overflow-wrap: anywhere; }
  li::before { content: attr(value) '. '; color: var(--muted); font-variant-numeric: tabular-nums; }
  a { color: var(--accent); text-underline-offset: .2em; }
  small { display: block; margin-top: .125rem; color: var(--muted); }
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
    this.sources = element('ol', {part: 'sources', });
    this.button = element('button', {part: 'button'});
    const form = element('form', {part: 'form'}, this.label, this.input, this.button);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (this.isBusy) this.stop();
      else this.ask(this.input.value);
    });
    root.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      const source = event.target.closest('li');
      if (source) (root.querySelector(`a[href="#${source.id}"]`) ?? this.input).focus();
      else if (this.isBusy) this.stop();
    });
    root.append(form, this.status, this.answer, this.sources);
  }

  connectedCallback() {
    const said = (this.closest('[lang]')?.lang || navigator.language).slice(0, 2).toLowerCase();
    this.language = said in MESSAGES ? said : 'en';
    this.label.textContent = this.getAttribute('label') ?? this.#gettext('Your question');
    this.input.placeholder = this.getAttribute('placeholder') ?? '';
    this.sources.ariaLabel = this.#gettext('Sources');
    this.#setBusy(false);
  }

  disconnectedCallback() {
    this.#stop?.abort();
  }

  /** Stop the answer that is being given. */
  stop() {
    this.#stop?.abort(new Error(this.#gettext('Stopped.')));
  }

  #setBusy(isBusy) {
    this.isBusy = isBusy;
    this.answer.ariaBusy = String(isBusy);
    this.status.classList.toggle('is-busy', isBusy);
    // while it answers, an empty field may stop it too
    this.input.required = !isBusy;
    this.button.textContent = isBusy ? this.#gettext('Stop') : this.#gettext('Ask');
  }

  #gettext(text, values = {}) {
    return filled(MESSAGES[this.language]?.[text] ?? text, values);
  }

  #ngettext(one, many, number) {
    const rules = new Intl.PluralRules(this.language);
    const forms = FORMS.filter((form) => rules.resolvedOptions().pluralCategories.includes(form));
    const said = MESSAGES[this.language]?.[one] ?? [one, many];
    return filled(said[forms.indexOf(rules.select(number))], {number});
  }

  /** Ask a question as if it had been typed. */
  async ask(question) {
    this.#stop?.abort();
    const stop = (this.#stop = new AbortController());
    this.answer.replaceChildren();
    this.sources.replaceChildren();
    this.#setBusy(true);
    this.status.textContent = this.#gettext('Searching…');
    try {
      const {text, sources, id} = await this.#read(question, stop);
      this.status.textContent = this.#ngettext('Answered from {number} source.', 'Answered from {number} sources.', sources.length);
      this.dispatchEvent(new CustomEvent('quarry-answer', {detail: {id, text, sources}}));
    } catch (error) {
      if (this.#stop === stop) this.status.textContent = stop.signal.reason?.message ?? error.message;
    } finally {
      if (this.#stop === stop) this.#setBusy(false);
      stop.abort();
    }
  }

  /** Show the events of the answer as they come. */
  async #read(question, stop) {
    let [text, sources, flagged, timer] = ['', [], [], 0];
    try {
      for await (const event of this.#events(question, stop.signal)) {
        clearTimeout(timer);
        timer = setTimeout(() => stop.abort(new Error(this.#gettext('The service stopped answering. Ask again.'))), SILENCE_MAX_MS);
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
    throw new Error(this.#gettext('The connection was lost before the answer was complete. Ask again.'));
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
      headers: {'Content-Type': 'application/json', 'Accept-Language': this.language, ...(token ? {Authorization: `Bearer ${token}`} : {})},
      body: JSON.stringify({question, ...(collection ? {types: [collection]} : {})}),
    }).catch((error) => {
      throw signal.aborted ? error : new Error(this.#gettext('The service cannot be reached. Check src, and that ALLOWED_ORIGIN names this page.'));
    });
    if (!response.ok) throw new Error((await response.json().catch(() => ({}))).detail ?? this.#gettext('The service answered {status}.', {status: response.status}));
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
        return element('li', {part: 'source', value: n, id: `source-${n}`, tabIndex: -1}, date ? `${title} · ${this.#day(date)}` : title, element('small', {}, passage));
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

  #day(date) {
    const day = new Date(`${date.slice(0, 10)}T00:00:00Z`);
    const options = {day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC'};
    return Number.isNaN(day.getTime()) ? date : day.toLocaleDateString(this.language === 'en' ? 'en-GB' : this.language, options);
  }

  #citation(n) {
    const link = element('a', {part: 'citation', href: `#source-${n}`, ariaLabel: this.#gettext('Source {number}', {number: n})}, `[${n}]`);
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

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
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
