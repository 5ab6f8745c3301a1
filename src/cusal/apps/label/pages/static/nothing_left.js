// What stands in the place of the item when there is none: loading, waiting for the model, all done, no server.

import { element } from "./elements.js";
import { statusWords } from "./page.js";
import { NOUN } from "./task.js";
import { plural } from "./words.js";

/** Say in the item's place why there is none. */
export function drawNothing(view, { progress, status, error, dry }) {
  const [title, ...rest] = words(progress, status, error, dry);
  if (view.root.dataset.nothing === title && !view.item) return;
  view.root.dataset.nothing = title;
  view.say(element("h2", {}, title), ...rest);
}

function words(progress, status, error, dry) {
  if (error && error.status === 0)
    return [
      "The server does not answer",
      element("p", {}, "Your answers are kept in this browser. The page continues by itself."),
    ];
  if (error) return ["This did not work", element("p", {}, error.message)];
  if (!dry) return ["Loading…"];
  const { items, labelled, skipped = 0, unsure = 0 } = progress;
  if (items > 0 && labelled + skipped + unsure >= items) return allDone(progress);
  if (items === 0) return ["No items yet", element("p", {}, statusWords(status) || "The data are being read.")];
  return ["One moment", element("p", {}, statusWords(status) || "The next items are being chosen.")];
}

function allDone({ labelled, skipped = 0, unsure = 0 }) {
  const left = skipped + unsure;
  return [
    "Every item is answered",
    element("p", {}, `${plural(labelled, NOUN)}${left ? `, ${left} skipped or not sure` : ""}.`),
    element(
      "p",
      { class: "item-links" },
      element("a", { class: "button primary", href: "/export" }, "Export"),
      left ? element("a", { class: "button", href: "/browse?kind=unsure" }, "Look at those not sure") : null,
      element("a", { class: "button", href: "/progress" }, "How good is it?"),
    ),
  ];
}
