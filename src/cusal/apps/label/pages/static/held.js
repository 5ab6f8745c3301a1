// Which items the other tabs of this browser have on hand: tabs of one person never show the same item.

const PREFIX = "cusal:held:";
const STALE = 150_000; // milliseconds; browsers wake the timers of hidden tabs once a minute

export class HeldItems {
  constructor(project) {
    this.prefix = `${PREFIX}${project}:`;
    this.name = `${this.prefix}${Math.random().toString(36).slice(2)}`;
    this.mine = [];
    setInterval(() => this.hold(this.mine), STALE / 3);
    addEventListener("pagehide", () => this.#forget());
    addEventListener("pageshow", (event) => event.persisted && this.hold(this.mine));
  }

  /** Tell the other tabs which items this one has. */
  hold(ids) {
    this.mine = ids;
    try {
      localStorage.setItem(this.name, JSON.stringify({ at: Date.now(), ids }));
    } catch {
      // Without storage there is nothing to tell; the server still stores one answer for each item.
    }
  }

  /** Return the items of the other tabs. */
  others() {
    const found = [];
    for (const name of Object.keys(localStorage)) {
      if (name === this.name || !name.startsWith(this.prefix)) continue;
      const { at, ids } = JSON.parse(localStorage.getItem(name) ?? "{}");
      if (Date.now() - at < STALE) found.push(...ids);
      else localStorage.removeItem(name);
    }
    return found;
  }

  #forget() {
    try {
      localStorage.removeItem(this.name);
    } catch {
      // Nothing was kept.
    }
  }
}
