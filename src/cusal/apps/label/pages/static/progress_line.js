// How far the labelling is: labels of the budget, labels a minute, time left, the estimated accuracy.

import { byId, element, show } from "./elements.js";
import { statusWords } from "./page.js";
import { doneOf, isAudit, NOUN } from "./task.js";
import { count, duration, percent, plural, whole } from "./words.js";

const LONGEST_GAP = 30; // seconds; more is a break, not labelling
const REMEMBERED = 30;

/** How fast a person answers, breaks left out. */
export class Pace {
  #gaps = [];
  #last = null;

  answered(at = performance.now() / 1000) {
    if (this.#last !== null && at - this.#last < LONGEST_GAP) this.#gaps.push(at - this.#last);
    this.#gaps = this.#gaps.slice(-REMEMBERED);
    this.#last = at;
  }

  /** Answers a second, or 0 as long as there are too few. */
  get rate() {
    if (this.#gaps.length < 4) return 0;
    return (
      this.#gaps.length /
      Math.max(
        0.5,
        this.#gaps.reduce((sum, gap) => sum + gap, 0),
      )
    );
  }
}

/** Show how far we are. progress: of the server; extra: labels that it does not know yet. */
export function drawLine(progress, extra, pace) {
  const done = doneOf(progress) + extra;
  const goal = progress.budget || null;
  const bar = byId("line-bar");
  const share = Math.min(1, done / Math.max(1, goal ?? progress.items));
  /** @type {HTMLElement} */ (bar.firstElementChild).style.setProperty("width", `${100 * share}%`);
  bar.setAttribute("aria-valuenow", done);
  bar.setAttribute("aria-valuemax", goal ?? progress.items);
  byId("line-done").textContent = goal
    ? `${count(done)} of ${plural(goal, NOUN)}`
    : plural(done, NOUN);
  byId("line-pace").textContent = paceWords(pace.rate, goal === null ? null : goal - done);
}

function paceWords(rate, left) {
  if (!rate) return "";
  const minute = Math.round(60 * rate);
  const words = `${minute} a minute`;
  if (left === null || left <= 0) return words;
  return `${words} · ${duration(left / rate)} left`;
}

/** Show what the worker does. */
export function drawState(status) {
  const line = byId("line-state");
  line.textContent = statusWords(status);
  line.title = status?.worker?.message ?? "";
  line.classList.toggle("trouble", ["restarting", "trouble"].includes(status?.worker?.state));
}

/** Show the estimated accuracy, in small. */
export function drawAccuracy(accuracy) {
  const link = byId("line-accuracy");
  show(link, Boolean(accuracy));
  if (!accuracy) return;
  const interval = `(${whole(accuracy.low)}–${whole(accuracy.high)})`;
  link.replaceChildren(
    element("span", { class: "line-word" }, "accuracy "),
    `${percent(accuracy.estimate)} ${interval}`,
  );
  link.title = isAudit
    ? "Estimated share of right predictions, with the 95 % interval that holds however often you look"
    : "Estimated share of right predictions on the rest, with its 90 % interval";
}
