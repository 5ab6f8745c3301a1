// The Label page: one item, its classes, keys; everything else stays out of the way.

import { byId, element, note, show } from "./elements.js";
import { read } from "./api.js";
import { keep, kept, markReady, openPage, watchStatus } from "./page.js";
import { COMMANDS, isModified, isTyping, keyOf } from "./keys.js";
import { Ahead } from "./ahead.js";
import { ClassList } from "./class_list.js";
import { HeldItems } from "./held.js";
import { columns, ItemView } from "./item_view.js";
import { askBudget } from "./budget.js";
import { addClass, askFirstClasses } from "./first_classes.js";
import { Advice } from "./advice.js";
import { ManyAtOnce } from "./many.js";
import { drawLine, drawState, Pace } from "./progress_line.js";
import { drawNothing } from "./nothing_left.js";
import { Strip } from "./strip.js";
import { Timeline } from "./timeline.js";
import { counts, doneOf, isAudit } from "./task.js";
import { predictionWords, verdictWords } from "./verdicts.js";
import { answerWords, plural, when } from "./words.js";

const LOOKED_BACK = 4; // items answered earlier that the strip shows

const page = await openPage();
const pace = new Pace();
const view = new ItemView(byId("item"));
const list = new ClassList(byId("classes"), {
  choose: (id) => answer("label", id),
  slots: `cusal:slots:${page.place}`,
  prefix: "class",
  add: (name) => makeClass(name),
});
const ahead = new Ahead(
  {
    batch: page.project.settings?.batch ?? 10,
    light: page.kind !== "image" && !isAudit, // an audit counts nothing behind what somebody holds
    open: () => Math.max(0, progress.items - progress.labelled),
    person: () => page.person,
    guess: () => guessShown,
    held: new HeldItems(page.place),
    waiting: () => page.queue.entries.filter(({ op }) => op === "answer").map(({ item }) => item),
    past: () => timeline.past.map(({ item }) => item.id),
    pace: () => pace.rate,
  },
  (status) => {
    if (status) hear(status);
    draw();
  },
);
const timeline = new Timeline(ahead);
const strip = new Strip(byId("strip"), {
  look: (id) => (timeline.goTo(id), draw()),
  bring: (id) => (timeline.goToNow(), ahead.bringForward(id), draw()),
  find: (id) => classOf(id),
  words: (entry) => said(entry.kind, entry.class, entry.item),
});
const advice = new Advice(page, () => draw());
const many = new ManyAtOnce(page, { close: leaveMany, stored: (entry, ids) => noteMany(entry, ids), undo });

let progress = page.project.progress;
let status = page.project.status ?? {};
let guessShown = isAudit || kept("cusal:guess") === "1";
let infoShown = kept("cusal:info") === "1";
let shownAt = performance.now();
let round = status.round ?? 0;
let queued = status.queue ?? 0; // how often the queue was filled anew
let figures = -1; // of an audit: the last event that they know of
const unsent = new Map(); // entry id -> what it adds to the labels, until the server counts it

/** Return the class with this id, also the one that says no more than "wrong". */
function classOf(id) {
  return page.project.classes.find((found) => found.id === id) ?? null;
}

/** Return an answer in words. */
function said(kind, label, item) {
  if (!isAudit || kind !== "label") return answerWords(kind, classOf(label)?.name);
  return verdictWords(label, item?.guess, page.project.wrong, classOf(label)?.name);
}

// What a person does

function answer(kind, label = null) {
  const item = timeline.item;
  if (!item || item !== view.item || !view.ready) return false; // nobody has seen it
  const before = timeline.entry?.kind ?? null;
  const seconds = Math.round((performance.now() - shownAt) / 10) / 100;
  const entry = page.queue.add({ op: "answer", person: page.person, item: item.id, kind, class: label, seconds });
  unsent.set(entry.id, Number(counts(kind)) - Number(counts(before)));
  if (before === "label") list.count(timeline.entry.class, -1);
  if (kind === "label") list.count(label, 1);
  timeline.answer(kind, label, Date.now() / 1000);
  entry.done.then(({ stored }) => stored || timeline.reopen(item)).then(draw);
  pace.answered();
  list.clear();
  draw();
  speak(said(kind, label, item));
  return true;
}

/** Say that the prediction on the screen is right. */
function confirm() {
  const guess = timeline.item?.guess;
  return guess ? answer("label", guess.class) : false;
}

function undo() {
  const last = timeline.steps.at(-1) ?? null;
  const entry = page.queue.add({ op: "undo", person: page.person });
  if (last && !last.many) {
    const was = timeline.past.find(({ item }) => item.id === last.id);
    unsent.set(entry.id, Number(counts(last.before?.kind)) - Number(counts(was?.kind)));
    list.count(was?.class, -1);
    list.count(last.before?.class, 1);
  }
  timeline.undo();
  speak("Undone");
  draw();
  entry.done.then(({ reply }) => settleUndo(reply.undone ?? null, last));
}

/** Show what the server took back, where this page did not know it already. */
async function settleUndo(undone, expected) {
  if (!undone) return expected ? draw() : note("There is nothing to undo.");
  const { kind, items } = undone;
  if (kind === "answer" && items[0]?.id === expected?.id) return undefined;
  if (kind === "answer" && items.length) timeline.reopen({ ...items[0], guess: undefined });
  else note(`Taken back: ${plural(items.length, "label")}.`);
  await refresh();
  if (many.isOpen) many.open();
  return draw();
}

function noteMany(entry, ids) {
  timeline.steps.push({ many: ids });
  ahead.drop(ids);
  unsent.set(entry.id, ids.length);
  entry.done.then(draw);
  draw();
}

async function makeClass(name) {
  await addClass(page, name);
  await refresh();
  list.clear();
}

async function refresh() {
  await page.refresh();
  progress = page.project.progress;
  drawClasses();
}

// What is on the screen

function draw() {
  const item = timeline.item;
  if (!item) drawNothing(view, { progress, status, error: ahead.error, dry: ahead.dry });
  else if (item.key === undefined) fetchPast(item);
  else if (view.item !== item) {
    view.show(item, ahead.picture(item));
    shownAt = performance.now();
  }
  drawAround(item);
  strip.draw(timeline);
  drawProgress();
  document.body.dataset.ahead = String(ahead.items.length);
}

function drawAround(item) {
  const guess = guessShown ? (item?.guess ?? null) : null;
  const found = guess && list.find(guess.class);
  byId("reason").replaceChildren(...(isAudit ? predictionWords(guess, found?.name) : [item?.reason ?? ""]));
  byId("key").replaceChildren(element("bdi", {}, item?.key ?? ""));
  byId("key").title = item?.key ?? "";
  show(byId("guess"), Boolean(found) && !isAudit);
  if (found && !isAudit)
    byId("guess").replaceChildren(
      "The model thinks ",
      element("b", {}, found.name),
      `, ${Math.round(100 * guess.confidence)} % sure`,
    );
  list.mark({ label: timeline.entry?.kind === "label" ? timeline.entry.class : null, guess: guess?.class ?? null });
  show(byId("info"), infoShown && Boolean(item));
  if (infoShown && item) byId("info").replaceChildren(columns(item.extra ?? {}));
  byId("info-toggle").setAttribute("aria-pressed", String(infoShown));
  byId("guess-toggle").setAttribute("aria-pressed", String(guessShown));
  drawBefore(timeline.entry);
  if (guessShown && item?.key !== undefined && item.guess === undefined) fetchGuess(item);
}

function drawBefore(entry) {
  show(byId("before"), Boolean(entry));
  if (!entry) return;
  const name = said(entry.kind, entry.class, entry.item);
  byId("before").replaceChildren(
    element(
      "span",
      {},
      "You said ",
      element("b", {}, name),
      entry.at ? ` ${when(entry.at)}` : "",
      ". Press a key to change it.",
    ),
    element(
      "button",
      { type: "button", class: "small", on: { click: () => (timeline.goToNow(), draw()) } },
      "Back to now",
    ),
  );
}

function drawProgress() {
  const extra = [...unsent.values()].reduce((sum, value) => sum + value, 0);
  drawLine(progress, extra, pace);
  advice.draw(progress, doneOf(progress) + extra);
}

function drawClasses() {
  if (page.project.classes.length) list.set(page.project.classes.filter(({ id }) => id !== page.project.wrong));
  else askFirstClasses(byId("classes"), page, async () => (await refresh(), draw()));
  byId("label").dataset.finds = String(Boolean(list.finds));
  byId("label").dataset.first = String(!page.project.classes.length);
}

async function fetchPast(item) {
  view.say(element("p", {}, "Fetching…"));
  try {
    await complete(item);
    if (timeline.item === item) draw();
  } catch (error) {
    if (error.status === undefined) throw error;
    view.say(element("p", {}, error.message));
  }
}

/** Fetch what is not known of an item that was answered before this page was opened. */
async function complete(item) {
  if (item.key !== undefined) return;
  const found = await read(`/api/items/${item.id}`, { person: page.person });
  Object.assign(item, found, { guess: found.prediction ?? null });
}

async function fetchGuess(item) {
  item.guess = null;
  try {
    item.guess = (await read(`/api/items/${item.id}`, { person: page.person })).prediction ?? null;
    if (timeline.item === item) drawAround(item);
  } catch (error) {
    if (error.status === undefined) throw error; // offline: the guess is a service, not a need
  }
}

function speak(done) {
  const item = timeline.item;
  const next = item
    ? ` Next: ${item.text?.slice(0, 300) ?? item.key}. ${byId("reason").textContent}`
    : " No item is left for now.";
  byId("spoken").textContent = `${done}.${next}`;
}

// What the server says

function hear(found) {
  status = found;
  drawState(status);
  show(byId("many-open"), !isAudit && (status.round ?? 0) > 0 && page.project.classes.length > 0);
  if (isAudit && status.event !== figures && advice.ask()) figures = status.event;
  if (!isAudit && (status.queue ?? 0) !== queued) ahead.refill({ fresh: true });
  queued = status.queue ?? 0;
  if ((status.round ?? 0) === round) return;
  round = status.round;
  advice.ask();
}

page.queue.follow(({ id, reply }) => {
  unsent.delete(id);
  if (reply.progress) progress = reply.progress;
  if (reply.status) hear(reply.status);
  drawProgress();
});

// Keys and buttons

const commands = {
  right: confirm,
  wrong: () => answer("label", page.project.wrong),
  skip: () => answer("skip"),
  unsure: () => answer("unsure"),
  undo,
  guess: () => ((guessShown = !guessShown), keep("cusal:guess", guessShown ? "1" : "0"), draw()),
  info: () => ((infoShown = !infoShown), keep("cusal:info", infoShown ? "1" : "0"), draw()),
  many: openMany,
};

function openMany() {
  if (byId("many-open").hidden) return;
  show(byId("label"), false);
  many.open();
}

function leaveMany() {
  show(byId("label"), true);
  ahead.refill({ fresh: true });
  draw();
}

function press(event) {
  if (event.defaultPrevented || event.isComposing) return;
  const finding = event.target === list.field;
  const elsewhere = isTyping(event) && !finding;
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !elsewhere && !(finding && list.query)) act(event, undo);
  else if (isModified(event) || elsewhere) return;
  else if (many.isOpen) many.press(event);
  else if (page.project.classes.length && list.press(event)) event.preventDefault();
  else if (!(finding && list.query)) pressCommand(event);
}

function pressCommand(event) {
  const key = keyOf(event);
  if (key === "ArrowLeft") return act(event, () => timeline.back(), draw);
  if (key === "ArrowRight") return act(event, () => timeline.forward(), draw);
  const letter = /^\p{L}$/u.test(event.key);
  if (list.finds && letter && !event.shiftKey) return undefined; // it is typed
  const onButton = event.target instanceof HTMLButtonElement && (key === " " || key === "Enter");
  if (isAudit && key === "Enter" && !onButton) return act(event, () => event.repeat || confirm());
  if (COMMANDS[key]) return act(event, () => event.repeat || commands[COMMANDS[key]]());
  if (onButton) return undefined;
  return view.press(key) && event.preventDefault();
}

function act(event, ...steps) {
  event.preventDefault();
  for (const step of steps) step();
}

document.addEventListener("keydown", press);
document.addEventListener("visibilitychange", () => document.hidden || (shownAt = performance.now()));
for (const name of isAudit ? ["right", "wrong", "unsure", "undo"] : ["skip", "unsure", "undo"])
  byId(name).addEventListener("click", (event) => (commands[name](), event.detail && byId(name).blur()));
byId("guess-toggle").addEventListener("click", commands.guess);
byId("info-toggle").addEventListener("click", commands.info);
byId("many-open").addEventListener("click", openMany);
byId("line-done").addEventListener("click", async () => (await askBudget(page, progress)) && (await refresh(), draw()));

// Begin

drawClasses();
hear(status);
draw();
ahead.refill();
watchStatus(hear);
advice.ask();
const earlier = await read("/api/history", { person: page.person, count: 100 }).catch(() => ({ answers: [] }));
const sent = new Set(earlier.answers.map(({ item }) => item));
const onTheWay = page.queue.entries.filter(({ op, item }) => op === "answer" && !sent.has(item));
timeline.open([...onTheWay.reverse(), ...earlier.answers]);
draw();
markReady();
await Promise.allSettled(timeline.past.slice(-LOOKED_BACK).map(({ item }) => complete(item)));
draw();
