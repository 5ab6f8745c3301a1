// Type to find: which classes match what was typed, best first, and which nine have a digit when nothing is typed.

/** Return the words of a class name: "card_payment-fee" and "cardPaymentFee" have three. */
function wordsOf(name) {
  return name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

/** Return how well a typed word fits a name: 0 not at all, 4 it begins the name. */
function fit(typed, words, whole) {
  if (words[0]?.startsWith(typed)) return 4;
  if (words.some((word) => word.startsWith(typed))) return 3;
  if (whole.includes(typed)) return 2;
  return isSubsequence(typed, whole) ? 0.5 : 0;
}

function isSubsequence(typed, whole) {
  let place = 0;
  for (const letter of whole) if (letter === typed[place]) place += 1;
  return place === typed.length;
}

/**
 * Return the classes that match every typed word, best first. `weight(class)` breaks ties: the higher, the earlier.
 * Matches by scattered letters count only where nothing better is found.
 * @param {any[]} classes
 * @param {string} typed
 * @param {(found: any) => number} weight
 */
export function findClasses(classes, typed, weight = () => 0) {
  const parts = typed
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  if (!parts.length) return classes;
  const scored = [];
  for (const [place, found] of classes.entries()) {
    const words = wordsOf(found.name);
    const fits = parts.map((part) => fit(part, words, words.join("")));
    if (fits.some((value) => value === 0)) continue;
    const [whole, asked] = [words.join(" "), parts.join(" ")];
    const order = whole === asked ? 10 : whole.startsWith(asked) ? 5 : 0; // "card a" means card_arrival, not a_new_card
    scored.push({ found, place, least: Math.min(...fits), score: order + fits.reduce((sum, value) => sum + value, 0) });
  }
  const clear = scored.filter(({ least }) => least >= 1);
  const chosen = clear.length ? clear : scored;
  chosen.sort(
    (one, other) => other.score - one.score || weight(other.found) - weight(one.found) || one.place - other.place,
  );
  return chosen.map(({ found }) => found);
}

/**
 * The nine classes with a digit. A class keeps its digit as long as it is in use: one that is not among the nine
 * takes the place of the one that was used longest ago, so that fingers can learn the others.
 */
export class Slots {
  constructor(name, size = 9) {
    this.name = name;
    this.size = size;
    this.ids = [];
    this.used = new Map();
    this.clock = 0;
    try {
      const kept = JSON.parse(localStorage.getItem(name) ?? "[]");
      if (Array.isArray(kept)) this.ids = kept;
    } catch {
      this.ids = [];
    }
  }

  /** Return the classes in the slots; free ones go to those with most labels. */
  of(classes) {
    const known = new Map(classes.map((found) => [found.id, found]));
    const ids = this.ids.filter((id) => known.has(id)).slice(0, this.size);
    const frequent = classes.filter(({ id }) => !ids.includes(id)).sort((one, other) => other.labels - one.labels);
    this.ids = [...ids, ...frequent.slice(0, this.size - ids.length).map(({ id }) => id)];
    return this.ids.map((id) => known.get(id));
  }

  /** Note that a class was used. */
  use(id) {
    this.clock += 1;
    if (!this.ids.includes(id)) {
      const ages = this.ids.map((slot) => this.used.get(slot) ?? 0);
      const oldest = ages.lastIndexOf(Math.min(...ages)); // never used ones go from the end
      this.ids[oldest] = id;
    }
    this.used.set(id, this.clock);
    try {
      localStorage.setItem(this.name, JSON.stringify(this.ids));
    } catch {
      // The order is then the one of labels after a reload.
    }
  }
}
