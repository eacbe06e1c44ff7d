/**
 * What the page knows of each entry of the browser's history. A view keeps there what it likes; what is `saved` is still there after a
 * reload, so that one asks for nothing again.
 */

const PREFIX = 'quarry.entry.';

/** @type {Map<string, Entry>} */
const entries = new Map();

export class Entry {
  /** @param {string} key @param {boolean} isArrival whether the reader came from outside the page: by a link, or by typing an address */
  constructor(key, isArrival) {
    this.key = key;
    this.isArrival = isArrival;
    /** @type {Record<string, any>} */
    this.saved = read(PREFIX + key)?.saved ?? {};
  }

  /** Make this entry, the current one, the reader's own: a reload runs what it shows. */
  adopt() {
    this.isArrival = false;
    history.replaceState({...history.state, isArrival: false}, '');
  }

  /** Keep these for a reload beside what is kept already. @param {Record<string, any>} changes JSON */
  save(changes) {
    Object.assign(this.saved, changes);
    write(PREFIX + this.key, {at: Date.now(), saved: this.saved});
  }
}

/** The entry that the reader is at. One that came about by a change of the fragment alone is `before` still. @param {Entry | null} before */
export function currentEntry(before = null) {
  const key = history.state?.key ?? before?.key ?? crypto.randomUUID();
  if (history.state?.key === undefined) history.replaceState({key, isArrival: before?.isArrival ?? true}, '');
  if (!entries.has(key)) entries.set(key, new Entry(key, history.state.isArrival === true));
  return entries.get(key);
}

/** Forget what this tab has saved, since another user may come. */
export function forgetEntries() {
  for (const name of savedNames()) sessionStorage.removeItem(name);
}

function savedNames() {
  try {
    return Object.keys(sessionStorage).filter((name) => name.startsWith(PREFIX));
  } catch {
    return [];
  }
}

function read(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}

/** Where there is no room the oldest go; what finds none even so is not saved. */
function write(name, value) {
  const text = JSON.stringify(value);
  let others = null;
  for (;;) {
    try {
      sessionStorage.setItem(name, text);
      return;
    } catch {
      others ??= byAge(savedNames().filter((other) => other !== name));
      const oldest = others.shift();
      if (oldest === undefined) return;
      sessionStorage.removeItem(oldest);
    }
  }
}

/** The oldest first. @param {string[]} names */
function byAge(names) {
  const ages = new Map(names.map((name) => [name, read(name)?.at ?? 0]));
  return names.sort((one, other) => ages.get(one) - ages.get(other));
}
