// The classes to choose from: buttons with keys, or, with many classes, a field that finds them while you type.

import { breakable, element, keyCap } from "./elements.js";
import { COMMANDS, classKeys, keyOf, typesToFind } from "./keys.js";
import { findClasses, Slots } from "./find_classes.js";
import { count } from "./words.js";

const FLASH = 220; // milliseconds

export class ClassList {
  #rows = []; // what is shown, in order: the classes
  #buttons = new Map();
  #active = -1;
  #keys = new Map();
  #marked = { label: null, guess: null };

  /** settings: {choose(id), slots (a name in localStorage), prefix (of ids), add(name) or null}. */
  constructor(root, settings) {
    this.root = root;
    this.settings = settings;
    this.slots = new Slots(settings.slots);
    this.field = element("input", {
      type: "text",
      class: "find",
      role: "combobox",
      "aria-expanded": "true",
      "aria-autocomplete": "list",
      "aria-controls": `${settings.prefix}-list`,
      "aria-label": "Find a class",
      placeholder: "Type to find a class",
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
      enterkeyhint: "done",
      on: { input: () => this.#search() },
    });
    this.list = element("div", { class: "class-list", id: `${settings.prefix}-list` });
  }

  /** Show these classes. */
  set(classes) {
    this.classes = classes;
    this.finds = typesToFind(classes);
    this.#keys = classKeys(classes);
    this.list.setAttribute("role", this.finds ? "listbox" : "group");
    this.list.setAttribute("aria-label", "Classes");
    this.list.dataset.count = this.finds ? "many" : classes.length <= 4 ? "few" : "some";
    const wanted = this.finds ? [this.field, this.list] : [this.list];
    if (wanted.some((part) => part.parentNode !== this.root)) this.root.replaceChildren(...wanted);
    this.#search();
  }

  /** Return the class with this id. */
  find(id) {
    return this.classes?.find((found) => found.id === id) ?? null;
  }

  get query() {
    return this.field.value;
  }

  /** Use a key event; returns whether it chose, searched or moved. */
  press(event) {
    if (this.finds) return this.#pressWhileFinding(event);
    const key = keyOf(event, (sign) => [...this.#keys.values()].includes(sign));
    for (const [id, own] of this.#keys) {
      if (own === key) {
        if (!event.repeat) this.#choose(id);
        return true;
      }
    }
    return false;
  }

  #pressWhileFinding(event) {
    const typed = this.field.value.trim() !== "";
    const key = keyOf(event);
    if (event.key === "Escape" && this.field.value) return this.clear(), true;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") return this.#move(event.key === "ArrowDown" ? 1 : -1), true;
    if (event.key === "Enter" && this.#active >= 0) return event.repeat || this.#choose(this.#rows[this.#active].id), true;
    if (/^[1-9]$/.test(key) && this.#rows[key - 1]) return event.repeat || this.#choose(this.#rows[key - 1].id), true;
    if (event.key.length !== 1 || (event.key === " " && !typed)) return false;
    if (event.shiftKey && !typed && COMMANDS[key]) return false;
    if (!/[\p{L}\p{N} ]/u.test(event.key)) return false;
    this.field.focus({ preventScroll: true }); // the letter itself then lands in the field
    return false;
  }

  /** Search for `typed` and put the cursor behind it. */
  search(typed) {
    this.field.value = typed;
    this.#search();
    this.field.focus();
  }

  clear() {
    if (!this.field.value) return;
    this.field.value = "";
    this.#search();
  }

  /** Count a label more or less of a class. */
  count(id, change) {
    const found = this.find(id);
    if (!found) return;
    found.labels = Math.max(0, (found.labels ?? 0) + change);
    const button = this.#buttons.get(id);
    if (button) button.querySelector(".class-count").textContent = count(found.labels);
  }

  /** Mark the present label and the model's guess (ids or null). */
  mark({ label = null, guess = null }) {
    this.#marked = { label, guess };
    for (const [id, button] of this.#buttons) this.#dress(id, button);
  }

  /** Light up a class for a moment: it was chosen. */
  flash(id) {
    const button = this.#buttons.get(id);
    if (!button) return;
    button.classList.remove("chosen");
    void button.offsetWidth; // starts the animation again
    button.classList.add("chosen");
    setTimeout(() => button.classList.remove("chosen"), FLASH);
  }

  #choose(id) {
    if (this.settings.choose(id) === false) return;
    if (this.finds) {
      this.slots.use(id);
      this.field.value = "";
      this.#search();
    }
    this.flash(id);
  }

  #search() {
    const typed = this.field.value;
    if (!this.finds) this.#rows = this.classes;
    else if (typed.trim()) this.#rows = findClasses(this.classes, typed, (found) => found.labels);
    else {
      const first = this.slots.of(this.classes);
      this.#rows = [...first, ...this.classes.filter((found) => !first.includes(found))];
    }
    this.#active = this.finds && typed.trim() && this.#rows.length ? 0 : -1;
    this.#draw();
  }

  #move(step) {
    this.#active = Math.min(this.#rows.length - 1, Math.max(0, this.#active + step));
    this.#highlight();
    this.#buttons.get(this.#rows[this.#active]?.id)?.scrollIntoView({ block: "nearest" });
  }

  #draw() {
    this.#buttons = new Map(this.#rows.map((found, place) => [found.id, this.#button(found, place)]));
    this.list.replaceChildren(...this.#buttons.values());
    if (this.finds && !this.#rows.length) this.list.append(this.#nothing());
    if (this.finds) this.list.scrollTop = 0;
    this.#highlight();
  }

  #nothing() {
    const typed = this.field.value.trim();
    const add = this.settings.add && element("button", { type: "button", class: "small", on: { click: () => this.settings.add(typed) } }, `Add “${typed}” as a class`);
    return element("div", { class: "class-none" }, element("p", { class: "soft" }, "No class matches."), add);
  }

  #button(found, place) {
    const key = this.finds ? (place < 9 ? String(place + 1) : "") : (this.#keys.get(found.id) ?? "");
    const role = this.finds ? { role: "option", tabindex: -1 } : {};
    const button = element(
      "button",
      { type: "button", class: "class", id: `${this.settings.prefix}-${found.id}`, colour: found.colour, title: found.description || null, ...role },
      key ? keyCap(key) : element("span", { class: "no-key" }),
      element("span", { class: "class-name" }, breakable(found.name)),
      element("span", { class: "class-guess" }),
      element("span", { class: "class-count", title: "labels" }, count(found.labels ?? 0)),
    );
    button.addEventListener("click", (event) => {
      this.#choose(found.id);
      if (event.detail > 0) button.blur(); // Space and Enter must not label the next item by what was clicked
    });
    this.#dress(found.id, button);
    return button;
  }

  #dress(id, button) {
    const { label, guess } = this.#marked;
    if (this.finds) button.toggleAttribute("data-label", id === label);
    else button.setAttribute("aria-pressed", String(id === label));
    button.querySelector(".class-guess").textContent = id === guess ? "guess" : "";
  }

  #highlight() {
    if (!this.finds) return;
    for (const [place, { id }] of this.#rows.entries()) this.#buttons.get(id).setAttribute("aria-selected", String(place === this.#active));
    const active = this.#rows[this.#active];
    if (active) this.field.setAttribute("aria-activedescendant", `${this.settings.prefix}-${active.id}`);
    else this.field.removeAttribute("aria-activedescendant");
  }
}
