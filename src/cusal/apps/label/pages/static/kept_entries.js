// What waits to be sent, in localStorage: one record for each entry, so that tabs never overwrite each other's.

const PREFIX = "cusal:wait:";

export class KeptEntries {
  /** Entries of one project, oldest first, of all tabs. */
  constructor(project) {
    this.prefix = `${PREFIX}${project}:`;
    this.tab = Math.random().toString(36).slice(2, 8);
    this.last = 0;
    this.unkept = new Map(); // entries that the browser would not keep (storage full or forbidden)
  }

  /** Keep an entry; it is on disk, as far as the browser allows, when this returns. */
  add(entry) {
    // Microseconds sort the entries of all tabs by time; two of one tab never share a number.
    this.last = Math.max(this.last + 1, Date.now() * 1000);
    const name = `${this.prefix}${this.last}:${this.tab}`;
    try {
      localStorage.setItem(name, JSON.stringify(entry));
    } catch {
      this.unkept.set(name, entry);
    }
  }

  /** Return [name, entry] pairs in the order in which they were added. */
  all() {
    const found = this.names().map((name) => [name, this.unkept.get(name) ?? parsed(localStorage.getItem(name))]);
    return found.filter(([name, entry]) => entry || this.remove(name));
  }

  names() {
    const names = [...this.unkept.keys()];
    try {
      for (let place = 0; place < localStorage.length; place += 1) {
        const name = localStorage.key(place);
        if (name.startsWith(this.prefix)) names.push(name);
      }
    } catch {
      // A browser without storage: what waits is in memory alone.
    }
    return names.sort();
  }

  get count() {
    return this.names().length;
  }

  remove(name) {
    if (!this.unkept.delete(name)) localStorage.removeItem(name);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
