// Moving the rows of a list by dragging their grip, with a mouse, a pen or a finger.

/** Let `grip` move `row` inside `root`; `done(ids)` gets the new order if it changed. */
export function makeDraggable(row, grip, root, done) {
  grip.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const before = order(root);
    grip.setPointerCapture(event.pointerId);
    row.classList.add("dragged");
    const follow = (moved) => place(row, root, moved.clientY);
    const end = () => {
      row.classList.remove("dragged");
      grip.removeEventListener("pointermove", follow);
      const after = order(root);
      if (after.join() !== before.join()) done(after);
    };
    grip.addEventListener("pointermove", follow);
    grip.addEventListener("lostpointercapture", end, { once: true });
  });
}

function place(row, root, y) {
  for (const other of root.children) {
    const box = other.getBoundingClientRect();
    if (other === row || y < box.top || y > box.bottom) continue;
    if (y < box.top + box.height / 2) other.before(row);
    else other.after(row);
    return;
  }
}

const order = (root) => [...root.children].map((row) => Number(row.dataset.id));
