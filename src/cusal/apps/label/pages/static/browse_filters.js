// The filters of the Browse page; they are kept in the address, so that a view can be shared and survives a reload.

import { byId, element } from "./elements.js";

const PAUSE = 250; // milliseconds after the last letter until the search starts
const fields = () => [...byId("filters").elements].filter(({ name }) => name);

/** Offer the classes and people of the project, and set what the address says. */
export function fillFilters({ classes, progress }) {
  const options = classes.map(({ id, name }) => element("option", { value: id }, name));
  const field = (name) => byId("filters").elements.namedItem(name);
  field("label").replaceChildren(
    option("", "Any"),
    option("none", "Without label"),
    option("any", "With a label"),
    ...options,
  );
  field("prediction").replaceChildren(option("", "Any"), ...options.map((made) => made.cloneNode(true)));
  field("person").replaceChildren(
    option("", "Anybody"),
    ...Object.keys(progress.by_person ?? {}).map((name) => option(name, name)),
  );
  const asked = new URLSearchParams(location.search);
  for (const one of fields()) {
    const value = asked.get(one.name) ?? "";
    if (value) one.value = value;
    if (one instanceof HTMLSelectElement && one.selectedIndex < 0) one.selectedIndex = 0;
  }
}

/** On a phone, hide the choices behind their heading as long as none is made. */
export function foldFilters() {
  const isNarrow = matchMedia("(max-width: 52rem)").matches;
  byId("filter-more").open = !isNarrow || location.search.length > 1;
}

const option = (value, words) => element("option", { value }, words);

/** Return the filter as the server's call wants it. */
export function filterQuery() {
  /** @type {Record<string, any>} */
  const values = Object.fromEntries(new FormData(byId("filters")));
  const { label, sure, kind, ...rest } = values;
  const [low, high] = sure ? sure.split("-") : ["", ""];
  /** @type {Record<string, string>} */
  const query = { ...rest, low, high: high === "1" ? "" : high };
  if (kind === "disagree") query.disagree = "true";
  else if (kind === "aside") query.aside = "true";
  else query.kind = kind;
  if (label === "none" || label === "any") query.labelled = String(label === "any");
  else query.label = label;
  return query;
}

/** Call `act` when the filter changed. */
export function onFilter(act) {
  let timer = null;
  const changed = () => {
    keepInAddress();
    act();
  };
  byId("filters").addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.target instanceof HTMLInputElement && event.target.type === "search") timer = setTimeout(changed, PAUSE);
    else changed();
  });
  byId("filters").addEventListener("submit", (event) => (event.preventDefault(), changed()));
  byId("filters").addEventListener("reset", () => setTimeout(changed));
}

function keepInAddress() {
  const given = fields()
    .map((one) => [one.name, one.value])
    .filter(([name, value]) => value && !(name === "order" && value === "id"));
  const search = new URLSearchParams(given).toString();
  history.replaceState(null, "", search ? `?${search}` : location.pathname);
}
