// Many at once, for the easy end: items that the model takes for one class; untick those that are not, Enter confirms.

import { byId, element, keyCap, note, show } from "./elements.js";
import { read } from "./api.js";
import { isModified } from "./keys.js";
import { thumbnail } from "./thumbnail.js";
import { plural } from "./words.js";

const LETTERS = [..."abcdefghijklmnopqrst"]; // one for each of 20 items

export class ManyAtOnce {
  isOpen = false;
  #class = null;
  #items = [];
  #out = new Set();
  #wanted = null;

  /** actions: {close(), stored(entry, ids), undo()}. */
  constructor(page, actions) {
    this.page = page;
    this.actions = actions;
    this.root = byId("many");
  }

  async open(wanted = this.#wanted) {
    this.isOpen = true;
    this.#wanted = wanted;
    show(this.root, true);
    if (!this.#items.length) this.root.replaceChildren(element("p", { class: "soft many-wait" }, "Fetching…"));
    try {
      const { class: label, items } = await read("/api/guesses", {
        count: LETTERS.length,
        class: wanted,
        person: this.page.person,
      });
      const waiting = new Set(this.page.queue.entries.flatMap(({ item, items: all }) => all ?? [item]));
      this.#class = this.page.project.classes.find(({ id }) => id === label) ?? null;
      this.#items = items.filter(({ id }) => !waiting.has(id));
    } catch (error) {
      if (error.status === undefined) throw error;
      this.#items = [];
      note(error.message, { tone: "bad" });
    }
    this.#out = new Set();
    this.#draw();
  }

  close() {
    this.isOpen = false;
    this.#items = [];
    show(this.root, false);
    this.actions.close();
  }

  press(event) {
    const key = event.key.toLowerCase();
    const place = LETTERS.indexOf(key);
    if (isModified(event)) return;
    if (key === "escape") this.close();
    else if (key === "z") this.actions.undo();
    else if (key === "enter" && !(event.target instanceof HTMLButtonElement && event.target.closest(".many-tools")))
      event.repeat || this.#confirm();
    else if (key.startsWith("arrow")) this.#move(key);
    else if (place >= 0 && this.#items[place]) event.repeat || this.#toggle(this.#items[place].id);
    else return;
    event.preventDefault();
  }

  #confirm() {
    const ids = this.#items.map(({ id }) => id).filter((id) => !this.#out.has(id));
    if (!this.#class || !this.#items.length) return;
    if (ids.length) {
      const entry = this.page.queue.add({ op: "labels", person: this.page.person, items: ids, class: this.#class.id });
      this.actions.stored(entry, ids);
      note(`${plural(ids.length, "item")} labelled ${this.#class.name}.`, { act: ["Undo", () => this.actions.undo()] });
      this.#items = [];
      entry.done.then(() => this.isOpen && this.open());
    } else this.open();
  }

  #toggle(id) {
    if (!this.#out.delete(id)) this.#out.add(id);
    const tile = this.root.querySelector(`[data-id="${id}"]`);
    tile.setAttribute("aria-checked", String(!this.#out.has(id)));
    this.root.querySelector(".many-confirm span").textContent = this.#words();
  }

  #move(key) {
    /** @type {any[]} */
    const tiles = [...this.root.querySelectorAll(".tile")];
    const here = tiles.indexOf(document.activeElement);
    const wide = Math.max(1, tiles.filter((tile) => tile.offsetTop === tiles[0].offsetTop).length);
    const step = { arrowleft: -1, arrowright: 1, arrowup: -wide, arrowdown: wide }[key];
    tiles[Math.min(tiles.length - 1, Math.max(0, here < 0 ? 0 : here + step))]?.focus();
  }

  #words() {
    return `Label ${this.#items.length - this.#out.size} as ${this.#class.name}`;
  }

  #draw() {
    const select = element(
      "select",
      { "aria-label": "Class to go through", on: { change: () => (select.blur(), this.open(select.value || null)) } },
      element("option", { value: "" }, "The surest class"),
      this.page.project.classes.map(({ id, name }) =>
        element("option", { value: id, selected: String(id) === String(this.#wanted) }, name),
      ),
    );
    const back = element(
      "button",
      { type: "button", class: "quiet", on: { click: () => this.close() } },
      keyCap("Esc"),
      " One by one",
    );
    const tools = element("div", { class: "many-tools" }, select, back);
    if (!this.#class || !this.#items.length) {
      const words = "The model is not sure enough of any open item of this class yet. Label more one by one.";
      this.root.replaceChildren(
        tools,
        element("div", { class: "item-empty" }, element("h2", {}, "Nothing here for now"), element("p", {}, words)),
      );
      return;
    }
    const head = element(
      "h2",
      {},
      `${this.#items.length === 1 ? "This looks" : `These ${this.#items.length} look`} like `,
      element("span", { class: "many-class", colour: this.#class.colour }, this.#class.name),
    );
    const words = element(
      "p",
      { class: "soft" },
      "Untick those that are not: click them or press their letter. What you untick stays open.",
    );
    const confirm = element(
      "button",
      { type: "button", class: "primary many-confirm", on: { click: () => this.#confirm() } },
      keyCap("Enter"),
      " ",
      element("span", {}, this.#words()),
    );
    const grid = element(
      "div",
      { class: `many-grid ${this.#items[0].image ? "" : "many-texts"}`, role: "group", "aria-label": "Items" },
      this.#items.map((item, place) => this.#tile(item, place)),
    );
    this.root.replaceChildren(
      element("div", { class: "many-head" }, element("div", {}, head, words), tools),
      grid,
      element("div", { class: "many-foot" }, confirm),
    );
  }

  #tile(item, place) {
    const look = item.image
      ? thumbnail(item.id)
      : element("span", { class: "tile-text" }, item.text ?? Object.values(item.extra ?? {}).join(" · "));
    return element(
      "button",
      {
        type: "button",
        class: "tile",
        role: "checkbox",
        "aria-checked": "true",
        "aria-label": item.text ?? item.key,
        "data-id": item.id,
        on: { click: () => this.#toggle(item.id) },
      },
      look,
      keyCap(LETTERS[place]),
      element("span", { class: "tile-mark", "aria-hidden": "true" }),
    );
  }
}
