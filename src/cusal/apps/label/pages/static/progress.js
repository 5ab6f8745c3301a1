// The Progress page: how good the model is, honestly, and whether more labels would help.

import { byId, element, show } from "./elements.js";
import { read } from "./api.js";
import { markReady, openPage, statusWords, watchStatus } from "./page.js";
import { curveChart, intervalBar, reliabilityDiagram } from "./charts.js";
import { drawBalance, drawConfusion } from "./class_tables.js";
import { drawAgreement } from "./agreement.js";
import { Mistakes } from "./mistakes.js";
import { count, percent, plural, whole } from "./words.js";

const page = await openPage();
const mistakes = new Mistakes(byId("mistakes"), page);
let seen = null;

async function draw() {
  const found = await read("/api/report");
  const { classes } = await page.refresh();
  const { report, curves, progress, agreement, status } = found;
  seen = `${status.round} ${status.event}`;
  show(byId("report"), Boolean(report));
  show(byId("nothing"), !report);
  drawBasis(progress, report);
  if (!report) return drawNothing(progress, status);
  const isDone = progress.items > 0 && progress.labelled >= progress.items;
  if (isDone) drawDone(progress);
  else {
    drawAccuracy(report.accuracy);
    drawStopping(report.stopping);
  }
  drawCurves(curves);
  drawCalibration(report.calibration);
  drawBalance(byId("balance"), report.classes ?? [], classes);
  drawConfusion(byId("confusion"), report.confusion, classes);
  mistakes.set(report.mistakes ?? []);
  return drawAgreement(agreement);
}

/** How much is labelled, how much of that the figures below know, and what was left out. */
function drawBasis({ labelled, items, aside }, report) {
  const behind = report && report.labels !== labelled ? `; the figures are from ${plural(report.labels, "label")}` : "";
  const words = `${count(labelled)} of ${plural(items, "item")} labelled${behind}`;
  const gone = element("a", { href: "/browse?kind=aside" }, `${plural(aside, "item")} missing or broken`);
  byId("basis").replaceChildren(words, ...(aside ? [" · ", gone] : []));
}

function drawNothing(progress, status) {
  const words = progress.labelled
    ? statusWords(status) || "The model learns from the first labels. Its figures appear here in a moment."
    : "Label a few items of each class. The first figures appear after the first round.";
  byId("nothing").replaceChildren(
    element("h2", {}, "Nothing to judge yet"),
    element("p", {}, words),
    element("a", { class: "button primary", href: "/" }, "Label"),
  );
}

function drawDone({ items }) {
  byId("accuracy").replaceChildren(
    element("p", { class: "big" }, `${count(items)} of ${count(items)}`),
    element("p", { class: "lead" }, "Every item is labelled. Nothing is left to predict, and nothing to estimate."),
  );
  byId("stopping").replaceChildren(
    element("p", { class: "verdict good" }, "You are done."),
    element("p", {}, "The model can still be used on new data; the figures below say how well it learned."),
    element("div", { class: "facts-links" }, element("a", { class: "button primary", href: "/export" }, "Export")),
  );
}

function drawAccuracy(accuracy) {
  if (!accuracy) {
    byId("accuracy").replaceChildren(element("p", { class: "soft" }, "Not known yet: it takes some more labels."));
    return;
  }
  const { estimate, low, high, labels, drawn } = accuracy;
  const range = `Between ${whole(low)} and ${whole(high)} % of the rest are right (90 % sure)`;
  const words = `${range}, most likely ${whole(estimate)} %.`;
  const basis = drawn
    ? `Estimated from ${plural(labels, "label")}, ${count(drawn)} of them random checks.`
    : `Estimated from ${plural(labels, "label")}; without random checks it can be too kind.`;
  byId("accuracy").replaceChildren(
    element("p", { class: "big" }, `${whole(low)}–${whole(high)} %`),
    element("p", { class: "lead" }, words),
    intervalBar(accuracy, words),
    element("p", { class: "soft small-print" }, basis),
  );
}

function drawStopping(stopping) {
  if (!stopping) {
    byId("stopping").replaceChildren(element("p", { class: "soft" }, "Not known yet: it takes some more labels."));
    return;
  }
  const { stop, reason, changed, since, gain } = stopping;
  const facts = [];
  if (typeof changed === "number")
    facts.push([
      percent(changed),
      since ? `of the predictions changed with the last ${since} labels` : "of the predictions changed lately",
    ]);
  if (typeof gain === "number")
    facts.push([`+${gain.toFixed(1)}`, "points of accuracy are likely from 50 more labels"]);
  byId("stopping").replaceChildren(
    element("p", { class: `verdict ${stop ? "good" : ""}` }, stop ? "You can stop." : "More labels help."),
    element("p", {}, sentence(reason)),
    element(
      "dl",
      { class: "facts" },
      facts.map(([value, words]) => element("div", {}, element("dt", {}, words), element("dd", {}, value))),
    ),
    element(
      "div",
      { class: "facts-links" },
      element("a", { class: `button ${stop ? "" : "primary"}`, href: "/" }, "Go on labelling"),
      element("a", { class: `button ${stop ? "primary" : ""}`, href: "/export" }, "Export"),
    ),
  );
}

function sentence(words) {
  const text = (words ?? "").trim();
  if (!text) return "";
  return text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

function drawCurves(curves) {
  const series = [
    ["Accuracy on the rest", "accuracy", "low", "high"],
    ["Predictions that changed", "changed"],
    ["Calibration error (ECE)", "ece"],
  ];
  const figures = [];
  for (const [title, name, low, high] of series) {
    const points = curves.map((point) => ({ x: point.labels, y: point[name], low: point[low], high: point[high] }));
    const known = points.filter(({ y }) => y !== null && y !== undefined);
    if (known.length < 2) continue;
    const [first, last] = [known[0], known.at(-1)];
    const words = `${title}: ${percent(first.y)} with ${first.x} labels, ${percent(last.y)} with ${last.x}`;
    const floor = name === "accuracy" ? Math.floor(4 * Math.min(...known.map((point) => point.low ?? point.y))) / 4 : 0;
    figures.push(
      element(
        "figure",
        {},
        element("figcaption", {}, title, element("b", {}, percent(known.at(-1).y))),
        curveChart(points, { words, floor: Math.max(0, floor) }),
      ),
    );
  }
  byId("curves").replaceChildren(
    ...(figures.length ? figures : [element("p", { class: "soft" }, "Curves appear after the second round.")]),
  );
}

function drawCalibration(calibration) {
  const bins = calibration?.reliability ?? [];
  if (!calibration || !bins.some(({ share }) => share > 0)) {
    byId("calibration").replaceChildren(element("p", { class: "soft" }, "Not known yet: it takes some more labels."));
    return;
  }
  const { ece_after: error, ece_after_low: low, ece_after_high: high, evidence } = calibration;
  const parts = [];
  if (typeof error === "number") {
    const range = typeof low === "number" ? ` (${points(low)} to ${points(high)}, 90 % sure)` : "";
    parts.push(
      element(
        "p",
        { class: "lead" },
        `When it says how sure it is, it is off by ${points(error)} points on average${range}.`,
      ),
    );
  }
  const words = `How sure it says it is, against how often it is right: ${bins
    .filter(({ share }) => share > 0)
    .map(({ confidence, right }) => `${percent(confidence)}: ${percent(right)}`)
    .join(", ")}`;
  const basis = evidence ? ` From ${plural(evidence, "label")}.` : "";
  const rule = "Points on the dashed line are honest; below it the model is too sure of itself.";
  const note = `${rule} Large points stand for many items.${basis}`;
  byId("calibration").replaceChildren(
    ...parts,
    element(
      "div",
      { class: "reliability" },
      reliabilityDiagram(bins, words),
      element("p", { class: "soft small-print" }, note),
    ),
  );
}

const points = (share) => (100 * share).toFixed(1);

await draw();
markReady();
watchStatus((status) => `${status.round} ${status.event}` !== seen && !mistakes.busy && draw().catch(() => {}));
