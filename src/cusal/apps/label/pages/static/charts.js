// Small drawings in SVG. Colours come from CSS classes, so that they follow the theme; each has its words for readers.

import { drawing } from "./elements.js";
import { NOUN } from "./task.js";
import { whole } from "./words.js";

const fixed = (number) => Number(number.toFixed(2));

// Where a scale up to 100 % may begin, and the steps between its ticks.
const SCALES = [
  { start: 0.9, step: 0.02 },
  { start: 0.75, step: 0.05 },
  { start: 0.5, step: 0.1 },
  { start: 0.2, step: 0.2 },
  { start: 0, step: 0.25 },
];

/** A line up to 100 % with an interval and its most likely value. */
export function intervalBar({ low, estimate, high }, words) {
  const { start, step } = SCALES.find((scale) => scale.start <= low - 0.02) ?? SCALES.at(-1);
  const at = (share) => fixed(10 + (580 * (share - start)) / (1 - start));
  const ticks = Array.from({ length: Math.round((1 - start) / step) + 1 }, (_, place) => start + place * step);
  return drawing(
    "svg",
    { viewBox: "0 0 600 46", role: "img", "aria-label": words, class: "chart" },
    drawing("line", { class: "axis", x1: at(start), x2: at(1), y1: 18, y2: 18 }),
    ticks.map((share) => [
      drawing("line", { class: "axis", x1: at(share), x2: at(share), y1: 14, y2: 22 }),
      drawing(
        "text",
        {
          class: "tick",
          x: at(share),
          y: 42,
          "text-anchor": share === start ? "start" : share > 0.999 ? "end" : "middle",
        },
        `${Math.round(100 * share)} %`,
      ),
    ]),
    drawing("rect", { class: "band", x: at(low), y: 9, width: Math.max(3, at(high) - at(low)), height: 18, rx: 5 }),
    drawing("circle", { class: "point", cx: at(estimate), cy: 18, r: 7 }),
  );
}

/** Said confidence against the share that was right; the size of a point is its share of the items. */
export function reliabilityDiagram(bins, words) {
  const at = (share) => fixed(46 + 250 * share);
  const up = (share) => fixed(266 - 250 * share);
  const points = bins.filter(({ share }) => share > 0);
  const largest = Math.max(...points.map(({ share }) => share));
  return drawing(
    "svg",
    { viewBox: "0 0 310 310", role: "img", "aria-label": words, class: "chart square" },
    [0, 0.5, 1].map((share) => [
      drawing("line", { class: "grid", x1: at(0), x2: at(1), y1: up(share), y2: up(share) }),
      drawing("text", { class: "tick", x: 40, y: up(share) + 4, "text-anchor": "end" }, `${100 * share}`),
      drawing("text", { class: "tick", x: at(share), y: 284, "text-anchor": "middle" }, `${100 * share}`),
    ]),
    drawing("line", { class: "ideal", x1: at(0), y1: up(0), x2: at(1), y2: up(1) }),
    drawing("polyline", {
      class: "curve",
      points: points.map(({ confidence, right }) => `${at(confidence)},${up(right)}`).join(" "),
    }),
    points.map(({ confidence, right, share }) =>
      drawing(
        "circle",
        { class: "point", cx: at(confidence), cy: up(right), r: fixed(3 + 6 * Math.sqrt(share / largest)) },
        drawing("title", {}, `says ${whole(confidence)} %, right ${whole(right)} %, ${whole(share)} % of the items`),
      ),
    ),
    drawing("text", { class: "tick", x: at(0.5), y: 304, "text-anchor": "middle" }, "says it is sure, %"),
    drawing(
      "text",
      { class: "tick", x: 12, y: up(0.5), "text-anchor": "middle", transform: `rotate(-90 12 ${up(0.5)})` },
      "is right, %",
    ),
  );
}

const ROUND_STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1];

/** A value between 0 and 1 over the number of labels, with an interval where the points have low and high. */
export function curveChart(points, { words, floor = 0 }) {
  const known = points.filter(({ y }) => y !== null && y !== undefined);
  const most = Math.max(...known.map(({ y, high }) => high ?? y));
  const top = floor > 0 ? 1 : (ROUND_STEPS.find((step) => step >= most) ?? 1);
  const [start, end] = [known[0].x, known.at(-1).x];
  const at = (x) => fixed(44 + (end > start ? (300 * (x - start)) / (end - start) : 150));
  const up = (y) => fixed(150 - (135 * (Math.max(floor, y) - floor)) / (top - floor));
  const banded = known.filter(
    ({ low, high }) => low !== null && low !== undefined && high !== null && high !== undefined,
  );
  const edge = [
    ...banded.map(({ x, high }) => `${at(x)},${up(high)}`),
    ...banded.toReversed().map(({ x, low }) => `${at(x)},${up(low)}`),
  ];
  const last = known.at(-1);
  return drawing(
    "svg",
    { viewBox: "0 0 360 178", role: "img", "aria-label": words, class: "chart" },
    [floor, (floor + top) / 2, top].map((y) => [
      drawing("line", { class: "grid", x1: 44, x2: 350, y1: up(y), y2: up(y) }),
      drawing(
        "text",
        { class: "tick", x: 38, y: up(y) + 4, "text-anchor": "end" },
        `${Number((100 * y).toFixed(1))} %`,
      ),
    ]),
    drawing("polygon", { class: "band", points: edge.join(" ") }),
    drawing("polyline", { class: "curve", points: known.map(({ x, y }) => `${at(x)},${up(y)}`).join(" ") }),
    drawing("circle", { class: "point", cx: at(last.x), cy: up(last.y), r: 4.5 }),
    drawing("text", { class: "tick", x: 44, y: 172, "text-anchor": "start" }, end > start ? `${start}` : ""),
    drawing(
      "text",
      { class: "tick", x: at(end), y: 172, "text-anchor": end > start ? "end" : "middle" },
      `${end} ${NOUN}s`,
    ),
  );
}
