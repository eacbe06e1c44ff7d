/**
 * A client of Quarry's HTTP interface, for browsers and Node 18 or newer, without dependencies. `quarry.d.ts` has its types.
 */

export class QuarryError extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `status ${status}`);
    this.name = 'QuarryError';
    this.status = status;
    this.problem = problem;
  }
}

/** Lines end in one or two of these; the service sends no other. */
const LINE_END = /\r?\n/;

export class Quarry {
  #base;
  #token;
  #fetch;

  constructor(base, {token, fetch: own} = {}) {
    this.#base = String(base).replace(/\/$/, '');
    this.#token = token;
    this.#fetch = own ?? globalThis.fetch.bind(globalThis);
  }

  async call(route, input = {}) {
    const response = await this.#ask(route, 'application/json', input);
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  }

  async *stream(route, input = {}) {
    const response = await this.#ask(route, 'text/event-stream, application/x-ndjson', input);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    let isDone = false;
    try {
      while (!isDone) {
        const {done, value = ''} = await reader.read();
        isDone = done;
        const lines = (rest + value + (done ? '\n' : '')).split(LINE_END);
        rest = lines.pop();
        for (const line of lines) {
          // heartbeats are empty lines and comments; ids are for going on after a lost connection
          const data = line.startsWith('data:') ? line.slice(5) : line;
          if (data.trimStart().startsWith('{')) yield JSON.parse(data);
        }
      }
    } finally {
      if (!isDone) await reader.cancel().catch(() => {});
    }
  }

  async #ask(route, accept, {path = {}, query = {}, body, headers = {}, signal}) {
    const [method, address] = route.split(' ');
    // an owner's id may hold a slash
    const place = address.replace(/\{(\w+)\}/g, (_, name) => String(path[name]).split('/').map(encodeURIComponent).join('/'));
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const each of [value].flat()) if (each !== null && each !== undefined) parameters.append(name, String(each));
    }
    const response = await this.#fetch(`${this.#base}${place}${parameters.size ? `?${parameters}` : ''}`, {
      method,
      signal,
      headers: {
        Accept: accept,
        ...(this.#token && {Authorization: `Bearer ${this.#token}`}),
        ...(body !== undefined && {'Content-Type': 'application/json'}),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok) throw new QuarryError(response.status, await response.json().catch(() => ({})));
    return response;
  }
}
