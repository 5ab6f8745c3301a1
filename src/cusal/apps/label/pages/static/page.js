// What every page has: the project, the person's name, the queue of answers, the saved state, the state of the worker.

import { byId, element, note, openDialog } from "./elements.js";
import { read, send } from "./api.js";
import { AnswerQueue } from "./queue.js";
import { openHelp } from "./help.js";
import { count, plural } from "./words.js";

const NAME = "cusal:person";
const POLL = 2000; // milliseconds
const QUIET = 700; // milliseconds that sending may take before the page speaks of it

/** Open the page: returns {project, person, queue, ...}; asks for a name first where several people work. */
export async function openPage() {
  const place = document.documentElement.dataset.project;
  const queue = new AnswerQueue(place, { send, identify: async () => identityOf(await read("/api/project")) });
  const page = { queue, place, kind: document.documentElement.dataset.kind, person: kept(NAME) ?? "me", project: null };
  byId("person-name").textContent = page.person;
  showSaved(queue);
  byId("help").addEventListener("click", openHelp);
  byId("person").addEventListener("click", async () => (await askName(page.person)) && location.reload());
  document.addEventListener(
    "keydown",
    (event) => event.key === "?" && !isField(event.target) && (event.preventDefault(), openHelp()),
  );
  page.refresh = async () => (page.project = await read("/api/project", { person: page.person }));
  await patiently(page.refresh);
  if (!kept(NAME) && worksWithOthers(page.project)) {
    await askName("");
    page.person = kept(NAME) ?? "me";
    byId("person-name").textContent = page.person;
  }
  return page;
}

/** Note on the page that all of it is there. */
export function markReady() {
  document.documentElement.dataset.ready = "";
}

const identityOf = (project) => String(project.id ?? project.title);

const isField = (target) => target instanceof Element && Boolean(target.closest("input, textarea, select"));

/** Return what this browser keeps under a name, or null. */
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keep a value under a name; a browser that keeps nothing is no error. */
export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    note("This browser keeps no settings.");
  }
}

/** Try until the server answers; say so meanwhile. */
async function patiently(act) {
  let end = null;
  for (let pause = 500; ; pause = Math.min(5000, 2 * pause)) {
    try {
      const result = await act();
      end?.();
      return result;
    } catch (error) {
      if (error.status === undefined) throw error;
      end ??= note(`${error.message} Trying again…`, { tone: "warn", seconds: 0 });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

function worksWithOthers(project) {
  const others = Object.keys(project.progress?.by_person ?? {}).filter((name) => !["me", "import"].includes(name));
  const isLocal = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);
  return !isLocal || (project.settings?.overlap ?? 1) > 1 || others.length > 0;
}

function askName(present) {
  const input = element("input", {
    id: "name",
    value: present === "me" ? "" : present,
    maxlength: 60,
    required: true,
    autocomplete: "nickname",
  });
  const words = "Your labels are stored under this name. It is kept in this browser.";
  const form = element(
    "form",
    { method: "dialog" },
    element("label", { for: "name" }, "Your name"),
    input,
    element("p", { class: "soft" }, words),
    element("div", { class: "actions" }, element("button", { class: "primary" }, "Use this name")),
  );
  const dialog = openDialog("Who is labelling?", form);
  input.focus();
  return new Promise((resolve) => {
    form.addEventListener("submit", () => keep(NAME, input.value.trim() || "me"));
    input.addEventListener("input", () =>
      input.setCustomValidity(input.value.trim() === "import" ? "Choose another name." : ""),
    );
    dialog.addEventListener("close", () => resolve(kept(NAME) !== present));
  });
}

function showSaved(queue) {
  const mark = byId("saved");
  const words = byId("saved-words");
  let timer = null;
  const say = (state, text, reason = "") => {
    mark.dataset.state = state;
    mark.title = reason;
    if (words.textContent !== text) words.textContent = text;
  };
  queue.watch(({ name, waiting, reason }) => {
    if (name === "sending") {
      timer ??= setTimeout(() => say(name, "Saving…"), QUIET);
      return;
    }
    clearTimeout(timer);
    timer = null;
    if (name === "saved") say(name, "Saved");
    else if (name === "locked")
      say(name, `No access. ${waits(waiting)}`, "Open the link that the command printed again.");
    else if (name === "foreign") say(name, `Another project is open here. ${waits(waiting)}`, reason);
    else say(name, waits(waiting), reason);
  });
  queue.follow(
    ({ stored, reason }) => stored || note(`An answer was not stored: ${reason}`, { tone: "bad", seconds: 0 }),
  );
}

const waits = (waiting) => `${plural(waiting, "answer")} ${waiting === 1 ? "waits" : "wait"} to be sent`;

/** Call `look(status)` every two seconds while the page is seen. */
export function watchStatus(look) {
  const ask = async () => {
    if (document.hidden) return;
    try {
      look(await read("/api/status"));
    } catch (error) {
      if (error.status === undefined) throw error; // the saved state says that the server is away
    }
  };
  setInterval(ask, POLL);
  document.addEventListener("visibilitychange", ask);
}

/** Return what the worker is doing, in words, or "". */
export function statusWords(status) {
  const { worker, features, items } = status ?? {};
  if (worker?.state === "restarting") return "The model stopped. It starts again by itself.";
  if (worker?.state === "trouble") return worker.message || "The model cannot learn.";
  if (items && !items.finished) return `Reading items: ${progressOf(items)}`;
  if (features?.total && features.done < features.total) return `Preparing the model: ${progressOf(features)} items`;
  return worker?.message ?? "";
}

const progressOf = ({ done, total }) => (total ? `${count(done)} of ${count(total)}` : `${count(done)} so far`);
