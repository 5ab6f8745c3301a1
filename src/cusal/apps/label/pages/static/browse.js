// The Browse page: every item, filtered; select many and label them at once.

import { byId, element, note, show } from "./elements.js";
import { read } from "./api.js";
import { markReady, openPage } from "./page.js";
import { classKeys, isModified, isTyping, keyOf, typesToFind } from "./keys.js";
import { chooseClass } from "./choose_class.js";
import { fillFilters, filterQuery, foldFilters, onFilter } from "./browse_filters.js";
import { itemRow, redress } from "./browse_rows.js";
import { Selection } from "./selection.js";
import { showLarge } from "./large_item.js";
import { plural } from "./words.js";

const page = await openPage();
const root = byId("rows");
const selection = new Selection(root, drawSelection);
const rows = new Map(); // id -> what the server said
let next = 0; // where the following rows begin; null when there are no more
let asked = 0; // counts the searches, so that a late answer of an earlier one is dropped
let loading = false;

// Rows

async function start() {
  asked += 1;
  next = 0;
  rows.clear();
  loading = false;
  root.replaceChildren();
  root.className = `rows ${page.kind === "image" ? "pictures" : "texts"}`;
  selection.clear();
  await load();
}

async function load() {
  if (loading || next === null) return;
  loading = true;
  const search = asked;
  try {
    const count = page.kind === "image" ? 60 : 40;
    const found = await read("/api/browse", { ...filterQuery(), after: next, count });
    if (search !== asked) return;
    for (const row of found.rows) rows.set(row.id, row);
    root.append(...found.rows.map((row) => itemRow(row, page)));
    next = found.next;
    selection.refresh();
    byId("found").textContent = plural(found.total, "item");
    drawNothing("");
  } catch (error) {
    if (error.status === undefined) throw error;
    if (search === asked) drawNothing(error.message);
  } finally {
    if (search === asked) loading = false;
  }
  show(byId("more-button"), next !== null && root.children.length > 0);
  if (next !== null && nearEnd()) load();
}

function nearEnd() {
  return byId("more").getBoundingClientRect().top < innerHeight + 600 && root.children.length > 0;
}

function drawNothing(error) {
  show(byId("nothing"), Boolean(error) || root.children.length === 0);
  const words = error ? ["This did not work", error] : ["No item fits", "Change or clear the filter."];
  byId("nothing").replaceChildren(element("h2", {}, words[0]), element("p", {}, words[1]));
}

// Labels

function label(ids, id) {
  if (!ids.length) return;
  const entry = page.queue.add({ op: "labels", person: page.person, items: ids, class: id });
  for (const item of ids) change(item, { label: id, kind: id === null ? null : "label" });
  const name = page.project.classes.find((found) => found.id === id)?.name;
  const words = name
    ? `${plural(ids.length, "item")} labelled ${name}.`
    : `${plural(ids.length, "item")} without label now.`;
  note(words, { act: ["Undo", undo] });
  entry.done.then(({ stored }) => stored || refetch(ids));
}

function change(item, values) {
  const row = rows.get(item);
  if (!row) return;
  Object.assign(row, values);
  redress(selection.rowOf(item), row, page);
}

async function undo() {
  const { reply } = await page.queue.add({ op: "undo", person: page.person }).done;
  if (!reply.undone) note("There is nothing to undo.");
  else {
    note(`Undone: ${plural(reply.undone.items.length, "item")}.`);
    await refetch(reply.undone.items.map(({ id }) => id));
  }
}

async function refetch(ids) {
  for (const id of ids.filter((item) => rows.has(item)).slice(0, 60)) {
    const found = await read(`/api/items/${id}`, { person: page.person });
    change(id, { label: found.label, kind: found.answers?.at(-1)?.kind ?? null });
  }
}

async function chooseFor(ids, typed = "") {
  if (!ids.length) return;
  const id = await chooseClass(page, `Label ${plural(ids.length, "item")} as`, typed);
  if (id !== null) label(ids, id);
}

async function open(id) {
  await showLarge(page, id, { label: (wanted) => label([id], wanted), move: (step) => selection.step(step) });
}

// Selection and keys

function drawSelection() {
  const many = selection.ids.length;
  show(byId("selection"), many > 0);
  byId("selected").textContent = `${many} selected`;
}

/** The items that a key acts on: the selected ones, or the one under the cursor. */
const chosen = () => (selection.ids.length ? selection.ids : selection.here === null ? [] : [selection.here]);

function press(event) {
  if (event.defaultPrevented || event.isComposing || isTyping(event)) return;
  const key = keyOf(event);
  if ((event.ctrlKey || event.metaKey) && key === "a") return take(event, () => selection.all());
  if ((event.ctrlKey || event.metaKey) && key === "z") return take(event, undo);
  if (isModified(event)) return undefined;
  if (event.target.closest?.("button, a") && (key === "Enter" || key === " ")) return undefined;
  if (selection.press(event)) return event.preventDefault();
  if (key === "Enter" && selection.here !== null) return take(event, () => open(selection.here));
  if (key === "Delete" || key === "Backspace") return take(event, () => label(chosen(), null));
  return pressLetter(event, key);
}

function pressLetter(event, key) {
  const { classes } = page.project;
  if (typesToFind(classes)) {
    if (key === "z" && event.shiftKey) return take(event, undo);
    if (/^\p{L}$/u.test(event.key) && chosen().length) return take(event, () => chooseFor(chosen(), event.key));
    return undefined;
  }
  for (const [id, own] of classKeys(classes))
    if (own === key) return take(event, () => event.repeat || label(chosen(), id));
  if (key === "z") return take(event, undo);
  if (key === "l") return take(event, () => chooseFor(chosen()));
  return undefined;
}

function take(event, act) {
  event.preventDefault();
  act();
}

document.addEventListener("keydown", press);
root.addEventListener("dblclick", (event) => {
  const row = /** @type {any} */ (event.target).closest(".row");
  if (row) open(Number(row.dataset.id));
});
byId("label-them").addEventListener("click", () => chooseFor(selection.ids));
byId("unlabel").addEventListener("click", () => label(selection.ids, null));
byId("undo").addEventListener("click", undo);
byId("select-none").addEventListener("click", () => selection.clear());
byId("more-button").addEventListener("click", load);
new IntersectionObserver((seen) => seen[0].isIntersecting && root.children.length && load(), {
  rootMargin: "600px",
}).observe(byId("more"));

fillFilters(page.project);
foldFilters();
onFilter(start);
await start();
markReady();
