// The strip: the last items with their labels, the one on the screen, and those that come.

import { element, paint } from "./elements.js";

const BEFORE = 5;
const AFTER = 20;

export class Strip {
  #cells = new Map();

  /** settings: {look(id), bring(id), find(class id)}. */
  constructor(root, settings) {
    this.root = root;
    this.settings = settings;
  }

  draw(timeline) {
    const { past, place, ahead } = timeline;
    const start = Math.max(0, Math.min(place, past.length - 1) - BEFORE + 1);
    const before = past.slice(start, Math.max(start + BEFORE, place + 1));
    const cells = [
      ...before.map((entry) => this.#cell(entry.item, entry, entry === timeline.entry)),
      ...ahead.items.slice(0, AFTER).map((item, after) => this.#cell(item, null, timeline.now && after === 0)),
    ];
    const ids = new Set(cells.map((cell) => cell.dataset.id));
    for (const id of this.#cells.keys()) if (!ids.has(String(id))) this.#cells.delete(id);
    this.root.replaceChildren(...cells);
    const current = this.root.querySelector("[aria-current]");
    if (current) this.root.scrollLeft = current.offsetLeft - this.root.offsetLeft - 0.3 * this.root.clientWidth;
  }

  #cell(item, entry, current) {
    const cell = this.#cells.get(item.id) ?? this.#make(item);
    const found = entry?.kind === "label" ? this.settings.find(entry.class) : null;
    const words = entry ? (entry.kind === "label" ? (found?.name ?? "?") : entry.kind === "skip" ? "skipped" : "not sure") : "";
    cell.classList.toggle("done", Boolean(entry));
    cell.title = words ? `${item.key ?? item.id}: ${words}` : (item.key ?? "");
    cell.setAttribute("aria-label", words ? `${words}, item ${item.key ?? item.id}` : `next, item ${item.key ?? item.id}`);
    cell.querySelector(".cell-label").textContent = words;
    paint(cell, found?.colour);
    if (current) cell.setAttribute("aria-current", "true");
    else cell.removeAttribute("aria-current");
    return cell;
  }

  #make(item) {
    const isPicture = document.documentElement.dataset.kind === "image";
    const look = isPicture
      ? element("img", { src: `/media/${item.id}?side=200`, alt: "", draggable: "false", width: 48, height: 48 })
      : element("span", { class: "cell-text" }, summary(item));
    const cell = element(
      "button",
      { type: "button", class: `cell ${isPicture ? "cell-picture" : ""}`, "data-id": item.id, tabindex: -1, on: { click: () => this.#click(cell, item.id) } },
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
  const values = Object.values(item.extra ?? {}).slice(0, 4).map((value) => String(value).slice(0, 7));
  return (item.text ?? (values.length ? values.join(" · ") : (item.key ?? `Item ${item.id}`))).slice(0, 80);
}
