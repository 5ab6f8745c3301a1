// The Progress page of an audit: how many predictions are right, with intervals that hold, and what to do next.

import { breakable, byId, element, show } from "./elements.js";
import { read } from "./api.js";
import { markReady, openPage, watchStatus } from "./page.js";
import { curveChart, intervalBar } from "./charts.js";
import { drawAgreement } from "./agreement.js";
import { doneOf } from "./task.js";
import { count, percent, plural, whole } from "./words.js";

await openPage();
let seen = null;

const points = (share) => (100 * share).toFixed(1);
const range = ({ low, high }) => `${points(low)} to ${points(high)} %`;

async function draw() {
  const { report, curves, progress, agreement, status } = await read("/api/report");
  seen = status.event;
  const known = Boolean(report?.accuracy);
  show(byId("report"), known);
  show(byId("nothing"), !known);
  byId("basis").textContent = report ? basis(report) : "";
  if (!known) return drawNothing(progress);
  drawAccuracy(report, progress);
  drawNext(report);
  drawCurve(curves);
  drawClasses(report.classes);
  return drawAgreement(agreement);
}

function basis({ checks, counted, items }) {
  const waiting = checks - counted;
  const rest = waiting > 0 ? `; ${count(waiting)} count when those before them are checked` : "";
  return `${plural(checks, "check")} of ${plural(items, "prediction")}${rest}`;
}

function drawNothing(progress) {
  const words = doneOf(progress)
    ? "The figures appear here in a moment."
    : "Check some predictions. 50 show roughly how good they are, 200 to 400 show it well.";
  byId("nothing").replaceChildren(
    element("h2", {}, "Nothing to judge yet"),
    element("p", {}, words),
    element("a", { class: "button primary", href: "/" }, "Check"),
  );
}

/** Show the interval that fits: while people go on and look, the one that holds at every look. */
function drawAccuracy({ accuracy, anytime, items, counted }, { budget }) {
  if (counted >= items) {
    byId("accuracy").replaceChildren(
      element("p", { class: "big" }, `${points(accuracy.estimate)} %`),
      element("p", { class: "lead" }, `All ${count(items)} predictions are checked: this is exact.`),
    );
    return;
  }
  const ended = budget && counted >= budget;
  const shown = ended ? accuracy : anytime;
  const words = `About ${points(accuracy.estimate)} % of the ${count(items)} predictions are right.`;
  byId("accuracy").replaceChildren(
    element("p", { class: "big" }, range(shown)),
    element("p", { class: "lead" }, words),
    intervalBar({ ...shown, estimate: accuracy.estimate }, `${words} ${range(shown)}`),
    element(
      "dl",
      { class: "ranges" },
      fact("However often you look", range(anytime), "anytime"),
      fact("For one look, at the number of checks that you planned", range(accuracy), "once"),
    ),
    element("p", { class: "soft small-print" }, `Both with 95 % confidence, from ${plural(counted, "check")}.`),
  );
}

const fact = (words, value, id) => element("div", {}, element("dt", {}, words), element("dd", { id }, value));

function drawNext({ needed, accept, counted, items }) {
  const more = Math.max(0, needed.checks - needed.done);
  const width = `±${100 * needed.half_width} points`;
  const verdict = more ? `About ${plural(more, "more check")} for ${width}` : `Known within ${width}`;
  const spread = more ? `Probably ${count(needed.low - needed.done)} to ${count(needed.high - needed.done)}.` : "";
  byId("next").replaceChildren(
    element("p", { class: `verdict ${more ? "" : "good"}`, id: "needed" }, verdict),
    element("p", {}, spread),
    element("h3", {}, "What can be accepted"),
    element("p", { id: "accept" }, accept.reason),
    element(
      "div",
      { class: "facts-links" },
      counted < items ? element("a", { class: `button ${more ? "primary" : ""}`, href: "/" }, "Go on checking") : null,
      element("a", { class: `button ${more ? "" : "primary"}`, href: "/export" }, "Export"),
    ),
  );
}

function drawCurve(curves) {
  if (curves.length < 2) {
    byId("curve").replaceChildren(element("p", { class: "soft" }, "A curve appears after some more checks."));
    return;
  }
  const known = curves.map(({ labels, accuracy, low, high }) => ({ x: labels, y: accuracy, low, high }));
  const last = known.at(-1);
  const words = `The estimate over the checks: ${points(last.y)} % (${range(last)}) after ${last.x}`;
  const floor = Math.floor(4 * Math.min(...known.map(({ low }) => low))) / 4;
  byId("curve").replaceChildren(
    curveChart(known, { words, floor: Math.max(0, floor) }),
    element("p", { class: "soft small-print" }, "The band holds however often you look."),
  );
}

function drawClasses(classes) {
  if (!classes.length) {
    byId("balance").replaceChildren(element("p", { class: "soft" }, "A class is shown after five checks of it."));
    return;
  }
  const heads = ["Class", "Predictions", "Checks", "Right", "95 % interval"];
  const rows = classes.map(({ name, items, checks, estimate, low, high }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, breakable(name)),
      [count(items), count(checks), percent(estimate), `${whole(low)} to ${percent(high)}`].map((cell) =>
        element("td", {}, cell),
      ),
    ),
  );
  byId("balance").replaceChildren(
    element(
      "table",
      { class: "pairs by-class" },
      element("thead", {}, element("tr", {}, heads.map((words) => element("th", { scope: "col" }, words)))),
      element("tbody", {}, rows),
    ),
  );
}

await draw();
markReady();
watchStatus((status) => status.event !== seen && draw().catch(() => {}));
