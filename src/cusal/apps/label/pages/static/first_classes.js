// The first run: no classes yet. Names are typed right beside the item, Enter after each.

import { byId, element, keyCap, note } from "./elements.js";
import { newId, send } from "./api.js";
import { classKeys } from "./keys.js";

/** Add a class; says so where that fails. Returns the classes, or null. */
export async function addClass(page, name) {
  try {
    return (await send("/api/classes", { id: newId(), person: page.person, action: "add", name })).classes;
  } catch (error) {
    if (error.status === undefined) throw error;
    note(error.message, { tone: "bad" });
    return null;
  }
}

/** Ask for the first classes in `root`; `done` is called when the person wants to start. */
export function askFirstClasses(root, page, done) {
  if (root.querySelector("form")) return;
  const field = element("input", {
    id: "first-class",
    autocomplete: "off",
    maxlength: 200,
    placeholder: "for example: cat",
    enterkeyhint: "enter",
  });
  const names = element("ul", { class: "first-names", "aria-live": "polite" });
  const start = element(
    "button",
    { type: "button", class: "primary", disabled: true, on: { click: done } },
    "Start labelling",
  );
  const form = element(
    "form",
    { class: "first" },
    element("h2", {}, "What are the classes?"),
    element(
      "p",
      { class: "soft" },
      "Type a name, press Enter. Press Enter once more to start. Classes can be changed at any time.",
    ),
    element("label", { for: "first-class", class: "unseen" }, "Name of a class"),
    field,
    names,
    start,
  );
  let classes = [];
  let added = Promise.resolve(); // names are stored in the order in which they were typed
  const add = (given) => {
    added = added.then(() => store(given));
  };
  const store = async (given) => {
    for (const name of given) classes = (await addClass(page, name)) ?? classes;
    const keys = classKeys(classes);
    names.replaceChildren(
      ...classes.map(({ id, name, colour }) => element("li", { colour }, keyCap(keys.get(id) ?? ""), " ", name)),
    );
    start.disabled = classes.length < 2;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = field.value
      .split(/[,;\n\t]/)
      .map((name) => name.trim())
      .filter(Boolean);
    field.value = "";
    if (given.length) add(given);
    else added.then(() => start.disabled || done());
  });
  field.addEventListener("paste", (event) => {
    const lines = event.clipboardData
      .getData("text")
      .split(/\r?\n/)
      .map((name) => name.trim())
      .filter(Boolean);
    if (lines.length < 2) return;
    event.preventDefault(); // a pasted column of names
    add(lines);
  });
  root.replaceChildren(form);
  if (matchMedia("(hover: hover)").matches) byId("first-class").focus();
}
