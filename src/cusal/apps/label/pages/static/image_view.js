// A picture that fits its place; wheel, pinch, + and - zoom, dragging pans, 0 and a double click fit it again.

import { element } from "./elements.js";
import { isSettled } from "./pictures.js";

const MOST = 24;
const STEP = 1.4;
const ENLARGED = 14; // a tiny picture is shown at most so many times its size

export class ImageView {
  #scale = 1;
  #x = 0;
  #y = 0;
  #fingers = new Map();

  constructor(picture, words) {
    this.picture = picture;
    picture.alt = words;
    picture.className = "picture-image";
    const wait = element("span", { class: "picture-wait", hidden: isSettled(picture) }, "Loading…");
    for (const end of ["load", "broken"]) picture.addEventListener(end, () => wait.remove(), { once: true });
    this.root = element("div", { class: "picture" }, picture, wait, this.#tools());
    this.#limit();
    this.#listen();
    this.#draw();
  }

  /** Whether the picture can be seen, or will never be. */
  get ready() {
    return isSettled(this.picture);
  }

  zoom(factor, at = null) {
    const box = this.root.getBoundingClientRect();
    const [x, y] = at ? [at.clientX - box.left - box.width / 2, at.clientY - box.top - box.height / 2] : [0, 0];
    const scale = Math.min(MOST, Math.max(1, this.#scale * factor));
    const ratio = scale / this.#scale;
    this.#x = x - (x - this.#x) * ratio; // the point under the pointer stays where it is
    this.#y = y - (y - this.#y) * ratio;
    this.#scale = scale;
    this.#draw();
  }

  fit() {
    this.#scale = 1;
    this.#draw();
  }

  /** Zoom by a key; returns whether it was one of + - 0. */
  press(key) {
    if (key === "+" || key === "=") this.zoom(STEP);
    else if (key === "-") this.zoom(1 / STEP);
    else if (key === "0") this.fit();
    else return false;
    return true;
  }

  #tools() {
    const tool = (words, sign, act) =>
      element(
        "button",
        { type: "button", class: "picture-tool", "aria-label": words, title: words, tabindex: -1, on: { click: act } },
        sign,
      );
    return element(
      "div",
      { class: "picture-tools" },
      tool("Zoom out (-)", "−", () => this.zoom(1 / STEP)),
      tool("Fit (0)", "Fit", () => this.fit()),
      tool("Zoom in (+)", "+", () => this.zoom(STEP)),
    );
  }

  #limit() {
    const set = () => {
      if (!this.picture.naturalWidth) return;
      this.picture.style.setProperty("max-width", `min(100%, ${this.picture.naturalWidth * ENLARGED}px)`);
      this.picture.style.setProperty("max-height", `min(100%, ${this.picture.naturalHeight * ENLARGED}px)`);
    };
    if (isSettled(this.picture)) set();
    else this.picture.addEventListener("load", set, { once: true });
  }

  #listen() {
    this.root.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp((-Math.sign(event.deltaY) * Math.min(60, Math.abs(event.deltaY))) / 220), event);
    });
    this.root.addEventListener("dblclick", (event) => (this.#scale > 1 ? this.fit() : this.zoom(3, event)));
    this.root.addEventListener("pointerdown", (event) => {
      if (event.target.closest("button")) return;
      this.root.setPointerCapture(event.pointerId);
      this.#fingers.set(event.pointerId, event);
    });
    this.root.addEventListener("pointermove", (event) => this.#fingers.has(event.pointerId) && this.#drag(event));
    for (const end of ["pointerup", "pointercancel"])
      this.root.addEventListener(end, (event) => this.#fingers.delete(event.pointerId));
  }

  #drag(event) {
    const before = this.#fingers.get(event.pointerId);
    const other = [...this.#fingers.values()].find(({ pointerId }) => pointerId !== event.pointerId);
    this.#fingers.set(event.pointerId, event);
    if (other) {
      const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
      const middle = { clientX: (event.clientX + other.clientX) / 2, clientY: (event.clientY + other.clientY) / 2 };
      this.zoom(apart(event) / apart(before), middle);
    } else if (this.#scale > 1) {
      this.#x += event.clientX - before.clientX;
      this.#y += event.clientY - before.clientY;
      this.#draw();
    }
  }

  #draw() {
    const most = (length) => (Math.max(0, this.#scale - 1) * length) / 2;
    const { width, height } = this.root.getBoundingClientRect();
    this.#x = Math.min(most(width), Math.max(-most(width), this.#x));
    this.#y = Math.min(most(height), Math.max(-most(height), this.#y));
    const zoomed = this.#scale > 1;
    this.root.toggleAttribute("data-zoomed", zoomed);
    if (zoomed)
      this.picture.style.setProperty("transform", `translate(${this.#x}px, ${this.#y}px) scale(${this.#scale})`);
    else this.picture.style.removeProperty("transform");
  }
}
