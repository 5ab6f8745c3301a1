// The items that come next, fetched ahead with their pictures, so that labelling never waits and works offline.

import { read } from "./api.js";

const LEAST = 15;
const MOST = 60;
const SECONDS_AHEAD = 20; // a quick person gets more items ahead
const DRY_PAUSE = 1500; // milliseconds until an empty queue is asked again
const DECODED = 4; // pictures decoded before their turn; the others are only fetched

export class Ahead {
  items = [];
  dry = false; // the server had nothing more
  error = null;
  #busy = false;
  #again = false;
  #timer = null;
  #pictures = new Map();
  #pauses = 0;

  /**
   * settings: {batch, person(), guess(), held (HeldItems), waiting() (ids whose answers are on their way), past() (ids
   * answered on this page), pace() (answers a second)}; `changed(status)` is called when items came or a call failed.
   */
  constructor(settings, changed) {
    this.settings = settings;
    this.changed = changed;
    addEventListener("online", () => this.refill());
    document.addEventListener("visibilitychange", () => document.hidden || this.refill());
  }

  get depth() {
    const wanted = Math.max(LEAST, 2 * this.settings.batch, SECONDS_AHEAD * this.settings.pace());
    return Math.min(Math.max(MOST, 2 * this.settings.batch), Math.ceil(wanted));
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

  /** Bring an item that waits to the head. */
  bringForward(id) {
    const item = this.items.find((other) => other.id === id);
    if (item) this.putBack(item);
  }

  /** Return the picture of an item, as an <img> that is loaded ahead. */
  picture(item) {
    if (!item.image) return null;
    if (!this.#pictures.has(item.id)) {
      const picture = new Image();
      picture.decoding = "sync"; // it is on hand: show it with the text around it, not a moment later
      picture.draggable = false;
      picture.src = item.image;
      this.#pictures.set(item.id, picture);
    }
    return this.#pictures.get(item.id);
  }

  /** Forget what is on hand and ask again, for instance for another person. */
  restart() {
    this.items = [];
    this.#settle();
  }

  /** Fetch until enough items are on hand; `fresh` replaces those behind the first by what the model chooses now. */
  async refill({ fresh = false } = {}) {
    if (this.#busy) {
      this.#again = true;
      return;
    }
    if (!fresh && this.items.length > this.depth - 5) return;
    this.#busy = true;
    clearTimeout(this.#timer);
    await this.#fetch(fresh);
    this.#busy = false;
    if (this.#again) {
      this.#again = false;
      this.refill();
    }
  }

  async #fetch(fresh) {
    const { person, guess, held, waiting } = this.settings;
    const asker = person();
    const kept = fresh ? this.items.slice(0, 1) : this.items;
    const exclude = [...new Set([...kept.map((item) => item.id), ...held.others(), ...waiting()])];
    const query = { person: asker, count: this.depth - kept.length, exclude: exclude.join(","), guess: guess() ? 1 : 0 };
    try {
      const { items, status } = await read("/api/next", query);
      if (asker !== person()) return;
      this.#merge(items, fresh);
      this.dry = items.length === 0 && this.items.length === 0;
      this.error = null;
      this.#pauses = 0;
      if (items.length === 0) this.#later(DRY_PAUSE);
      this.changed(status);
    } catch (error) {
      if (error.status === undefined) throw error;
      this.error = error;
      this.#pauses += 1;
      this.#later(Math.min(5000, 500 * 2 ** this.#pauses));
      this.changed(null);
    }
  }

  #merge(items, fresh) {
    const { held, waiting, past } = this.settings;
    const taken = new Set([...waiting(), ...past(), ...held.others()]);
    const first = fresh ? this.items.slice(0, 1) : this.items;
    const known = new Set(first.map((item) => item.id));
    this.items = [...first, ...items.filter((item) => !known.has(item.id) && !taken.has(item.id))];
    this.#settle();
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
    for (const id of [...this.#pictures.keys()].slice(0, -MOST - 20)) if (!ids.has(id)) this.#pictures.delete(id);
    this.settings.held.hold([...ids]);
    queueMicrotask(() => this.refill());
  }
}
