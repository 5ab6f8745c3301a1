// The strip: the last items with their labels, the one on the screen, and those that come.

import { element, paint } from "./elements.js";
import { thumbnail } from "./thumbnail.js";

const BEFORE = { image: 4, other: 2 };
const MOST = 20;

export class Strip {
  #cells = new Map();

  /** settings: {look(id), bring(id), find(class id), words(entry)}. */
  constructor(root, settings) {
    this.root = root;
    this.settings = settings;
  }

  draw(timeline) {
    const { past, place, ahead } = timeline;
    const start = Math.max(0, place - (BEFORE[document.documentElement.dataset.kind] ?? BEFORE.other));
    const before = past.slice(start, start + MOST);
    const cells = [
      ...before.map((entry) => this.#cell(entry.item, entry, entry === timeline.entry)),
      ...ahead.items
        .slice(0, MOST - before.length)
        .map((item, after) => this.#cell(item, null, timeline.now && !after)),
    ];
    const ids = new Set(cells.map((cell) => cell.dataset.id));
    for (const id of this.#cells.keys()) if (!ids.has(String(id))) this.#cells.delete(id);
    this.root.replaceChildren(...cells);
  }

  #cell(item, entry, current) {
    const known = this.#cells.get(item.id);
    const cell = known && known.dataset.key === String(item.key) ? known : this.#make(item);
    const found = entry?.kind === "label" ? this.settings.find(entry.class) : null;
    const words = entry ? this.settings.words(entry) : "";
    cell.classList.toggle("done", Boolean(entry));
    cell.title = words ? `${item.key ?? item.id}: ${words}` : (item.key ?? "");
    cell.setAttribute("aria-label", `${words || "next"}, item ${item.key ?? item.id}`);
    cell.querySelector(".cell-label").textContent = words;
    paint(cell, found?.colour);
    if (current) cell.setAttribute("aria-current", "true");
    else cell.removeAttribute("aria-current");
    return cell;
  }

  #make(item) {
    const isPicture = document.documentElement.dataset.kind === "image";
    const look = isPicture
      ? thumbnail(item.id, { fetchpriority: "low" })
      : element("span", { class: "cell-text" }, summary(item));
    const cell = element(
      "button",
      {
        type: "button",
        class: `cell ${isPicture ? "cell-picture" : ""}`,
        "data-id": item.id,
        "data-key": String(item.key),
        tabindex: -1,
        on: { click: () => this.#click(cell, item.id) },
      },
      look,
      element("span", { class: "cell-label" }),
    );
    this.#cells.set(item.id, cell);
    return cell;
  }

  #click(cell, id) {
    if (cell.classList.contains("done")) this.settings.look(id);
    else this.settings.bring(id);
    cell.blur();
  }
}

/** Return a few words that tell an item from others. */
export function summary(item) {
  const values = Object.values(item.extra ?? {})
    .slice(0, 4)
    .map((value) => String(value).slice(0, 7));
  return (item.text ?? (values.length ? values.join(" · ") : (item.key ?? `Item ${item.id}`))).slice(0, 80);
}
