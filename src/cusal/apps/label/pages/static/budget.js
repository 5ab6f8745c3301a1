// How many labels are planned.

import { element, note, openDialog } from "./elements.js";
import { send } from "./api.js";
import { NOUN } from "./task.js";

/** Ask for the planned number of labels; returns whether it was changed. */
export function askBudget(page, progress) {
  const field = element("input", {
    id: "budget",
    type: "number",
    min: 1,
    max: progress.items,
    value: progress.budget ?? "",
    inputmode: "numeric",
  });
  const form = element(
    "form",
    { method: "dialog" },
    element("label", { for: "budget" }, `${NOUN[0].toUpperCase()}${NOUN.slice(1)}s in all`),
    field,
    element("p", { class: "soft" }, "Time left is counted up to this number. Leave it empty to plan none."),
    element("div", { class: "actions" }, element("button", { class: "primary" }, "Save")),
  );
  const dialog = openDialog(`How many ${NOUN}s do you plan?`, form);
  field.select();
  return new Promise((resolve) => {
    form.addEventListener("submit", async () =>
      resolve(await setBudget(page, field.value ? Number(field.value) : null)),
    );
    dialog.addEventListener("close", () => setTimeout(() => resolve(false), 10_000));
  });
}

/** Store the planned number of labels; returns whether that worked. */
export async function setBudget(page, budget) {
  try {
    await send("/api/settings", { person: page.person, budget });
    return true;
  } catch (error) {
    if (error.status === undefined) throw error;
    note(error.message, { tone: "bad" });
    return false;
  }
}
