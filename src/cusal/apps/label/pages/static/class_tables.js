// Class balance, and what is taken for what.

import { breakable, byId, element } from "./elements.js";
import { count, percent } from "./words.js";

const MOST_IN_TABLE = 15;
const MOST_PAIRS = 15;

/** Bars of labels and predictions for each class. */
export function drawBalance(root, rows, classes) {
  const known = new Map(rows.map((row) => [row.id, row]));
  const shown = classes.map((found) => ({ ...found, predicted: known.get(found.id)?.predicted }));
  const mostLabels = Math.max(1, ...shown.map(({ labels }) => labels ?? 0));
  const mostPredicted = Math.max(1, ...shown.map(({ predicted }) => predicted ?? 0));
  const all = shown.reduce((sum, { predicted }) => sum + (predicted ?? 0), 0);
  const lines = shown.map(({ name, colour, labels = 0, predicted = 0 }) =>
    element(
      "li",
      { colour },
      element("span", { class: "balance-name" }, breakable(name)),
      element("span", { class: "balance-line" }, bar(labels / mostLabels, "mine"), element("span", {}, count(labels))),
      element(
        "span",
        { class: "balance-line" },
        bar(predicted / mostPredicted, "theirs"),
        element("span", {}, all ? percent(predicted / all) : "–"),
      ),
    ),
  );
  const words = "Above: labels. Below, in grey: the share of all items that the model takes for this class.";
  root.replaceChildren(element("p", { class: "soft" }, words), element("ul", { class: "balance" }, lines));
}

function bar(share, name) {
  const made = element("span", { class: `bar-line ${name}`, "aria-hidden": "true" });
  made.style.setProperty("--share", share);
  return made;
}

/** A table of labels against guesses; with many classes the most frequent mistakes instead. */
export function drawConfusion(root, confusion, classes) {
  const words = "Labelled items, each guessed by a model that had not seen it.";
  byId("confusion-note").textContent = confusion ? words : ""; // below the table, which scrolls
  if (!confusion) {
    root.replaceChildren(element("p", { class: "soft" }, "Not known yet: it takes some labels of each class."));
    return;
  }
  const names = new Map(classes.map(({ id, name }) => [id, name]));
  root.replaceChildren(confusion.classes.length <= MOST_IN_TABLE ? square(confusion, names) : pairs(confusion, names));
}

function square({ classes, counts }, names) {
  const most = Math.max(1, ...counts.flat());
  const head = element(
    "tr",
    {},
    element("th", { scope: "col", class: "corner" }, "label ↓ guess →"),
    classes.map((id) => element("th", { scope: "col", class: "upright" }, element("span", {}, names.get(id) ?? "?"))),
  );
  const rows = counts.map((row, label) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, breakable(names.get(classes[label]) ?? "?")),
      row.map((value, guess) => cell(value, value / most, label === guess)),
    ),
  );
  return element("table", { class: "confusion" }, element("thead", {}, head), element("tbody", {}, rows));
}

function cell(value, share, right) {
  const made = element(
    "td",
    { class: right ? "right" : "wrong" },
    value ? String(value) : element("span", { class: "zero" }, "·"),
  );
  made.style.setProperty("--share", value ? 0.12 + 0.5 * share : 0);
  return made;
}

function pairs({ classes, counts }, names) {
  const found = [];
  for (const [label, row] of counts.entries())
    for (const [guess, value] of row.entries()) if (label !== guess && value) found.push({ label, guess, value });
  found.sort((one, other) => other.value - one.value);
  if (!found.length) return element("p", {}, "No labelled item was taken for another class.");
  const rows = found
    .slice(0, MOST_PAIRS)
    .map(({ label, guess, value }) =>
      element(
        "tr",
        {},
        element("td", {}, breakable(names.get(classes[label]) ?? "?")),
        element("td", {}, breakable(names.get(classes[guess]) ?? "?")),
        element("td", {}, String(value)),
      ),
    );
  const head = element(
    "tr",
    {},
    ["Label", "Taken for", "Times"].map((words) => element("th", { scope: "col" }, words)),
  );
  return element("table", { class: "pairs" }, element("thead", {}, head), element("tbody", {}, rows));
}
