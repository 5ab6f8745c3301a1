// The Classes page: add, rename, merge, reorder, delete, colour, key, description. Every change is sent at once.

import { byId, element, note, show } from "./elements.js";
import { newId, send } from "./api.js";
import { markReady, openPage } from "./page.js";
import { classKeys, COMMANDS, MOST_WITH_KEYS, typesToFind } from "./keys.js";
import { askDelete, askMerge } from "./class_dialogs.js";
import { makeDraggable } from "./drag_rows.js";
import { plural } from "./words.js";

const page = await openPage();
const root = byId("rows");

let earlier = Promise.resolve(); // changes are stored in the order in which they were made

/** Send a change after those before it; returns whether it was stored. */
function change(action, values) {
  const stored = earlier.then(() => store(action, values));
  earlier = stored.then(
    () => {},
    () => {},
  );
  return stored;
}

async function store(action, values) {
  try {
    const { classes } = await send("/api/classes", { id: newId(), person: page.person, action, ...values });
    page.project.classes = classes;
    draw();
    return true;
  } catch (error) {
    if (error.status === undefined) throw error;
    note(error.message, { tone: "bad" });
    draw();
    return false;
  }
}

function draw() {
  const { classes } = page.project;
  const focus = document.activeElement instanceof HTMLElement && document.activeElement.dataset.field;
  byId("how-many").textContent = classes.length ? plural(classes.length, "class", "classes") : "";
  byId("key-note").textContent = typesToFind(classes)
    ? `With more than ${MOST_WITH_KEYS} classes people type a part of the name; the nine in use have the digits.`
    : "";
  show(byId("nothing"), !classes.length);
  const keys = classKeys(classes);
  root.replaceChildren(...classes.map((found, place) => row(found, place, keys.get(found.id))));
  if (focus) /** @type {any} */ (root.querySelector(`[data-field="${CSS.escape(focus)}"]`))?.focus();
}

function row(found, place, key) {
  const last = page.project.classes.length - 1;
  const made = element(
    "li",
    { class: "class-row", "data-id": found.id },
    element(
      "div",
      { class: "class-moves" },
      element("span", { class: "class-grip", "aria-hidden": "true", title: "Drag to move" }, "⠿"),
      button("↑", `Move ${found.name} up`, () => move(found.id, -1), {
        disabled: place === 0,
        field: `up ${found.id}`,
      }),
      button("↓", `Move ${found.name} down`, () => move(found.id, 1), {
        disabled: place === last,
        field: `down ${found.id}`,
      }),
    ),
    element("input", {
      type: "color",
      value: found.colour,
      "aria-label": `Colour of ${found.name}`,
      on: { change: (event) => edit(found, { colour: event.target.value }) },
    }),
    keyField(found, key),
    field(found, "name", "class-title", `Name of ${found.name}`, ""),
    field(found, "description", "class-text", `Description of ${found.name}`, "Description"),
    element("a", { class: "class-labels", href: `/browse?label=${found.id}` }, plural(found.labels ?? 0, "label")),
    element(
      "div",
      { class: "class-tools" },
      element(
        "button",
        { type: "button", class: "quiet small", disabled: last === 0, on: { click: () => merge(found) } },
        "Merge…",
      ),
      element("button", { type: "button", class: "quiet small", on: { click: () => remove(found) } }, "Delete…"),
    ),
  );
  makeDraggable(made, made.querySelector(".class-grip"), root, (ids) => change("reorder", { order: ids }));
  made.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || !step) return;
    event.preventDefault();
    move(found.id, step);
  });
  return made;
}

function button(sign, words, act, { disabled, field: name }) {
  return element(
    "button",
    {
      type: "button",
      class: "quiet small",
      "aria-label": words,
      title: words,
      disabled,
      "data-field": name,
      on: { click: act },
    },
    sign,
  );
}

function field(found, name, style, words, placeholder) {
  const made = element("input", {
    class: style,
    value: found[name] ?? "",
    "aria-label": words,
    placeholder,
    maxlength: name === "name" ? 200 : 2000,
    autocomplete: "off",
    "data-field": `${name} ${found.id}`,
  });
  made.addEventListener("change", () => {
    const value = made.value.trim();
    if (name === "name" && !value) made.value = found.name;
    else if (value !== (found[name] ?? "")) edit(found, { [name]: value });
  });
  made.addEventListener("keydown", (event) => {
    if (event.key === "Enter") made.blur();
    if (event.key === "Escape") {
      made.value = found[name] ?? "";
      made.blur();
    }
  });
  return made;
}

function keyField(found, key) {
  if (typesToFind(page.project.classes)) return element("span", { class: "class-key" });
  const made = element("input", {
    class: "class-key",
    value: found.key ?? "",
    placeholder: key ?? "",
    maxlength: 1,
    "aria-label": `Key of ${found.name}`,
    title: "Its key; empty for the next free one",
    autocomplete: "off",
    "data-field": `key ${found.id}`,
  });
  made.addEventListener("focus", () => made.select());
  made.addEventListener("change", () => {
    const value = made.value.trim().toLowerCase();
    const other = page.project.classes.find((one) => one.key === value && one.id !== found.id);
    if (value in COMMANDS)
      return refuse(made, found, `${value} is the key of “${COMMANDS[value]}”. Choose another one.`);
    if (value && other) return refuse(made, found, `${value} is the key of ${other.name}.`);
    return edit(found, { key: value });
  });
  return made;
}

function refuse(made, found, words) {
  made.value = found.key ?? "";
  note(words, { tone: "bad" });
}

const edit = (found, values) => change("edit", { class: found.id, ...values });

function move(id, step) {
  const ids = page.project.classes.map((found) => found.id);
  const place = ids.indexOf(id);
  const target = place + step;
  if (target < 0 || target >= ids.length) return;
  [ids[place], ids[target]] = [ids[target], ids[place]];
  change("reorder", { order: ids });
}

async function merge(found) {
  const into = await askMerge(found, page.project.classes);
  if (into !== null && (await change("merge", { class: found.id, into }))) done(`${found.name} was merged.`);
}

async function remove(found) {
  const answer = await askDelete(found, page.project.classes);
  if (answer && (await change("delete", { class: found.id, labels_to: answer.to }))) done(`${found.name} was deleted.`);
}

const done = (words) => note(words, { act: ["Undo", undo], seconds: 8 });

async function undo() {
  await earlier;
  const { reply } = await page.queue.add({ op: "undo", person: page.person, of: "classes" }).done;
  note(reply.undone ? (reply.undone.words ?? "Undone.") : "No change of the classes is left to undo.");
  await page.refresh();
  draw();
}

byId("undo").addEventListener("click", undo);
byId("add").addEventListener("submit", async (event) => {
  event.preventDefault();
  const names = byId("new-class")
    .value.split(/[,;\t]/)
    .map((name) => name.trim())
    .filter(Boolean);
  byId("new-class").value = "";
  for (const name of names) await change("add", { name });
  byId("new-class").focus();
});
document.addEventListener("keydown", (event) => {
  const isField = event.target instanceof Element && event.target.closest("input, dialog");
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !isField) {
    event.preventDefault();
    undo();
  }
});
draw();
markReady();
