// Never lose a key press: what a person does is kept in the browser first, then sent in order until the server has it.
//
//   const queue = new AnswerQueue(project, { send, identify });
//   const entry = queue.add({ op: "answer", person, item, kind, class, seconds });   // kept when this returns
//   await entry.done                                 // {entry, stored, reason, reply} once the server has it
//   queue.watch(({ name, waiting, reason }) => ...)  // saved, sending, retrying, locked, foreign
//   queue.follow((result) => ...)                    // every result of every tab, as entry.done gives it
//
// Operations: "answer", "undo", "labels" (many items, one class). Each has an id and is stored once however often it
// arrives. One tab sends for all (alone.js); tabs talk through a BroadcastChannel.

import { newId } from "./api.js";
import { workAlone } from "./alone.js";
import { KeptEntries } from "./kept_entries.js";

const MOST = 200; // answers in one request
const FIRST_PAUSE = 500; // milliseconds between attempts: doubled up to the longest
const LONGEST_PAUSE = 5000;
const LOCKED = [401, 403];
const LATER = [408, 413, 425, 429];

export class AnswerQueue {
  #kept;
  #send;
  #identify;
  #channel;
  #waiters = new Map(); // id -> function that settles entry.done
  #watchers = [];
  #followers = [];
  #state = { name: "saved", reason: "" };
  /** @type {(value?: unknown) => void} */
  #wake = () => {};
  #failures = 0;
  #oneByOne = 0; // how many of the next entries travel alone, because one of them was refused as malformed

  constructor(project, { send, identify }) {
    this.project = project;
    this.#kept = new KeptEntries(project);
    this.#send = send;
    this.#identify = identify;
    this.#channel = new BroadcastChannel(`cusal:${project}`);
    this.#channel.addEventListener("message", ({ data }) => this.#hear(data));
    // A message of another tab may overtake what that tab wrote; this event does not.
    addEventListener("storage", ({ key }) => key?.startsWith(this.#kept.prefix) && this.#hear({ added: key }));
    addEventListener("online", () => this.#wake());
    addEventListener("beforeunload", (event) => this.#kept.unkept.size && event.preventDefault());
    workAlone(`cusal:send:${project}`, (isMine) => this.#sendForever(isMine));
  }

  /** Keep an entry and send it soon. Returns its id and a promise of what became of it. */
  add(entry) {
    const id = newId();
    this.#kept.add({ id, ...entry });
    const done = new Promise((resolve) => this.#waiters.set(id, resolve));
    this.#channel.postMessage({ added: id });
    this.#wake();
    this.#announce();
    return { id, done };
  }

  /** The entries of all tabs that wait, oldest first. */
  get entries() {
    return this.#kept.all().map(([, entry]) => entry);
  }

  /** Call `look` with the present state now and at each change. */
  watch(look) {
    this.#watchers.push(look);
    look(this.#present());
  }

  /** Call `look` with each result. */
  follow(look) {
    this.#followers.push(look);
  }

  #present() {
    const { name, reason } = this.#state;
    const waiting = this.#kept.count;
    if (waiting) return { name: name === "saved" ? "sending" : name, reason, waiting };
    return { name: "saved", reason: "", waiting };
  }

  #announce() {
    const present = this.#present();
    for (const look of this.#watchers) look(present);
  }

  #enter(name, reason = "") {
    this.#state = { name, reason };
    this.#channel.postMessage({ state: this.#state });
    this.#announce();
  }

  /** @param {{added?: string, result?: any, state?: any}} said */
  #hear({ added, result, state }) {
    if (added) this.#wake();
    if (result) this.#settle(result);
    if (state) this.#state = state;
    this.#announce();
  }

  #settle(result) {
    this.#waiters.get(result.id)?.(result);
    this.#waiters.delete(result.id);
    for (const look of this.#followers) look(result);
  }

  async #sendForever(isMine) {
    while (isMine()) {
      const waiting = this.#kept.all();
      if (waiting.length) await this.#sendFirst(waiting);
      else await new Promise((resolve) => (this.#wake = resolve));
    }
  }

  /** Send the answers at the head, or the other entry that is there; wait a little if that failed. */
  async #sendFirst(waiting) {
    const run = firstRun(waiting, this.#oneByOne > 0 ? 1 : MOST);
    this.#oneByOne = Math.max(0, this.#oneByOne - 1);
    try {
      if (this.#failures && !(await this.#sameProject())) return await this.#pause();
      const reply = await this.#send(...request(run.map(([, entry]) => entry)));
      this.#finish(run, reply);
    } catch (error) {
      await this.#recover(error, run);
    }
    return undefined;
  }

  #finish(run, reply) {
    const outcomes = new Map((reply.outcomes ?? []).map((outcome) => [outcome.id, outcome]));
    this.#failures = 0;
    for (const [name, entry] of run) {
      const outcome = entry.op === "answer" ? outcomes.get(entry.id) : { stored: true };
      if (outcome) this.#close(name, entry, outcome, reply);
    }
    this.#enter("saved");
  }

  #close(name, entry, outcome, reply) {
    const result = { id: entry.id, entry, stored: outcome.stored, reason: outcome.reason ?? null, reply };
    this.#kept.remove(name);
    this.#channel.postMessage({ result });
    this.#settle(result);
  }

  async #recover(error, run) {
    const { status } = error;
    if (status === undefined) throw error;
    if (status >= 400 && status < 500 && !LOCKED.includes(status) && !LATER.includes(status)) {
      if (run.length > 1) this.#oneByOne = run.length;
      else this.#close(...run[0], { stored: false, reason: error.message }, {});
      this.#announce();
      return;
    }
    this.#failures += 1;
    this.#enter(LOCKED.includes(status) ? "locked" : "retrying", error.message);
    await this.#pause();
  }

  /** After a silence another project may be served at this address: its items are not ours. */
  async #sameProject() {
    if ((await this.#identify()) === this.project) return true;
    this.#failures += 1;
    this.#enter("foreign", "Another project is open at this address.");
    return false;
  }

  async #pause() {
    const milliseconds = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.max(0, this.#failures - 1));
    let timer;
    await new Promise((resolve) => {
      timer = setTimeout(resolve, milliseconds);
      addEventListener("online", resolve, { once: true });
    });
    clearTimeout(timer);
  }
}

/** Return the answers of one person at the head, or the one other entry that is there. */
function firstRun(waiting, most) {
  const [[, first]] = waiting;
  if (first.op !== "answer") return waiting.slice(0, 1);
  const end = waiting.findIndex(([, entry]) => entry.op !== "answer" || entry.person !== first.person);
  return waiting.slice(0, Math.min(most, end < 0 ? waiting.length : end));
}

/** Return the path and the body that carry these entries. */
function request(entries) {
  const [{ op, id, person, items, class: label, of }] = entries;
  if (op === "undo") return ["/api/undo", { id, person, of: of ?? "labels" }];
  if (op === "labels") return ["/api/labels", { id, person, items, class: label }];
  const answers = entries.map((entry) => ({
    id: entry.id,
    item: entry.item,
    kind: entry.kind,
    class: entry.class,
    seconds: entry.seconds,
  }));
  return ["/api/answers", { person, answers }];
}
