// What people do in this project: label items, or check given predictions.

/** Whether people check predictions. */
export const isAudit = document.documentElement.dataset.task === "audit";

/** What an answer is called. */
export const NOUN = isAudit ? "check" : "label";
