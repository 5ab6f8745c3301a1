// The pictures of items, loaded ahead: tried again while the server is away, and known to be broken where they are.

const FIRST_PAUSE = 500; // milliseconds between attempts, doubled up to the longest
const LONGEST_PAUSE = 5000;

export class Pictures {
  #found = new Map();

  /**
   * `broken(item)` is called for a file that cannot be shown.
   * @param {(item: any) => void} broken
   */
  constructor(broken = () => {}) {
    this.broken = broken;
  }

  /** Return the <img> of an item; it is loading or loaded. */
  of(item) {
    if (!this.#found.has(item.id)) this.#found.set(item.id, this.#load(item));
    return this.#found.get(item.id);
  }

  /** Forget all but the latest `count` pictures and those of `ids`. */
  keep(ids, count) {
    for (const id of [...this.#found.keys()].slice(0, -count)) if (!ids.has(id)) this.#found.delete(id);
  }

  #load(item) {
    const picture = new Image();
    picture.decoding = "sync"; // it is on hand: show it with the text around it, not a moment later
    picture.draggable = false;
    picture.fetchPriority = "high"; // before the small ones
    picture.addEventListener("load", () => (picture.dataset.loaded = ""));
    picture.addEventListener("error", () => this.#recover(picture, item));
    picture.src = item.image;
    return picture;
  }

  async #recover(picture, item, pause = FIRST_PAUSE) {
    const status = await fetch(item.image).then(
      (reply) => reply.status,
      () => 0,
    ); // an <img> does not say why it failed
    if (status >= 400 && status < 500) {
      picture.dataset.broken = "";
      picture.dispatchEvent(new Event("broken"));
      this.broken(item);
    } else if (status >= 200 && status < 300) picture.src = item.image;
    else setTimeout(() => this.#recover(picture, item, Math.min(LONGEST_PAUSE, 2 * pause)), pause);
  }
}

/** Return whether a picture can be seen, or never will be. */
export const isSettled = (picture) => picture.naturalWidth > 0 || "broken" in picture.dataset;
