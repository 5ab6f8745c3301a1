// What people do in this project: "classes", they label items, or "verdicts", they check given predictions.
const TASK = document.documentElement.dataset.task; // as `task` of /api/project, which is not there yet

/** Whether people check predictions. */
export const isAudit = TASK === "verdicts";

/** What an answer is called. */
export const NOUN = isAudit ? "check" : "label";

/** Return whether an answer of this kind is work done: a label, or in an audit any answer. */
export const counts = (kind) => Boolean(kind) && (isAudit || kind === "label");

/** Return how much is done, as the server counts it. */
export const doneOf = ({ labelled, skipped = 0, unsure = 0 }) => labelled + (isAudit ? skipped + unsure : 0);
