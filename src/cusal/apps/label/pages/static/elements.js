// Making and finding elements. Text is always set as text, never as HTML.

/**
 * Return the element with this id; a page without it is a mistake in its template, which knows of what kind it is.
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found;
}

/**
 * Return a new element. `attributes` may hold `on: {event: function}` and `colour` (the CSS variable --class);
 * true sets an empty attribute, false and null leave it out.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (name === "colour") paint(made, value);
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/** Return a new SVG element. */
export function drawing(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.flat(Infinity));
  return made;
}

/** Set the colour of a class on an element, for CSS to use as var(--class). */
export function paint(target, colour) {
  if (CSS.supports("color", colour ?? "")) target.style.setProperty("--class", colour);
  else target.style.removeProperty("--class");
}

/** Return a key cap. */
export function keyCap(key) {
  return element("kbd", {}, key);
}

/** Return a name as text that may break after _, -, / and dots. */
export function breakable(name) {
  return name.split(/(?<=[_/.-])/).flatMap((part, place) => (place ? [document.createElement("wbr"), part] : [part]));
}

/** Show or hide an element. */
export function show(target, visible) {
  target.hidden = !visible;
}

/** Open a dialog made of `children`; it closes by Escape, by its buttons with value, or by a click beside it. */
export function openDialog(title, children, { wide = false } = {}) {
  const head = element("h2", { id: "dialog-title" }, title);
  const close = element("button", { type: "button", class: "quiet round dialog-close", "aria-label": "Close" }, "×");
  const dialog = element(
    "dialog",
    { "aria-labelledby": "dialog-title", class: wide ? "wide" : null },
    head,
    close,
    children,
  );
  const before = document.activeElement;
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("pointerdown", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Say something in a corner of the page and to screen readers; `act` is an optional [words, function]. */
export function note(words, { tone = "plain", act = null, seconds = 5 } = {}) {
  const said = element("div", { class: `note ${tone}` }, element("span", {}, words));
  const end = () => said.remove();
  if (act)
    said.append(
      element("button", { type: "button", class: "quiet small", on: { click: () => (end(), act[1]()) } }, act[0]),
    );
  said.append(
    element("button", { type: "button", class: "quiet small", "aria-label": "Close", on: { click: end } }, "×"),
  );
  const notes = byId("notes");
  while (notes.children.length > 2) notes.firstChild.remove();
  notes.append(said);
  if (seconds) setTimeout(end, seconds * 1000);
  return end;
}
