// The model's most confident mistakes, which often are wrong labels: one key relabels.

import { breakable, element, note } from "./elements.js";
import { read } from "./api.js";
import { classKeys, isModified, isTyping, keyOf, typesToFind } from "./keys.js";
import { chooseClass } from "./choose_class.js";
import { thumbnail } from "./thumbnail.js";
import { percent } from "./words.js";

const FIRST = 12;

export class Mistakes {
  busy = false; // somebody is going through them: they must not move
  #shown = "";
  #items = new Map();

  constructor(root, page) {
    this.root = root;
    this.page = page;
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  /** Show these mistakes: {item, label, guess, confidence}. */
  async set(mistakes) {
    const wanted = mistakes.slice(0, FIRST);
    const shown = JSON.stringify(wanted.map(({ item, label }) => [item, label]));
    if (shown === this.#shown) return;
    this.#shown = shown;
    if (!wanted.length) {
      this.root.replaceChildren(
        element("p", { class: "soft" }, "The model agrees with the labels, or does not know enough yet to disagree."),
      );
      return;
    }
    await Promise.all(wanted.map(({ item }) => this.#fetch(item)));
    const words =
      "Here the model is sure of another class: often the label is a slip. Click one, or Tab to it, and press a key.";
    this.root.replaceChildren(
      element("p", { class: "soft" }, words),
      element(
        "ul",
        { class: "mistakes" },
        wanted.map((mistake) => this.#card(mistake)),
      ),
    );
  }

  async #fetch(id) {
    if (this.#items.has(id)) return;
    const found = await read(`/api/items/${id}`, { person: this.page.person }).catch(() => null);
    if (found) this.#items.set(id, found);
  }

  #find(id) {
    return this.page.project.classes.find((found) => found.id === id) ?? { id, name: "?", colour: "" };
  }

  #card(mistake) {
    const item = this.#items.get(mistake.item) ?? { id: mistake.item };
    const [label, guess] = [this.#find(mistake.label), this.#find(mistake.guess)];
    const look = item.image
      ? thumbnail(item.id, { alt: `Item ${item.key}` })
      : element("p", { class: "mistake-text", dir: "auto" }, item.text ?? Object.values(item.extra ?? {}).join(" · "));
    const card = element(
      "li",
      {
        class: "mistake",
        tabindex: 0,
        "data-item": mistake.item,
        "aria-label": `Labelled ${label.name}, the model says ${guess.name}`,
      },
      look,
      element("dl", {}, row("Label", label), row("Model", guess, percent(mistake.confidence))),
      element(
        "div",
        { class: "mistake-tools" },
        element(
          "button",
          { type: "button", class: "small", on: { click: () => this.#relabel(card, guess.id) } },
          "It is ",
          breakable(guess.name),
        ),
        element(
          "button",
          {
            type: "button",
            class: "small quiet",
            on: { click: () => this.#settle(card, `The label ${label.name} stays.`) },
          },
          "Label is right",
        ),
        element("button", { type: "button", class: "quiet small", on: { click: () => this.#choose(card) } }, "Other"),
      ),
    );
    return card;
  }

  #press(event) {
    if (event.defaultPrevented || isTyping(event) || event.repeat) return;
    if (event.key === "z" && !event.altKey) return (event.preventDefault(), this.#undo());
    const card = event.target instanceof Element ? event.target.closest(".mistake") : null;
    if (!card || isModified(event) || card.classList.contains("settled")) return undefined;
    const key = keyOf(event);
    if (key === "l") return (event.preventDefault(), this.#choose(card));
    if (typesToFind(this.page.project.classes)) return undefined;
    for (const [id, own] of classKeys(this.page.project.classes))
      if (own === key) return (event.preventDefault(), this.#relabel(card, id));
    return undefined;
  }

  async #choose(card) {
    const id = await chooseClass(this.page, "Label as");
    if (id !== null) this.#relabel(card, id);
  }

  #relabel(card, id) {
    this.page.queue.add({ op: "labels", person: this.page.person, items: [Number(card.dataset.item)], class: id });
    this.#settle(card, `Now labelled ${this.#find(id).name}.`, true);
  }

  #settle(card, words, changed = false) {
    this.busy = true;
    card.classList.add("settled");
    const tools = card.querySelector(".mistake-tools");
    const undo = element("button", { type: "button", class: "small quiet", on: { click: () => this.#undo() } }, "Undo");
    tools.replaceChildren(element("span", {}, words), changed ? undo : "");
    card.nextElementSibling?.focus();
  }

  #undo() {
    this.page.queue.add({ op: "undo", person: this.page.person }).done.then(({ reply }) => {
      if (!reply.undone) return note("There is nothing to undo.");
      this.busy = false;
      this.#shown = "";
      return note("Undone.");
    });
  }
}

function row(words, found, more = "") {
  return element(
    "div",
    { colour: found.colour },
    element("dt", {}, words),
    element(
      "dd",
      {},
      element("span", { class: "dot" }),
      " ",
      breakable(found.name),
      more ? element("span", { class: "soft" }, ` ${more}`) : "",
    ),
  );
}
