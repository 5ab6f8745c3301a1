// Where a person is: what was answered (to go back to), what comes next, and the steps that can be undone.

export class Timeline {
  past = []; // {item, kind, class, at}, in order of the first answer
  steps = []; // what undo takes back: {id, before} (null for a first answer) or {many: ids}
  place = 0; // index in past; past.length is "now"

  /** ahead: has items, take() and putBack(item). */
  constructor(ahead) {
    this.ahead = ahead;
  }

  get now() {
    return this.place >= this.past.length;
  }

  /** The entry that is looked at again, or null at "now". */
  get entry() {
    return this.now ? null : this.past[this.place];
  }

  /** The item on the screen, or null. */
  get item() {
    return this.now ? (this.ahead.items[0] ?? null) : this.entry.item;
  }

  /** Begin with what was answered before this page was opened; newest first, as the server has it. */
  open(answers) {
    const known = new Set(this.past.map(({ item }) => item.id));
    const before = answers.filter(({ item }) => !known.has(item)).reverse();
    this.past = [
      ...before.map(({ item, kind, class: label, at }) => ({ item: { id: item }, kind, class: label, at })),
      ...this.past,
    ];
    this.place += before.length;
  }

  /** Note an answer to the item on the screen and move on; returns its item. */
  answer(kind, label, at) {
    const entry = this.entry;
    if (entry) {
      this.steps.push({ id: entry.item.id, before: { kind: entry.kind, class: entry.class } });
      Object.assign(entry, { kind, class: label, at });
      this.place += 1;
      return entry.item;
    }
    const item = this.ahead.take();
    this.past.push({ item, kind, class: label, at });
    this.steps.push({ id: item.id, before: null });
    this.place = this.past.length;
    return item;
  }

  /** Take back the last step of this page and look at its item; returns false if there is none. */
  undo() {
    const step = this.steps.pop();
    if (!step) return false;
    if (step.many) return true; // the items were labelled together and are open again
    if (step.before) {
      this.place = this.past.findIndex(({ item }) => item.id === step.id);
      Object.assign(this.past[this.place], step.before);
    } else this.reopen(this.past.find(({ item }) => item.id === step.id).item);
    return true;
  }

  /** Make an item the next to be answered. */
  reopen(item) {
    this.past = this.past.filter((entry) => entry.item.id !== item.id);
    this.ahead.putBack(item);
    this.place = this.past.length;
  }

  back() {
    this.place = Math.max(0, Math.min(this.place, this.past.length) - 1);
  }

  forward() {
    this.place = Math.min(this.past.length, this.place + 1);
  }

  goTo(id) {
    const place = this.past.findIndex(({ item }) => item.id === id);
    if (place >= 0) this.place = place;
  }

  goToNow() {
    this.place = this.past.length;
  }
}
