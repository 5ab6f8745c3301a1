// Small pictures of items: without the browser's sign for a broken one, and loaded again when the server is back.

import { element } from "./elements.js";

const FIRST_PAUSE = 500; // milliseconds between looks at the server, doubled up to the longest
const LONGEST_PAUSE = 5000;
const lost = new Set(); // pictures that could not be loaded
let timer = null;

/** Return the <img> of an item, as small as a list needs it. */
export function thumbnail(id, attributes = {}) {
  const picture = element("img", { src: `/media/${id}?side=200`, alt: "", draggable: "false", ...attributes });
  picture.addEventListener("load", () => delete picture.dataset.lost);
  picture.addEventListener("error", () => {
    picture.dataset.lost = "";
    lost.add(picture);
    lookIn(FIRST_PAUSE);
  });
  return picture;
}

function lookIn(pause) {
  if (timer === null) timer = setTimeout(() => look(pause), pause);
}

/** Ask for the first lost picture alone: an <img> does not say why it failed, and one call says whether to wait. */
async function look(pause) {
  const [first] = lost;
  const status = await fetch(first.src).then(
    (reply) => reply.status,
    () => 0,
  );
  timer = null;
  if (status >= 400 && status < 500)
    lost.delete(first); // no picture, and never will be
  else if (status >= 200 && status < 300) {
    for (const picture of lost) picture.src = picture.getAttribute("src");
    lost.clear();
  }
  if (lost.size) lookIn(status >= 400 && status < 500 ? FIRST_PAUSE : Math.min(LONGEST_PAUSE, 2 * pause));
}
