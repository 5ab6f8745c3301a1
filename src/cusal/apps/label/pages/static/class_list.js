// The classes to choose from: buttons with keys, or, with many classes, a field that finds them while you type.

import { breakable, element, keyCap } from "./elements.js";
import { COMMANDS, classKeys, keyOf, typesToFind } from "./keys.js";
import { findClasses, Slots } from "./find_classes.js";
import { isAudit } from "./task.js";
import { count } from "./words.js";

const FLASH = 220; // milliseconds
const WITH_DIGIT = 9;

export class ClassList {
  classes = [];
  finds = false; // whether people type to find a class
  #rows = []; // the classes that are shown, in order
  #buttons = new Map(); // class id -> its button, also while it is not shown
  #active = null; // the class that Enter takes
  #keys = new Map();
  #marked = { label: null, guess: null };

  /** settings: {choose(id), slots (a name in localStorage), prefix (of ids), add(name) or null}. */
  constructor(root, settings) {
    this.root = root;
    this.settings = settings;
    this.slots = new Slots(settings.slots);
    this.field = this.#makeField();
    this.list = element("div", { class: "class-list", id: `${settings.prefix}-list`, "aria-label": "Classes" });
  }

  /** Show these classes. */
  set(classes) {
    this.classes = classes;
    this.finds = typesToFind(classes);
    this.#keys = classKeys(classes);
    this.#buttons = new Map(classes.map((found) => [found.id, this.#makeButton(found)]));
    this.list.setAttribute("role", this.finds ? "listbox" : "group");
    this.list.dataset.count = this.finds ? "many" : classes.length <= 4 ? "few" : "some";
    const wanted = this.finds ? [this.field, this.list] : [this.list];
    if (wanted.some((part) => part.parentNode !== this.root)) this.root.replaceChildren(...wanted);
    this.#rows = [];
    this.#search();
    this.mark(this.#marked, true);
  }

  /** Return the class with this id. */
  find(id) {
    return this.classes.find((found) => found.id === id) ?? null;
  }

  /** What was typed. */
  get query() {
    return this.field.value;
  }

  /** Use a key event; returns whether it chose, searched or moved. */
  press(event) {
    if (this.finds) return this.#pressWhileFinding(event);
    const key = keyOf(event, (sign) => [...this.#keys.values()].includes(sign));
    const [id] = [...this.#keys].find(([, own]) => own === key) ?? [];
    if (id === undefined) return false;
    if (!event.repeat) this.#choose(id);
    return true;
  }

  #pressWhileFinding(event) {
    const typed = this.query.trim() !== "";
    const key = keyOf(event);
    if (event.key === "Escape" && this.query) return (this.clear(), true);
    if (event.key === "ArrowDown" || event.key === "ArrowUp")
      return (this.#move(event.key === "ArrowDown" ? 1 : -1), true);
    if (event.key === "Enter" && this.#active) return (event.repeat || this.#choose(this.#active.id), true);
    const slot = /^[1-9]$/.test(key) ? this.#rows[Number(key) - 1] : null;
    if (slot) return (event.repeat || this.#choose(slot.id), true);
    if (event.key.length !== 1 || (event.key === " " && !typed)) return false;
    if (event.shiftKey && !typed && COMMANDS[key]) return false;
    if (/[\p{L}\p{N} ]/u.test(event.key)) this.field.focus({ preventScroll: true }); // the letter lands in the field
    return false;
  }

  /** Search for `typed` and put the cursor behind it. */
  search(typed) {
    this.field.value = typed;
    this.#search();
    this.field.focus();
  }

  clear() {
    if (!this.query) return;
    this.field.value = "";
    this.#search();
  }

  /** Count a label more or less of a class. */
  count(id, change) {
    const found = this.find(id);
    if (!found) return;
    found.labels = Math.max(0, (found.labels ?? 0) + change);
    this.#buttons.get(id).querySelector(".class-count").textContent = count(found.labels);
  }

  /** Mark the present label and the model's guess (ids or null). */
  mark({ label = null, guess = null }, again = false) {
    const before = this.#marked;
    if (!again && before.label === label && before.guess === guess) return;
    this.#marked = { label, guess };
    for (const id of new Set([before.label, before.guess, label, guess])) {
      const button = this.#buttons.get(id);
      if (!button) continue;
      button.toggleAttribute("data-label", id === label);
      if (!this.finds) button.setAttribute("aria-pressed", String(id === label));
      button.querySelector(".class-guess").textContent = id === guess ? (isAudit ? "predicted" : "guess") : "";
    }
  }

  #choose(id) {
    if (this.settings.choose(id) === false) return;
    if (this.finds) {
      this.slots.use(id);
      this.field.value = "";
      this.#search();
    }
    this.#flash(this.#buttons.get(id));
  }

  /** Light up a class for a moment: it was chosen. */
  #flash(button) {
    if (!button || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    button.animate(
      { background: ["color-mix(in srgb, var(--class) 40%, var(--card))", "var(--card)"] },
      { duration: FLASH },
    );
  }

  #search() {
    const typed = this.query.trim();
    const rows = this.#found(typed);
    const same = rows.length === this.#rows.length && rows.every((found, place) => found === this.#rows[place]);
    this.#rows = rows;
    if (!same || !rows.length) this.#draw();
    this.#activate(this.finds && typed ? (rows[0] ?? null) : null);
  }

  #found(typed) {
    if (!this.finds) return this.classes;
    if (typed) return findClasses(this.classes, typed, (found) => found.labels);
    const first = this.slots.of(this.classes);
    return [...first, ...this.classes.filter((found) => !first.includes(found))];
  }

  #draw() {
    this.list.replaceChildren(...this.#rows.map(({ id }) => this.#buttons.get(id)));
    if (!this.finds) return;
    for (const [place, { id }] of this.#rows.entries()) {
      const cap = this.#buttons.get(id).firstElementChild;
      cap.textContent = place < WITH_DIGIT ? String(place + 1) : "";
      cap.toggleAttribute("data-none", place >= WITH_DIGIT);
    }
    if (!this.#rows.length) this.list.append(this.#nothing());
    this.list.scrollTop = 0;
  }

  #move(step) {
    const place = this.#rows.indexOf(this.#active);
    this.#activate(this.#rows[Math.min(this.#rows.length - 1, Math.max(0, place + step))] ?? null);
    this.#buttons.get(this.#active?.id)?.scrollIntoView({ block: "nearest" });
  }

  #activate(found) {
    this.#buttons.get(this.#active?.id)?.setAttribute("aria-selected", "false");
    this.#active = found;
    if (!found) return this.field.removeAttribute("aria-activedescendant");
    this.#buttons.get(found.id).setAttribute("aria-selected", "true");
    return this.field.setAttribute("aria-activedescendant", `${this.settings.prefix}-${found.id}`);
  }

  #nothing() {
    const typed = this.query.trim();
    const act = { type: "button", class: "small", on: { click: () => this.settings.add(typed) } };
    const add = this.settings.add && element("button", act, `Add “${typed}” as a class`);
    return element("div", { class: "class-none" }, element("p", { class: "soft" }, "No class matches."), add);
  }

  #makeButton(found) {
    const role = this.finds ? { role: "option", tabindex: -1, "aria-selected": "false" } : { "aria-pressed": "false" };
    const button = element(
      "button",
      { type: "button", class: "class", id: `${this.settings.prefix}-${found.id}`, colour: found.colour, ...role },
      keyCap(this.#keys.get(found.id) ?? ""),
      element(
        "span",
        { class: "class-words" },
        element("span", { class: "class-name" }, breakable(found.name)),
        found.description ? element("small", { class: "class-about" }, found.description) : null,
      ),
      element("span", { class: "class-guess" }),
      element("span", { class: "class-count", title: "labels" }, count(found.labels ?? 0)),
    );
    if (found.description) button.title = found.description;
    button.addEventListener("click", (event) => {
      this.#choose(found.id);
      if (event.detail > 0) button.blur(); // Space and Enter must not label the next item by what was clicked
    });
    return button;
  }

  #makeField() {
    return element("input", {
      type: "text",
      class: "find",
      role: "combobox",
      "aria-expanded": "true",
      "aria-autocomplete": "list",
      "aria-controls": `${this.settings.prefix}-list`,
      "aria-label": "Find a class",
      placeholder: "Type to find a class",
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      enterkeyhint: "done",
      on: { input: () => this.#search() },
    });
  }
}
