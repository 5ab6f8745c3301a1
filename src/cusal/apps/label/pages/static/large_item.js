// An item of the list, large, with its answers and classes.

import { element, openDialog } from "./elements.js";
import { read } from "./api.js";
import { ClassList } from "./class_list.js";
import { columns, ItemView } from "./item_view.js";
import { isModified } from "./keys.js";
import { answerWords, percent, when } from "./words.js";

/** Show an item in a dialog; actions: {label(class), move(step) -> id}. */
export async function showLarge(page, first, actions) {
  const stage = element("div", { class: "item" });
  const view = new ItemView(stage);
  const side = element("div", { class: "large-side" });
  const choice = element("div", { class: "choose" });
  const facts = element("div", {});
  side.append(choice, facts);
  const dialog = openDialog("Item", element("div", { class: "large" }, stage, side), { wide: true });
  const title = dialog.querySelector("h2");
  const list = new ClassList(choice, { choose, slots: `cusal:slots:${page.place}`, prefix: "large", add: null });
  list.set(page.project.classes);
  let shown = null;

  async function open(id) {
    const found = await read(`/api/items/${id}`, { person: page.person });
    shown = found;
    title.textContent = found.key;
    view.show(found);
    list.mark({ label: found.label });
    const said = (found.answers ?? []).map(({ person, kind, class: label, at }) =>
      element("li", {}, `${person}: ${answerWords(kind, list.find(label)?.name)}, ${when(at)}`),
    );
    const guess = found.prediction && list.find(found.prediction.class);
    facts.replaceChildren(
      ...(said.length ? [element("h3", {}, "Answers"), element("ul", {}, said)] : []),
      ...(guess
        ? [element("h3", {}, "Model"), element("p", {}, `${guess.name}, ${percent(found.prediction.confidence)} sure`)]
        : []),
      ...(found.text && Object.keys(found.extra ?? {}).length
        ? [element("h3", {}, "Other columns"), columns(found.extra)]
        : []),
    );
  }

  function choose(id) {
    if (!shown) return;
    actions.label(id);
    shown.label = id;
    list.mark({ label: id });
  }

  dialog.addEventListener("keydown", (event) => {
    if (isModified(event) || event.isComposing) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (list.press(event) || view.press(event.key)) event.preventDefault();
    else if (step && !list.query) {
      event.preventDefault();
      open(actions.move(step));
    }
  });
  await open(first);
}
