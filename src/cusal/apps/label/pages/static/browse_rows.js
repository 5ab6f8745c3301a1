// One item in the list: a small picture or a text, its label, what the model says.

import { breakable, element, paint } from "./elements.js";
import { thumbnail } from "./thumbnail.js";
import { percent } from "./words.js";

/** Return the element of a row. */
export function itemRow(row, page) {
  const isPicture = page.kind === "image";
  const label = element("span", { class: "row-label" }, element("span", { class: "dot" }), element("span", {}));
  const guess = element("span", { class: "row-guess" });
  const box = element("span", { class: "row-box", "aria-hidden": "true" });
  const people = element("span", { class: "row-people" });
  const parts = isPicture
    ? [pictureOf(row), box, element("span", { class: "row-words" }, label, guess)]
    : [box, element("span", { class: "row-text", dir: "auto" }, wordsOf(row)), label, guess, people];
  const made = element(
    "div",
    { class: "row", role: "option", id: `row-${row.id}`, "aria-selected": "false", "data-id": row.id, title: row.key },
    parts,
  );
  redress(made, row, page);
  return made;
}

/** The small picture, or why there is none. */
function pictureOf(row) {
  if (row.state === "ok") return thumbnail(row.id, { loading: "lazy", decoding: "async" });
  return element("span", { class: "row-gone" }, row.key, element("small", {}, row.note ?? ""));
}

/** The text of a row, or its first columns. */
function wordsOf(row) {
  if (row.text !== null) return row.text;
  const cells = Object.entries(row.columns ?? {}).map(([name, value]) => `${name} ${value ?? "–"}`);
  return [element("b", {}, row.key), element("span", { class: "soft" }, ` ${cells.join(" · ")}`)];
}

/** Write the label and the guess of a row again. */
export function redress(made, row, page) {
  if (!made) return;
  const find = (id) => page.project.classes.find((found) => found.id === id) ?? null;
  const [label, guess] = [find(row.label), find(row.prediction)];
  const words =
    row.state === "missing"
      ? "file missing"
      : row.state === "broken"
        ? "file broken"
        : (label?.name ?? unlabelled(row.kind));
  const place = made.querySelector(".row-label");
  place.classList.toggle("none", !label);
  place.lastElementChild.replaceChildren(...breakable(words));
  place.firstElementChild.hidden = !label;
  paint(place, label?.colour);
  const said = made.querySelector(".row-guess");
  const share = row.confidence === null ? "" : percent(row.confidence);
  const parts = [element("span", { class: "row-prefix" }, "model: "), breakable(guess?.name ?? "")];
  said.replaceChildren(...(guess ? [element("span", {}, parts), element("span", { class: "row-share" }, share)] : []));
  said.title = guess ? `The model says ${guess.name}` : "";
  said.classList.toggle("differs", Boolean(label && guess && label !== guess));
  const people = made.querySelector(".row-people");
  if (people) people.textContent = `${row.disagree ? "≠ " : ""}${(row.people ?? []).join(", ")}`;
  made.setAttribute("aria-label", `${row.text ?? row.key}, ${words}${guess ? `, model says ${guess.name}` : ""}`);
}

const unlabelled = (kind) => (kind === "skip" ? "skipped" : kind === "unsure" ? "not sure" : "no label");
