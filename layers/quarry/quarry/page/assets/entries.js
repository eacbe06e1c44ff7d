/** The page's data for each entry of the browser's history. A view stores what it likes there; what is `saved` survives a reload, so
 * that nothing is requested again. */

const PREFIX = 'quarry.entry.';

const entries = new Map();

class Entry {
  /** @param {boolean} isArrival whether the reader came from outside the page: by a link or a typed address */
  constructor(key, isArrival) {
    this.key = key;
    this.isArrival = isArrival;
    this.saved = stored(PREFIX + key)?.saved ?? {};
  }

  /** Mark this entry, the current one, as the reader's own: a reload then runs it. */
  adopt() {
    this.isArrival = false;
    history.replaceState({...history.state, isArrival: false}, '');
  }

  /** Save these for a reload, in addition to what is saved already. @param {Record<string, any>} changes JSON */
  save(changes) {
    Object.assign(this.saved, changes);
    write(PREFIX + this.key, {at: Date.now(), saved: this.saved});
  }
}

/** The current entry. After a change of only the fragment, it is still `before`. */
export function currentEntry(before = null) {
  const key = history.state?.key ?? before?.key ?? crypto.randomUUID();
  if (history.state?.key === undefined) history.replaceState({key, isArrival: before?.isArrival ?? true}, '');
  if (!entries.has(key)) entries.set(key, new Entry(key, history.state.isArrival === true));
  return entries.get(key);
}

/** Delete everything this tab has saved, since another user may come. */
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

/** What this tab stores under a name; null without storage. */
export function stored(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}

/** If there is no room, the oldest are removed; if that is not enough, the entry is not saved. */
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

/** Oldest first. @param {string[]} names */
function byAge(names) {
  const ages = new Map(names.map((name) => [name, stored(name)?.at ?? 0]));
  return names.sort((one, other) => ages.get(one) - ages.get(other));
}
