// Selecting rows: click, Shift and Ctrl click, arrows, Space, Shift with arrows. A click selects one more or one less.

export class Selection {
  #chosen = new Set();
  #here = null; // the row under the cursor
  #anchor = null; // where a range begins

  constructor(root, changed) {
    this.root = root;
    this.changed = changed;
    root.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("focus", () => this.#here === null && this.#go(this.#rows()[0]));
  }

  get ids() {
    return [...this.#chosen];
  }

  get here() {
    return this.#here;
  }

  rowOf(id) {
    return this.root.querySelector(`[data-id="${id}"]`);
  }

  clear() {
    this.#chosen.clear();
    this.#draw();
    if (!this.#rows().length) this.#here = this.#anchor = null;
  }

  all() {
    for (const row of this.#rows()) this.#chosen.add(idOf(row));
    this.#draw();
  }

  /** Draw again after rows came. */
  refresh() {
    this.#draw();
  }

  /** Move the cursor by so many rows; returns the id there. */
  step(by) {
    const rows = this.#rows();
    const place = rows.findIndex((row) => idOf(row) === this.#here);
    this.#go(rows[Math.min(rows.length - 1, Math.max(0, place + by))]);
    return this.#here;
  }

  /** Use a key; returns whether it moved or selected. */
  press(event) {
    const wide = this.#columns();
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -wide, ArrowDown: wide, Home: -Infinity, End: Infinity }[
      event.key
    ];
    if (event.key === "Escape" && this.#chosen.size) return (this.clear(), true);
    if (event.key === " " && this.#here !== null) return (this.#toggle(this.#here), true);
    if (step === undefined || !this.#rows().length) return false;
    const before = this.#here;
    if (before === null) this.#go(this.#rows()[0]);
    else this.step(step);
    if (event.shiftKey && before !== null) this.#range(this.#anchor ?? before, this.#here);
    else this.#anchor = this.#here;
    this.root.focus({ preventScroll: true });
    return true;
  }

  #click(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    const id = idOf(row);
    if (event.shiftKey && this.#anchor !== null) this.#range(this.#anchor, id);
    else this.#toggle(id);
    this.#go(row);
  }

  #toggle(id) {
    if (!this.#chosen.delete(id)) this.#chosen.add(id);
    this.#anchor = id;
    this.#draw();
  }

  #range(from, to) {
    const ids = this.#rows().map(idOf);
    const [start, end] = [ids.indexOf(from), ids.indexOf(to)].sort((one, other) => one - other);
    for (const id of ids.slice(Math.max(0, start), end + 1)) this.#chosen.add(id);
    this.#draw();
  }

  #go(row) {
    if (!row) return;
    this.#here = idOf(row);
    this.#draw();
    row.scrollIntoView({ block: "nearest" });
  }

  #columns() {
    const rows = this.#rows();
    const wide = rows.findIndex((row) => row.offsetTop !== rows[0].offsetTop);
    return wide < 1 ? Math.max(1, rows.length) : wide;
  }

  #rows() {
    return [...this.root.children];
  }

  #draw() {
    for (const row of this.#rows()) {
      row.setAttribute("aria-selected", String(this.#chosen.has(idOf(row))));
      row.classList.toggle("here", idOf(row) === this.#here);
    }
    if (this.#here !== null) this.root.setAttribute("aria-activedescendant", `row-${this.#here}`);
    else this.root.removeAttribute("aria-activedescendant");
    this.changed();
  }
}

const idOf = (row) => Number(row.dataset.id);
