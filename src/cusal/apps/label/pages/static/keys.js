// Which key does what. Classes get their own key, the sign that they are named by, 1 to 9, then letters.

import { isAudit } from "./task.js";

const LABELLING = { s: "skip", u: "unsure", z: "undo", g: "guess", i: "info", m: "many" };
const CHECKING = { r: "right", w: "wrong", u: "unsure", z: "undo", i: "info" };
export const COMMANDS = isAudit ? CHECKING : LABELLING;

const DIGITS = [..."123456789"];
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"].filter((letter) => !(letter in COMMANDS));
const PLAIN = [...DIGITS, ...LETTERS];

/** With more classes than this people type to find one; letters then belong to the search. */
export const MOST_WITH_KEYS = 12;

/** Return whether people type to find a class among these. */
export const typesToFind = (classes) => classes.length > MOST_WITH_KEYS;

/**
 * Return a Map of class id to key: the chosen ones, then signs of the name ("0" of a digit), then 1-9 and letters.
 * These go by the place in the list, so that a key chosen for one class moves no other: fingers know them.
 */
export function classKeys(classes) {
  const keys = new Map();
  const used = new Set(Object.keys(COMMANDS));
  const assign = (id, key) => {
    if (!key || used.has(key) || keys.has(id)) return;
    keys.set(id, key);
    used.add(key);
  };
  for (const { id, key } of classes) assign(id, key?.toLowerCase());
  for (const { id, name } of classes) assign(id, /^[0-9a-z]$/i.test(name.trim()) ? name.trim().toLowerCase() : null);
  for (const [place, { id }] of classes.entries()) assign(id, PLAIN[place]);
  for (const { id } of classes)
    assign(
      id,
      PLAIN.find((key) => !used.has(key)),
    );
  return keys;
}

/**
 * Return the key that was meant: lower case, and digits also on keyboards where they need Shift.
 * @param {KeyboardEvent} event
 * @param {(key: string) => boolean} known
 */
export function keyOf(event, known = () => false) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const digit = /^Digit([0-9])$/.exec(event.code)?.[1];
  return digit && !/^[0-9]$/.test(key) && !known(key) && !event.shiftKey ? digit : key;
}

/** Return whether keys belong to an element that is being typed in, or to an open dialog. */
export function isTyping(event) {
  const target = event.target instanceof Element ? event.target : null;
  if (document.querySelector("dialog[open]")) return true;
  return Boolean(target?.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]"));
}

/** Return whether a key goes with Ctrl, Alt or Meta, which belong to the browser. */
export const isModified = (event) => event.ctrlKey || event.metaKey || event.altKey;
