// One item, large: a picture, a text or the columns of a row.

import { element } from "./elements.js";
import { ImageView } from "./image_view.js";
import { Pictures } from "./pictures.js";
import { isAudit } from "./task.js";

const SHORT = 160; // letters that are set large
const MEDIUM = 600;

export class ItemView {
  #image = null;
  item = null;

  constructor(root) {
    this.root = root;
  }

  /** Show an item; `picture` is its <img> if that was loaded ahead. */
  show(item, picture = null) {
    if (this.item === item) return;
    this.item = item;
    this.#image = null;
    this.root.dataset.item = item.id;
    if (item.image) this.root.replaceChildren(this.#picture(item, picture));
    else if (item.text !== null && item.text !== undefined) this.root.replaceChildren(text(item.text));
    else this.root.replaceChildren(columns(item.extra ?? {}, "item-columns"));
  }

  /** Show words in place of an item. */
  say(...children) {
    this.item = null;
    this.#image = null;
    delete this.root.dataset.item;
    this.root.replaceChildren(element("div", { class: "item-empty" }, ...children));
  }

  /** Whether a person can see the item. */
  get ready() {
    return this.item !== null && (this.#image?.ready ?? true);
  }

  /** Zoom or scroll by a key; returns whether the key was used. */
  press(key) {
    if (this.#image) return this.#image.press(key);
    const scrolled = { ArrowDown: 90, ArrowUp: -90, PageDown: 400, PageUp: -400, " ": 400 }[key];
    const page = this.root.firstElementChild;
    if (!scrolled || !page || page.scrollHeight <= page.clientHeight) return false;
    page.scrollBy({ top: scrolled });
    return true;
  }

  #picture(item, given) {
    const picture = given ?? new Pictures().of(item);
    this.#image = new ImageView(picture, `Item ${item.key ?? item.id}`);
    const words = `This picture cannot be shown. ${isAudit ? "Say that you are not sure." : "Skip it."}`;
    const fail = () =>
      this.item === item && this.root.append(element("p", { class: "notice warn item-broken" }, words));
    if ("broken" in picture.dataset) queueMicrotask(fail);
    else picture.addEventListener("broken", fail, { once: true });
    return this.#image.root;
  }
}

function text(words) {
  const size = words.length <= SHORT ? "short" : words.length <= MEDIUM ? "medium" : "long";
  return element(
    "div",
    { class: `text ${size}`, tabindex: 0, role: "document", "aria-label": "Text of the item" },
    element("p", { dir: "auto" }, words),
  );
}

/** Return a value as people read it: long fractions are cut. */
function shortly(value) {
  if (value === null || value === "") return "–";
  if (typeof value === "object") return JSON.stringify(value);
  const isLong = /^-?\d+\.\d{7,}$/.test(String(value));
  return isLong ? String(Number(Number(value).toPrecision(7))) : String(value);
}

/** Return the columns of a row as a list of names and values. */
export function columns(extra, name = "columns") {
  const rows = Object.entries(extra).map(([key, value]) =>
    element("div", {}, element("dt", {}, key), element("dd", { dir: "auto", title: String(value) }, shortly(value))),
  );
  if (!rows.length) return element("p", { class: "soft" }, "There are no other columns.");
  return element(
    "dl",
    { class: name, ...(name === "item-columns" ? { tabindex: 0, "aria-label": "Columns of the item" } : {}) },
    rows,
  );
}
