// A dialog to choose a class, with the same keys and search as on the Label page.

import { element, openDialog } from "./elements.js";
import { ClassList } from "./class_list.js";
import { isModified } from "./keys.js";

/** Return the id of the class that a person chooses, or null; `typed` is what was typed already. */
export function chooseClass(page, title, typed = "") {
  return new Promise((resolve) => {
    const root = element("div", { class: "choose" });
    const dialog = openDialog(title, root);
    const list = new ClassList(root, {
      choose: (id) => {
        resolve(id);
        dialog.close();
      },
      slots: `cusal:slots:${page.place}`,
      prefix: "choice",
      add: null,
    });
    list.set(page.project.classes);
    if (list.finds) list.search(typed);
    dialog.addEventListener("keydown", (event) => {
      if (!isModified(event) && !event.isComposing && list.press(event)) event.preventDefault();
    });
    dialog.addEventListener("close", () => resolve(null));
  });
}
