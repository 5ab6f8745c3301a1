// The items that come next, fetched ahead with their pictures, so that labelling never waits and works offline.

import { read, send } from "./api.js";
import { Pictures } from "./pictures.js";

const LEAST = 40; // a minute offline
const LEAST_LIGHT = 100; // of items without pictures: a hundred keys pressed while the server is slow
const SHARED = 4; // nobody holds more than this part of the open items, so that others find some too
const MOST = 60;
const MOST_ASKED = 100; // the server gives no more at a time
const MOST_EXCLUDED = 900; // ids that fit into the address of a call
const SECONDS_AHEAD = 20; // a quick person gets more items ahead
const SHORT_PAUSE = 1500; // milliseconds until a queue that had too few items is asked again
const EMPTY_PAUSE = 500; // the same while nothing is on the screen
const FIRST = 3; // items that stay where they are when the queue was filled anew
const DECODED = 4; // pictures decoded before their turn; the others are only fetched

export class Ahead {
  items = [];
  dry = false; // the server had nothing more
  error = null;
  #busy = false;
  #again = null;
  #timer = null;
  #pictures = new Pictures((item) => this.#passOver(item));
  #pauses = 0;
  #notBefore = 0; // when the queue may be asked again, in milliseconds

  /**
   * settings: {batch, light (few bytes an item, whose order may change), open() (how many items), person(), guess(),
   * held (HeldItems), waiting() (ids whose answers are on their way), past() (ids answered on this page), pace()
   * (answers a second)}; `changed(status)` is called when items came or a call failed.
   */
  constructor(settings, changed) {
    this.settings = settings;
    this.changed = changed;
    addEventListener("online", () => {
      this.#notBefore = 0;
      this.refill();
    });
    document.addEventListener("visibilitychange", () => document.hidden || this.refill());
  }

  /** How many items are on hand if all goes well. */
  get depth() {
    const batches = 2 * this.settings.batch;
    const share = this.settings.light ? Math.floor(this.settings.open() / SHARED) : 0;
    const least = Math.min(LEAST_LIGHT, Math.max(LEAST, share));
    const wanted = Math.max(least, batches, SECONDS_AHEAD * this.settings.pace());
    return Math.min(MOST_ASKED, Math.max(MOST, least, batches), Math.ceil(wanted));
  }

  /** Take the first item away. */
  take() {
    const item = this.items.shift();
    this.#settle();
    return item;
  }

  /** Put an item back at the head, for instance after an undo. */
  putBack(item) {
    this.items = [item, ...this.items.filter((other) => other.id !== item.id)];
    this.dry = false;
    this.#settle();
  }

  /** Take items away that were answered in another way. */
  drop(ids) {
    this.items = this.items.filter((item) => !ids.includes(item.id));
    this.#settle();
  }

  /** Bring an item that waits to the head. */
  bringForward(id) {
    const item = this.items.find((other) => other.id === id);
    if (item) this.putBack(item);
  }

  /** Return the picture of an item, as an <img> that is loaded ahead, or null. */
  picture(item) {
    return item.image ? this.#pictures.of(item) : null;
  }

  /** Fetch until enough items are on hand; `fresh` replaces all but the first by what the queue holds now. */
  async refill({ fresh = false } = {}) {
    if (this.#busy) {
      this.#again = { fresh: fresh || Boolean(this.#again?.fresh) };
      return;
    }
    if (!fresh && this.items.length > this.depth - 5) return;
    const pause = this.#notBefore - performance.now();
    if (!fresh && pause > 0) {
      this.#later(pause);
      return;
    }
    this.#busy = true;
    clearTimeout(this.#timer);
    await this.#fetch(fresh);
    this.#busy = false;
    const again = this.#again;
    this.#again = null;
    if (again) this.refill(again);
  }

  async #fetch(fresh) {
    const { person, guess, held, waiting } = this.settings;
    const kept = fresh ? this.#kept() : this.items;
    const exclude = [...new Set([...kept.map((item) => item.id), ...held.others(), ...waiting()])].slice(
      0,
      MOST_EXCLUDED,
    );
    const count = Math.min(MOST_ASKED, this.depth + this.items.length - 2 * kept.length);
    const query = { person: person(), count: Math.max(1, count), exclude: exclude.join(","), guess: guess() ? 1 : 0 };
    try {
      const { items, status } = await read("/api/next", query);
      if (!query.guess) for (const item of items) item.guess = undefined; // not asked for; null says that there is none
      this.#merge(items, fresh);
      this.dry = items.length === 0 && this.items.length === 0;
      this.error = null;
      this.#pauses = 0;
      if (items.length < query.count) this.#wait(this.items.length ? SHORT_PAUSE : EMPTY_PAUSE);
      this.changed(status);
    } catch (error) {
      if (error.status === undefined) throw error;
      this.error = error;
      this.#pauses += 1;
      this.#wait(Math.min(5000, 500 * 2 ** this.#pauses));
      this.changed(null);
    }
  }

  /** The first ones, whose pictures are there; what follows was chosen by a model that knew less. */
  #kept() {
    return this.items.slice(0, FIRST);
  }

  #merge(items, fresh) {
    const { held, waiting, past } = this.settings;
    const before = this.items;
    const kept = fresh ? this.#kept() : before;
    const gone = new Set([...kept.map((item) => item.id), ...waiting(), ...past(), ...held.others()]);
    const found = items.filter((item) => !gone.has(item.id));
    this.items = [...kept, ...found].slice(0, Math.max(this.depth, kept.length));
    this.#release([...before, ...found].filter((item) => !this.items.some(({ id }) => id === item.id)));
    this.#settle();
  }

  /** Let others have items that will not be shown here. */
  #release(items) {
    if (!items.length) return;
    const call = { person: this.settings.person(), items: [...new Set(items.map((item) => item.id))] };
    send("/api/release", call).catch(() => {}); // they become free by themselves after five minutes
  }

  /** Drop an item whose picture is broken; the one on the screen stays and says so. */
  #passOver(item) {
    if (item === this.items[0]) return;
    this.drop([item.id]);
    this.changed(null);
  }

  #wait(milliseconds) {
    this.#notBefore = performance.now() + milliseconds;
    this.#later(milliseconds);
  }

  #later(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refill(), milliseconds);
  }

  /** Load pictures, forget those that went by, tell the other tabs, and fetch more if few are left. */
  #settle() {
    const ids = new Set(this.items.map((item) => item.id));
    for (const [place, item] of this.items.entries()) {
      const picture = this.picture(item);
      if (picture && place < DECODED) picture.decode().catch(() => {}); // a broken picture says so when it is shown
    }
    this.#pictures.keep(ids, MOST + 20);
    this.settings.held.hold([...ids]);
    queueMicrotask(() => this.refill());
  }
}
