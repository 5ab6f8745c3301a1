// The Export page: choose formats, write the files, fetch them, or copy the commands that do the same.

import { byId, element, note } from "./elements.js";
import { read, send } from "./api.js";
import { markReady, openPage } from "./page.js";
import { doneOf, isAudit } from "./task.js";
import { plural, size, when } from "./words.js";

const PAUSE = 700; // milliseconds between looks at an export under way

const page = await openPage();

const { file } = byId("commands").dataset;
const where =
  file === "PROJECT" ? "PROJECT is what cusal label named when it started." : `Run these in the folder of ${file}.`;

const chosen = () => [...byId("form").querySelectorAll("[name=format]:checked")].map(({ value }) => value);

function drawSummary() {
  const { progress, classes } = page.project;
  const rest = Math.max(0, progress.items - doneOf(progress));
  const done = `${plural(progress.labelled, "label")} in ${plural(classes.length, "class", "classes")}`;
  byId("summary").textContent = isAudit
    ? `${plural(doneOf(progress), "check")}, ${plural(rest, "prediction")} not looked at`
    : `${done}, ${plural(rest, "item")} to predict`;
}

async function drawFiles() {
  const files = await read("/api/exports");
  const lines = files.map(({ name, size: bytes, at }) =>
    element(
      "li",
      {},
      element("a", { href: `/exports/${encodeURIComponent(name)}`, download: name }, name),
      element("span", {}, `${size(bytes)} · ${when(at)}`),
    ),
  );
  byId("files").replaceChildren(
    lines.length
      ? element("ul", { class: "files" }, lines)
      : element("p", { class: "soft" }, "No file was written yet."),
  );
}

function drawCommands() {
  const more = chosen().length ? ` --format ${chosen().join(",")}` : "";
  const data = page.kind === "image" ? "NEW_IMAGES/" : "NEW_DATA.csv";
  if (isAudit) return drawAuditCommands(more);
  return byId("commands").replaceChildren(
    element("p", { class: "soft" }, where),
    element("p", {}, "Write labels, predictions and the model:"),
    command(`cusal export ${file}${more}`),
    element("p", {}, "Use the model on new data:"),
    command(`cusal predict ${file} ${data} --out predictions.csv`),
  );
}

function drawAuditCommands(more) {
  byId("commands").replaceChildren(
    element("p", { class: "soft" }, `${where} PREDICTIONS is the table that is checked.`),
    element("p", {}, "Write all predictions, checked and accepted:"),
    command(`cusal export ${file}${more}`),
    element("p", {}, "Go on from there: a report, and a hunt for the items that are most likely wrong:"),
    command("cusal audit PREDICTIONS --labels audit.csv --hunt --report audit.html"),
  );
}

function command(words) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(words);
      note("Copied.");
    } catch {
      note("This browser does not let pages copy. Select the line instead."); // pages without https may not
    }
  };
  return element(
    "div",
    { class: "command" },
    element("code", { tabindex: 0 }, words),
    element("button", { type: "button", class: "small", on: { click: copy }, "aria-label": `Copy: ${words}` }, "Copy"),
  );
}

function say(words, tone = "") {
  byId("job").className = `job ${tone}`;
  byId("job").textContent = words;
}

async function start(event) {
  event.preventDefault();
  const formats = chosen();
  if (!formats.length) return say("Choose at least one format.", "bad");
  byId("start").disabled = true;
  say("Writing…");
  try {
    let job = await send("/api/exports", { formats });
    while (job.state === "running") {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      job = await read(`/api/exports/${job.job}`);
    }
    await drawFiles();
    if (job.state === "failed") say(job.message ?? "The export failed.", "bad");
    else say(job.message ? `Done. ${job.message}` : "Done. The file is listed here and lies beside your data.", "good");
  } catch (error) {
    if (error.status === undefined) throw error;
    say(error.message, "bad");
  } finally {
    byId("start").disabled = false;
  }
  return undefined;
}

byId("form").addEventListener("submit", start);
byId("form").addEventListener("change", drawCommands);
drawSummary();
drawCommands();
await drawFiles();
markReady();
