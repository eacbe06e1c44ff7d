/** Calls to the service, relative to the page. Every failure is a `Problem` with a kind that a view can act on. If the reader stops
 * a call, it throws an AbortError, as `fetch` does (`isStopped`). */

import {LANGUAGE} from './messages.js';

/** @typedef {'offline' | 'unreachable' | 'not_signed_in' | 'no_credits' | 'not_allowed' | 'not_found' | 'expired' | 'conflict' |
 *   'misdirected' | 'invalid' | 'rate_limited' | 'unavailable' | 'broken_off' | 'failed'} ProblemKind */

/** @type {Record<number, ProblemKind>} */
const KINDS = {
  400: 'invalid', 401: 'not_signed_in', 402: 'no_credits', 403: 'not_allowed', 404: 'not_found', 409: 'conflict', 410: 'expired',
  413: 'invalid', 421: 'misdirected', 422: 'invalid', 429: 'rate_limited', 502: 'unavailable', 503: 'unavailable', 504: 'unavailable',
};

// The service sends a heartbeat every ten seconds.
const SILENCE_MAX_MS = 45_000;

// Every stream ends with one of these, or with an `error`.
const LAST_EVENTS = new Set(['done', 'final_answer']);

// A stream that ends this way is resumed after its last event, after these pauses; any event resets the count.
const LOST = new Set(['broken_off', 'offline', 'unreachable', 'unavailable']);
const PAUSES_MS = [300, 1000, 2000, 4000, 8000];

// The duration of a frame.
const BUSY_MAX_MS = 16;

export class Problem extends Error {
  /** `detail` is the service's message, if any; `errors` are those of single fields. */
  constructor(kind, detail = '', {status = 0, retryAfterSeconds = null, requestId = null, errors = []} = {}) {
    super(detail || kind);
    Object.assign(this, {name: 'Problem', kind, detail, status, retryAfterSeconds, requestId, errors});
  }
}

/** Whether an error is the reader's own stop. */
export function isStopped(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** @typedef {Record<string, string | number | string[] | null | undefined>} Query lists repeat the name; empty values are omitted
 * @typedef {object} Options
 * @property {Query} [query]
 * @property {unknown} [body]
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal] stops the call
 * @property {string} [accept]
 * @property {boolean} [isPublic] the call needs no user
 * @property {string | null} [after] resume an earlier stream after this place */

export class Api {
  /** `base` is the service's address, with a trailing slash; without a `session`, only what is public can be called. */
  constructor(base, session) {
    Object.assign(this, {base, session});
  }

  async get(path, options = {}) {
    return readJson(await this.#request('GET', path, options));
  }

  async post(path, body, options = {}) {
    return readJson(await this.#request('POST', path, {...options, body}));
  }

  async patch(path, body) {
    return readJson(await this.#request('PATCH', path, {body}));
  }

  async delete(path) {
    await this.#request('DELETE', path, {});
  }

  /** The events of a stream, server-sent or NDJSON, as they come: POST if there is a body, otherwise GET. A lost connection is
   * resumed after the last event. An `error` event, silence, and a stream without a last event throw Problems. A stopped stream is
   * cancelled. */
  async *stream(path, options = {}) {
    let place = options.after ?? null;
    let ended = false;
    let lost = 0;
    let began = performance.now();
    try {
      while (!ended) {
        try {
          for await (const event of this.#events(path, options, place)) {
            if (event.type === 'error') throw new Problem('failed', event.message ?? event.data?.message);
            place = event.seq ?? place;
            ended = LAST_EVENTS.has(event.type);
            lost = 0;
            yield event;
            // show events that come all at once in pieces, so that the reader can act in between
            if (performance.now() - began > BUSY_MAX_MS) {
              await pause(0);
              began = performance.now();
            }
          }
          if (!ended) throw new Problem('broken_off');
        } catch (error) {
          if (lost > 0 && ['not_found', 'expired'].includes(error.kind)) throw new Problem('broken_off');
          if (place === null || !LOST.has(error.kind) || lost === PAUSES_MS.length) throw error;
          await pause(PAUSES_MS[lost], options.signal);
          lost += 1;
        }
      }
    } finally {
      if (place !== null && !ended && options.signal?.aborted) this.delete(pathOf('runs', runOf(place))).catch(() => {});
    }
  }

  /** The events after a place of an earlier call, or of a new one; each with its place as `seq`. */
  async *#events(path, options, place) {
    const accept = options.accept ?? 'text/event-stream';
    const query = place === null ? options.query : {...options.query, after_seq: place};
    const response = await this.#request(options.body === undefined ? 'GET' : 'POST', path, {...options, accept, query});
    let id;
    for await (const line of lines(response.body, options.signal)) {
      if (line.startsWith('id:')) id = line.slice(3).trim();
      const event = parsed(line);
      if (event !== null) yield {seq: id, ...event};
    }
  }

  async #request(method, path, {query = {}, body, headers = {}, signal, accept = 'application/json', isPublic = false}) {
    const token = isPublic ? null : await this.session.token();
    const url = new URL(path, this.base);
    withQuery(url.searchParams, query);
    let response;
    try {
      response = await fetch(url, {
        method,
        signal,
        credentials: 'omit',
        cache: isPublic ? 'default' : 'no-store',
        headers: {
          Accept: accept,
          'Accept-Language': LANGUAGE,
          ...(body === undefined ? {} : {'Content-Type': 'application/json'}),
          ...(token === null ? {} : {Authorization: `Bearer ${token}`}),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    } catch (error) {
      throw isStopped(error) ? error : new Problem(navigator.onLine ? 'unreachable' : 'offline');
    }
    if (!response.ok) throw await this.#problem(response);
    return response;
  }

  async #problem(response) {
    if (response.status === 401) this.session?.refused();
    const body = await response.json().catch(() => ({}));
    const retryAfter = Number.parseInt(response.headers.get('Retry-After') ?? '', 10);
    return new Problem(KINDS[response.status] ?? 'failed', typeof body.detail === 'string' ? body.detail : '', {
      status: response.status,
      retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
      requestId: body.request_id ?? response.headers.get('X-Request-Id') ?? undefined,
      errors: Array.isArray(body.errors) ? body.errors : [],
    });
  }
}

/** The path of an item by its id, which may contain slashes. */
export function pathOf(...segments) {
  return segments.flatMap((segment) => segment.split('/')).map(encodeURIComponent).join('/');
}

/** Whether a stream that ended with this error can be resumed. */
export function canReadOn(error) {
  return error instanceof Problem && (LOST.has(error.kind) || error.kind === 'rate_limited');
}

export function runOf(place) {
  return place.split('/')[0];
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('Stopped', 'AbortError'));
    }, {once: true});
  });
}

/** Adds parameters to those of an address. @param {URLSearchParams} params @param {Query} query */
export function withQuery(params, query) {
  for (const [name, value] of Object.entries(query)) {
    // an empty value in a list stands for rows without one
    for (const each of Array.isArray(value) ? value : [value === '' ? null : value]) {
      if (each !== null && each !== undefined) params.append(name, String(each));
    }
  }
  return params;
}

async function readJson(response) {
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch (error) {
    throw isStopped(error) ? error : new Problem('broken_off');
  }
}

/** The lines of a body as they come, possibly with a carriage return at the end. A last line without a line break counts. */
async function* lines(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let isDone = false;
  try {
    for (;;) {
      const {done, value} = await unlessSilent(reader.read(), signal);
      if (done) {
        isDone = true;
        break;
      }
      const pieces = value.split('\n');
      pieces[0] = rest + pieces[0];
      rest = pieces.pop() ?? '';
      yield* pieces;
    }
    if (rest) yield rest;
  } finally {
    // a reader that leaves early cancels the rest
    if (!isDone) reader.cancel().catch(() => {});
  }
}

async function unlessSilent(reading, signal) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Problem('broken_off')), SILENCE_MAX_MS);
  });
  try {
    return await Promise.race([reading, silence]);
  } catch (error) {
    if (signal?.aborted) throw new DOMException('Stopped', 'AbortError');
    if (isStopped(error) || error instanceof Problem) throw error;
    throw new Problem(navigator.onLine ? 'broken_off' : 'offline');
  } finally {
    clearTimeout(timer);
  }
}

/** The event on a line: NDJSON, or the data of a server-sent event. Empty lines and comments are heartbeats. */
function parsed(line) {
  const text = line.startsWith('data:') ? line.slice(5).trim() : line.trim();
  if (!text.startsWith('{')) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem('broken_off');
  }
}
