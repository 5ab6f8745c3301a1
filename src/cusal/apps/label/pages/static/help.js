// The overlay that lists the keys.

import { element, keyCap, openDialog } from "./elements.js";
import { isAudit } from "./task.js";

const CHECKING = [
  [
    "Is the prediction right?",
    [
      ["Enter or r", "right"],
      ["1 – 9, letters", "wrong: it is the class with this key"],
      ["type, Enter", "wrong: find the class (with more than 12 classes)"],
      ["w", "wrong, without saying which"],
      ["u", "not sure"],
    ],
  ],
  [
    "Move and look",
    [
      ["z or Ctrl Z", "undo, any number of steps"],
      ["← →", "back to what was checked, and forward"],
      ["+ − 0", "zoom in, out, fit"],
      ["i", "other columns"],
      ["⇧ W, ⇧ U, ⇧ Z …", "with many classes letters type; with Shift they are commands"],
    ],
  ],
];

const KEYS = {
  label: [
    [
      "Label",
      [
        ["1 – 9, letters", "the class with this key"],
        ["type, Enter", "find a class (with more than 12 classes)"],
        ["s", "skip"],
        ["u", "not sure"],
      ],
    ],
    [
      "Move",
      [
        ["z or Ctrl Z", "undo, any number of steps"],
        ["← →", "back to what was labelled, and forward"],
        ["m", "many at once"],
      ],
    ],
    [
      "Look",
      [
        ["+ − 0", "zoom in, out, fit"],
        ["g", "show or hide the model’s guess"],
        ["i", "other columns"],
        ["↑ ↓", "scroll a long text"],
      ],
    ],
    [
      "With many classes",
      [
        ["⇧ S, ⇧ U, ⇧ Z …", "letters type; with Shift they are commands"],
        ["Esc", "clear what was typed"],
      ],
    ],
  ],
  browse: [
    [
      "Move and select",
      [
        ["← → ↑ ↓", "move"],
        ["Space", "select"],
        ["⇧ with arrows", "select a range"],
        ["Ctrl A", "select all that are loaded"],
        ["Esc", "select nothing"],
      ],
    ],
    [
      "Label",
      [
        ["1 – 9, letters", "label the selection"],
        ["l", "choose a class by name"],
        ["Delete", "take the label away"],
        ["z or Ctrl Z", "undo"],
        ["Enter", "look at it large"],
      ],
    ],
  ],
  progress: [
    [
      "Mistakes",
      [
        ["Tab", "go to a mistake"],
        ["1 – 9, letters", "give it this class"],
        ["l", "choose a class by name"],
        ["z or Ctrl Z", "undo"],
      ],
    ],
  ],
  classes: [
    [
      "Classes",
      [
        ["Enter", "add, or save a name"],
        ["Alt ↑ ↓", "move a class"],
        ["Ctrl Z", "undo"],
      ],
    ],
  ],
  export: [
    [
      "Export",
      [
        ["Tab, Space", "choose formats"],
        ["Enter", "start"],
      ],
    ],
  ],
};

/** Open the list of keys of this page. */
export function openHelp() {
  if (document.querySelector("dialog[open]")) return;
  const { page } = document.documentElement.dataset;
  const groups = (isAudit && page === "label" ? CHECKING : (KEYS[page] ?? [])).map(([title, rows]) =>
    element("section", {}, element("h3", {}, title), element("dl", { class: "keys" }, rows.map(row))),
  );
  openDialog("Keys", element("div", { class: "key-groups" }, groups), { wide: groups.length > 1 });
}

function row([keys, words]) {
  return element(
    "div",
    {},
    element(
      "dt",
      {},
      keys.split(", ").map((key) => [keyCap(key), " "]),
    ),
    element("dd", {}, words),
  );
}
