// The JSON calls of the server. A failed call throws CallError: `status` is the HTTP status, or 0 when no answer came.

const SLOWEST = 20_000; // milliseconds; after that a call counts as failed, and calls that change things carry an id

export class CallError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Return the JSON that a GET of `path` answers; entries of `query` that are null or empty are left out. */
export function read(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(given).toString();
  return call(search ? `${path}?${search}` : path, {});
}

/** Return the JSON that a POST of `body` answers. The request outlives the page (keepalive) where the browser can. */
export function send(path, body) {
  const text = JSON.stringify(body);
  return call(path, {
    method: "POST",
    body: text,
    headers: { "Content-Type": "application/json", "X-Cusal": "1" },
    keepalive: text.length < 60_000, // browsers refuse more than 64 KiB
  });
}

async function call(address, options) {
  let reply;
  try {
    reply = await fetch(address, { ...options, credentials: "same-origin", signal: AbortSignal.timeout(SLOWEST) });
  } catch {
    throw new CallError("The server does not answer.", 0);
  }
  const found = await reply.json().catch(() => null);
  if (!reply.ok) throw new CallError(sentence(found, reply.status), reply.status);
  if (found === null) throw new CallError("The server's answer was cut off.", 0);
  return found;
}

function sentence(found, status) {
  for (const words of [found?.error, found?.detail])
    if (typeof words === "string" && words) return words[0].toUpperCase() + words.slice(1);
  return `The server answered with an error (${status}).`;
}

/** Return a random id (UUID 4), also on pages without https, where browsers have no crypto.randomUUID. */
export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
