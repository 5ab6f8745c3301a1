// Numbers and times as people say them.

const COUNTS = new Intl.NumberFormat("en");

/** 12345 -> "12,345" */
export const count = (number) => COUNTS.format(number);

/** (1, "label") -> "1 label"; (2, "label") -> "2 labels" */
export const plural = (number, word, many = `${word}s`) => `${count(number)} ${number === 1 ? word : many}`;

/** 0.9124 -> "91 %"; small and large shares keep a digit that says something. */
export function percent(share) {
  const value = 100 * share;
  const digits = value > 0 && value < 1 ? 1 : value > 99 && value < 100 ? 1 : 0;
  return `${value.toFixed(digits)} %`;
}

/** 0.9124 -> 91, for sentences that name the unit once */
export const whole = (share) => Math.round(100 * share);

/** What somebody said of an item: the name of its class, "skipped" or "not sure". */
export const answerWords = (kind, name) => ({ skip: "skipped", unsure: "not sure" })[kind] ?? name ?? "?";

/** Seconds -> "about 12 min" */
export function duration(seconds) {
  if (seconds < 50) return "under a minute";
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `about ${minutes} min`;
  const hours = Math.floor(minutes / 60);
  const rest = Math.round((minutes % 60) / 15) * 15;
  if (hours >= 10 || rest === 0) return `about ${hours} h`;
  return rest === 60 ? `about ${hours + 1} h` : `about ${hours} h ${rest} min`;
}

/** A time in seconds since 1970 -> "just now", "4 min ago", "14:05", "3 Mar, 14:05" */
export function when(at, now = Date.now() / 1000) {
  const passed = now - at;
  if (passed < 45) return "just now";
  if (passed < 3600) return `${Math.max(1, Math.round(passed / 60))} min ago`;
  const date = new Date(at * 1000);
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (date.toDateString() === new Date(now * 1000).toDateString()) return time;
  return `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`;
}

/** 12345 -> "12 kB" */
export function size(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    unit += 1;
  }
  return `${bytes < 10 && unit > 0 ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
}
