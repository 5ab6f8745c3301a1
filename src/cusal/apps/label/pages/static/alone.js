// One tab at a time does a piece of work: by a Web Lock, or by a lease in localStorage on pages without https.

const LEASE = 4000; // milliseconds; a tab that dies is replaced after that

/** Run `work(isMine)` in one tab of this browser; the others wait until that tab closes. */
export function workAlone(name, work) {
  if (navigator.locks) return navigator.locks.request(name, () => work(() => true));
  return leased(`cusal:lease:${name}`, work);
}

async function leased(name, work) {
  const tab = Math.random().toString(36).slice(2);
  for (;;) {
    if (await taken(name, tab)) {
      let mine = true;
      const renewal = setInterval(() => {
        mine = holder(name) === tab;
        if (mine) write(name, tab);
      }, LEASE / 4);
      await work(() => mine);
      clearInterval(renewal);
    }
    await new Promise((resolve) => setTimeout(resolve, LEASE / 4));
  }
}

async function taken(name, tab) {
  if (holder(name)) return false;
  write(name, tab);
  await new Promise((resolve) => setTimeout(resolve, 60 + 60 * Math.random())); // another tab may have written too
  return holder(name) === tab;
}

function holder(name) {
  const [tab, until] = (localStorage.getItem(name) ?? "").split(" ");
  return Number(until) > Date.now() ? tab : null;
}

function write(name, tab) {
  localStorage.setItem(name, `${tab} ${Date.now() + LEASE}`);
}
