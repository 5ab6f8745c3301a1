// "You can stop", with the reason, and the estimated accuracy: from the report of the last round.

import { byId, element, show } from "./elements.js";
import { read } from "./api.js";
import { setBudget } from "./budget.js";
import { keep, kept } from "./page.js";
import { drawAccuracy } from "./progress_line.js";
import { isAudit, NOUN } from "./task.js";
import { count } from "./words.js";

const AGAIN = 50; // labels after which advice that was put aside is given again
const MORE = 100;

export class Advice {
  #stopping = null;
  #asked = -Infinity;
  #shown = "";

  constructor(page, changed) {
    this.page = page;
    this.changed = changed;
    this.name = `cusal:advice:${page.place}`;
  }

  /** Read the report, at most every few seconds; returns whether it will be read. */
  ask() {
    if (performance.now() - this.#asked < 3000) return false;
    this.#asked = performance.now();
    this.#read();
    return true;
  }

  async #read() {
    try {
      const { report } = await read("/api/report");
      this.#stopping = report?.stopping ?? null;
      drawAccuracy((isAudit ? report?.anytime : report?.accuracy) ?? null);
      this.changed();
    } catch (error) {
      if (error.status === undefined) throw error; // no advice while the server is away
    }
  }

  /** Show the advice that fits now, if any. */
  draw(progress, done) {
    const aside = Number(kept(this.name) ?? -Infinity);
    const budget = progress.budget || Infinity;
    const wanted = done < aside + AGAIN ? "" : this.#stopping?.stop ? "stop" : done >= budget ? "budget" : "";
    show(byId("stop"), Boolean(wanted));
    if (!wanted || this.#shown === wanted) return;
    this.#shown = wanted;
    const words =
      wanted === "stop"
        ? ["You can stop", this.#stopping.reason]
        : [`All ${count(budget)} planned ${NOUN}s are done`, ""];
    const put = () => (keep(this.name, String(done)), (this.#shown = ""), this.changed());
    const more = async () => (await setBudget(this.page, done + MORE), put(), location.reload());
    byId("stop").replaceChildren(
      element("p", {}, element("b", {}, words[0]), words[1] ? `: ${words[1]}` : "."),
      element(
        "div",
        { class: "notice-tools" },
        element("a", { class: "button small", href: "/progress" }, "See how good it is"),
        element("a", { class: "button small", href: "/export" }, "Export"),
        element(
          "button",
          { type: "button", class: "quiet small", on: { click: wanted === "stop" ? put : more } },
          wanted === "stop" ? "Go on labelling" : `${isAudit ? "Check" : "Label"} ${MORE} more`,
        ),
      ),
    );
  }
}
