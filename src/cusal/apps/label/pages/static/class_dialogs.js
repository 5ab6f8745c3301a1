// What becomes of the labels of a class that is merged or deleted.

import { element, openDialog } from "./elements.js";
import { plural } from "./words.js";

/** Return the id of the class that takes all labels, or null. */
export function askMerge(found, classes) {
  const select = classSelect(
    classes.filter(({ id }) => id !== found.id),
    "into",
  );
  const labels = plural(found.labels ?? 0, "label");
  const words = `${labels} of ${found.name} will belong to the class you choose. ${found.name} leaves the list.`;
  return ask(
    `Merge ${found.name}`,
    [element("label", { for: "into" }, "Merge into"), select, element("p", { class: "soft" }, words)],
    "Merge",
    () => Number(select.value),
  );
}

/** Return {to: class id or null} for what becomes of the labels, or null if the class stays. */
export async function askDelete(found, classes) {
  const others = classes.filter(({ id }) => id !== found.id);
  const many = found.labels ?? 0;
  if (!many)
    return ask(
      `Delete ${found.name}?`,
      [element("p", {}, "It has no labels.")],
      "Delete",
      () => ({ to: null }),
      "danger",
    );
  const select = classSelect(others, "to");
  const open = element("input", { type: "radio", name: "fate", value: "open", checked: true });
  const move = element("input", { type: "radio", name: "fate", value: "move", disabled: !others.length });
  select.addEventListener("focus", () => (move.checked = true));
  const choices = element(
    "div",
    { class: "choices", role: "radiogroup", "aria-label": "What becomes of its labels" },
    element("label", {}, open, "Its items are open again and will be asked"),
    element("label", {}, move, element("span", {}, "Its labels become"), select),
  );
  select.setAttribute("aria-label", "Class that takes the labels");
  const words = `${plural(many, "item")} ${many === 1 ? "has" : "have"} this label.`;
  return ask(
    `Delete ${found.name}?`,
    [element("p", {}, words), choices],
    "Delete",
    () => ({ to: move.checked ? Number(select.value) : null }),
    "danger",
  );
}

function classSelect(classes, id) {
  return element(
    "select",
    { id },
    classes.map((found) => element("option", { value: found.id }, found.name)),
  );
}

function ask(title, parts, act, value, style = "primary") {
  return new Promise((resolve) => {
    const cancel = element("button", { type: "button" }, "Cancel");
    const form = element(
      "form",
      { method: "dialog" },
      parts,
      element("div", { class: "actions" }, cancel, element("button", { class: style }, act)),
    );
    const dialog = openDialog(title, form);
    cancel.addEventListener("click", () => dialog.close());
    form.addEventListener("submit", () => resolve(value()));
    dialog.addEventListener("close", () => resolve(null));
  });
}
