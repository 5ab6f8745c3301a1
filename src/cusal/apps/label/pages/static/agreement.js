// How far people agree with each other.

import { byId, element, show } from "./elements.js";
import { percent, plural } from "./words.js";

/** Show the agreement, if several people labelled the same items. */
export function drawAgreement(agreement) {
  const pairs = agreement?.pairs ?? [];
  show(byId("people"), pairs.length > 0);
  if (!pairs.length) return;
  const alpha = agreement.alpha;
  const words = typeof alpha === "number" ? `Krippendorff’s alpha is ${alpha.toFixed(2)}: ${strength(alpha)}.` : "";
  byId("agreement").replaceChildren(
    element("p", { class: "lead" }, words),
    element("div", { class: "people-tables" }, pairTable(pairs), personTable(agreement.people ?? {})),
    disagreements(agreement.disagreements ?? 0),
  );
}

function strength(alpha) {
  if (alpha >= 0.8) return "people agree well";
  return alpha >= 0.667
    ? "people agree fairly; look at the disagreements"
    : "people understand the classes differently";
}

function pairTable(pairs) {
  const rows = pairs.map(({ people, kappa, items }) =>
    element(
      "tr",
      {},
      element("td", {}, people.join(" and ")),
      element("td", {}, kappa === null ? "–" : kappa.toFixed(2)),
      element("td", {}, String(items)),
    ),
  );
  return table(["Pair", "Cohen’s kappa", "Items"], rows);
}

function personTable(people) {
  const rows = Object.entries(people).map(([person, { agreement, items }]) =>
    element(
      "tr",
      {},
      element("td", {}, person),
      element("td", {}, agreement === null ? "–" : percent(agreement)),
      element("td", {}, String(items)),
    ),
  );
  return rows.length ? table(["Person", "As the others say", "Items"], rows) : null;
}

function table(heads, rows) {
  return element(
    "table",
    { class: "pairs" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        heads.map((words) => element("th", { scope: "col" }, words)),
      ),
    ),
    element("tbody", {}, rows),
  );
}

function disagreements(many) {
  if (!many) return element("p", { class: "soft" }, "There is no disagreement.");
  return element("a", { class: "button", href: "/browse?kind=disagree" }, `Look at ${plural(many, "disagreement")}`);
}
