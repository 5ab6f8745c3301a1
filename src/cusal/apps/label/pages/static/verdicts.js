// An audit: what was predicted, and whether that is right.

import { element } from "./elements.js";
import { percent } from "./words.js";

/** Return the prediction of an item as words, or [] before it is known. */
export function predictionWords(guess, name) {
  if (!guess || !name) return [];
  const sure = typeof guess.confidence === "number" ? `, ${percent(guess.confidence)} sure` : "";
  return ["Predicted: ", element("b", { class: "predicted" }, name), sure];
}

/** Return what somebody said of a prediction, in a few words. */
export function verdictWords(label, guess, wrong, name) {
  if (guess && label === guess.class) return "right";
  return label === wrong ? "wrong" : `wrong: ${name ?? "?"}`;
}
