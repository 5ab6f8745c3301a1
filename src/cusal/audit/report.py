"""The report of an audit: one page with everything that is known, which needs no other file."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan

import numpy as np
from numpy.typing import NDArray

from cusal._files import write_whole
from cusal.audit.audit import Audit
from cusal.audit.estimates import Score, Share, Slice
from cusal.audit.messages import judged, summary
from cusal.audit.prediction_table import PredictionTable
from cusal.audit.quantities import confusion
from cusal.audit.simultaneous_intervals import by_class_together, parts_together
from cusal.errors import NotReady

WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 22, 12, 40
BINS = 10
POINTS = 24  # of the curve over checks
MOST_SLICES, MOST_ERRORS, FIRST_ERRORS = 60, 200, 20
LONGEST = 300  # letters of an item that are shown
STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --paper: #fff; --mark: #1f6feb; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf0; --soft: #9aa7b6; --line: #39424e; --paper: #14181d; --mark: #6ea8fe; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 860px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
p.lead { font-size: 1.1rem; } p.note { color: var(--soft); font-size: .9rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; white-space: nowrap; } td.name { overflow-wrap: anywhere; min-width: 7em; }
.error { border-top: 1px solid var(--line); padding: .6rem 0; overflow-wrap: anywhere; } .error p { margin: 0; }
.error b { color: var(--ink); font-weight: 600; } summary { cursor: pointer; padding: .6rem 0; color: var(--mark); }
@media (max-width: 600px) { th, td { padding: .35rem .3rem; } svg text { font-size: 17px; } }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: var(--soft); } svg line { stroke: var(--line); }
.once { fill: var(--mark); opacity: .3; } .anytime { fill: var(--mark); opacity: .13; }
.estimate { fill: none; stroke: var(--mark); stroke-width: 2; } .perfect { stroke: var(--soft); stroke-dasharray: 4; }
circle.before { fill: #c2571a; opacity: .75; } circle.after { fill: var(--mark); opacity: .75; }
"""


def write_report(path: str, audit: Audit, table: PredictionTable, positive: Hashable = None) -> None:
    """Write the page, completely or not at all; with the table of a judge for one of its verdicts."""
    write_whole(path, page(audit, table, positive).encode("utf-8", "replace"))


def page(audit: Audit, table: PredictionTable, positive: Hashable = None) -> str:
    """Return the page as HTML; every text of the user's is escaped."""
    parts = [f'<p class="lead">{escape(summary(audit))}</p>']
    try:
        audit.accuracy()
    except NotReady:
        pass
    else:
        if positive is not None:
            parts = [_judge(audit, positive), *parts]
        parts += [_confusion(audit), _next(audit), _curve(audit), _reliability(audit), _by_class(audit)]
        parts.append(_slices(audit, table))
        parts.append(_errors(audit, table))
    body = "\n".join(part for part in parts if part)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Audit of {len(audit):,} predictions</title><style>{STYLE}</style></head>"
        f"<body><h1>Audit of {len(audit):,} predictions</h1>\n{body}\n</body></html>\n"
    )


def _judge(audit: Audit, positive: Hashable) -> str:
    """Return what a judge is worth, and its table."""
    table = audit.judge(positive)
    rows = []
    for name, share in table.rows():
        points = not isinstance(share, Score)
        middle = f"{share.estimate * 100:.0f} %" if points else f"{share.estimate:.2f}"
        ends = (
            f"{share.low * 100:.0f} to {share.high * 100:.0f} %" if points else f"{share.low:.2f} to {share.high:.2f}"
        )
        middle, ends = ("undefined", "") if isnan(share.estimate) else (middle, ends)
        cells = "".join(f"<td class='number'>{cell}</td>" for cell in (middle, ends))
        note = f"<br><span class='note'>{escape(share.remark)}</span>" if share.remark else ""
        rows.append(f"<tr><td class='name'>{escape(name)}{note}</td>{cells}</tr>")
    return (
        f"<p class='lead'>{escape(judged(table))}</p><h2>The judge</h2><div class='scroll'><table><thead><tr><th></th>"
        f"<th class='number'>estimate</th><th class='number'>between</th></tr></thead><tbody>{''.join(rows)}</tbody>"
        "</table></div>"
    )


def _confusion(audit: Audit) -> str:
    """Return what the items of each predicted class truly are, with intervals; nothing where it is not known."""
    cells = confusion(audit._checks)
    if not cells:
        return ""
    names = list(dict.fromkeys(true for _, true in cells))
    heads = "".join(f"<th class='number'>truly {escape(str(name))}</th>" for name in names)
    rows = []
    for called in dict.fromkeys(called for called, _ in cells):
        shares = [cells[called, true] for true in names]
        found = [f"{one.estimate * 100:.1f} %<br>{one.low * 100:.1f} to {one.high * 100:.1f}" for one in shares]
        numbers = "".join(f"<td class='number'>{cell}</td>" for cell in found)
        rows.append(f"<tr><td class='name'>called {escape(str(called))}</td>{numbers}</tr>")
    return (
        f"<h2>What is called what</h2><div class='scroll'><table><thead><tr><th></th>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div><p class='note'>Shares of all items, each with its 95 % interval."
        "</p>"
    )


def _curve(audit: Audit) -> str:
    """Return the estimate with both intervals over the checks, as they would have been read at the time."""
    items = audit.checked_in_order
    counts = np.unique(np.linspace(min(10, len(items)), len(items), POINTS).astype(int))
    once, anytime = [], []
    for count in counts.tolist():
        before = audit.as_after(count)
        once.append(before.accuracy())
        anytime.append(before.accuracy(anytime=True))
    figure = intervals_over_checks(once, anytime)
    return (
        f"<h2>How the estimate settled</h2>{figure}<p class='note'>The narrow band is the 95 % interval for one look "
        "after a number of checks that was fixed before. The wide one holds however often one looks.</p>"
    )


def _reliability(audit: Audit) -> str:
    answers = {item: right for item, right in audit.answers.items() if right is not None}
    items = np.array(list(answers), dtype=np.int64)
    right = np.array(list(answers.values()), dtype=np.bool_)
    after = audit.calibrated()
    figure = reliability([("before", audit.confidence[items]), ("after", after[items])], right)
    return (
        f"<h2>Confidence and truth</h2>{figure}<p class='note'>Orange: the confidence as given. Blue: as corrected "
        "by the checks, as <code>Audit.calibrated()</code> returns it; where both agree the confidence was kept. A "
        "dot on the line is honest; its size shows how many checks it stands for.</p>"
    )


def _by_class(audit: Audit) -> str:
    rows = by_class_together(audit)
    return f"<h2>By predicted class</h2>{_slice_table(rows)}{_together(rows)}"


def _slices(audit: Audit, table: PredictionTable) -> str:
    """Return the tables of other columns; their intervals are wider, so that all hold together."""
    groups = parts_together(audit, list(table.slices.values()))
    parts = [f"<h2>By {escape(name)}</h2>{_slice_table(rows)}" for name, rows in zip(table.slices, groups, strict=True)]
    return "".join(parts) + _together([one for rows in groups for one in rows])


def _together(rows: list[Slice]) -> str:
    """Return a note on the level of intervals that hold together."""
    shares = [one.share for one in rows if one.share is not None]
    if len(shares) < 2:
        return ""
    return (
        f"<p class='note'>There are {len(shares)} such intervals. Each has a level of {shares[0].level:.2%}, so that "
        "all of them hold together with 95 %.</p>"
    )


def _slice_table(rows: list[Slice]) -> str:
    """Return a table, the surely worst first; of equal ones the narrowest interval."""
    known = [(one, one.share) for one in rows if one.share is not None]
    known.sort(key=lambda pair: (pair[1].high, pair[1].high - pair[1].low))
    lines = [_slice_row(one, share) for one, share in known]
    left = [f"{len(lines) - MOST_SLICES} more are left out."] if len(lines) > MOST_SLICES else []
    if len(rows) > len(known):
        left.append(f"{len(rows) - len(known)} have fewer than five checks, which are too few to say anything.")
    note = f"<p class='note'>{' '.join(left)}</p>" if left else ""
    if not lines:
        return note
    heads = "".join(f"<th class='number'>{head}</th>" for head in ("right", "between", "checks", "items"))
    return (
        f"<div class='scroll'><table><thead><tr><th></th>{heads}</tr></thead>"
        f"<tbody>{''.join(lines[:MOST_SLICES])}</tbody></table></div>{note}"
    )


def _slice_row(one: Slice, share: Share) -> str:
    interval = f"{share.low * 100:.0f} to {share.high * 100:.0f} %"
    cells = [f"{share.estimate * 100:.0f} %", interval, f"{one.checks}", f"{one.items:,}"]
    numbers = "".join(f"<td class='number'>{cell}</td>" for cell in cells)
    return f"<tr><td class='name'>{escape(str(one.name))}</td>{numbers}</tr>"


def _errors(audit: Audit, table: PredictionTable) -> str:
    wrong = [item for item, right in audit.answers.items() if right is False]
    if not wrong:
        return "<h2>Errors found</h2><p>None so far.</p>"
    shown = wrong[:MOST_ERRORS]
    rows = "".join(_error_row(audit, table, item) for item in shown[:FIRST_ERRORS])
    rest = "".join(_error_row(audit, table, item) for item in shown[FIRST_ERRORS:])
    folded = f"<details><summary>{len(shown) - FIRST_ERRORS} more</summary>{rest}</details>" if rest else ""
    more = f"<p class='note'>{len(wrong) - MOST_ERRORS} others are left out.</p>" if len(wrong) > MOST_ERRORS else ""
    return f"<h2>Errors found: {len(wrong):,}</h2>{rows}{folded}{more}"


def _error_row(audit: Audit, table: PredictionTable, item: int) -> str:
    """Return an error: the item, what was predicted with which confidence, and what is true."""
    text = "" if table.texts is None else f"<p>{escape(_shortened(table.texts[item]))}</p>"
    true = audit.true_labels.get(item)
    truth = "" if true is None else f", in truth <b>{escape(str(true))}</b>"
    known = not np.isnan(table.confidence[item])
    sure = f" (confidence {table.confidence[item]:.2f})" if known else ""
    return (
        f"<div class='error'>{text}<p class='note'>{escape(table.ids[item])}: predicted "
        f"<b>{escape(table.labels[item])}</b>{sure}{truth}</p></div>"
    )


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _next(audit: Audit) -> str:
    accepted = audit.accept(0.05)
    chance: NDArray[np.float64] = audit.calibrated()
    unchecked = np.setdiff1d(np.arange(len(audit)), np.array(list(audit.answers)))
    left = float((1 - chance[unchecked]).sum())
    return (
        f"<h2>What to do next</h2><ul><li>{escape(accepted.reason)}</li>"
        f"<li>About {left:,.0f} of the {len(unchecked):,} unchecked predictions are wrong. The most suspicious ones: "
        "<code>cusal audit ... --hunt</code>.</li><li>For a part that is right to a promised share: "
        "<code>cusal audit ... --guarantee .98</code>.</li></ul>"
    )


# ---- figures as SVG, which a page can hold as they are


@dataclass(frozen=True)
class Axes:
    """The ranges of the two axes, and their titles."""

    x: tuple[float, float]
    y: tuple[float, float]
    titles: tuple[str, str]

    def point(self, x: float, y: float) -> str:
        """Return a place in the figure, as SVG writes it."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0] or 1)
        up = (y - self.y[0]) / (self.y[1] - self.y[0] or 1)
        return f"{LEFT + across * (WIDTH - LEFT - RIGHT):.1f},{HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM):.1f}"


def intervals_over_checks(once: Sequence[Share], anytime: Sequence[Share]) -> str:
    """Return a figure of the estimate with both intervals, as the checks came in."""
    counts = [share.checks for share in once]
    low = max(0.0, np.floor(min(share.low for share in anytime[len(anytime) // 4 :]) * 10) / 10)
    axes = Axes((0, max(counts)), (float(low), 1.0), ("checks", "right"))
    parts = [_band(axes, counts, anytime, "anytime"), _band(axes, counts, once, "once")]
    middle = " ".join(axes.point(share.checks, max(low, share.estimate)) for share in once)
    parts.append(f'<polyline class="estimate" points="{middle}"/>')
    return _figure(axes, parts, "The share of right predictions, with both intervals, over the number of checks")


def reliability(groups: Sequence[tuple[str, NDArray[np.float64]]], right: NDArray[np.bool_]) -> str:
    """Return a figure of how often predictions are right at each confidence, for confidences before and after."""
    axes = Axes((0, 1), (0, 1), ("confidence", "right"))
    parts = [f'<polyline class="perfect" points="{axes.point(0, 0)} {axes.point(1, 1)}"/>']
    for name, confidence in groups:
        places = np.minimum((confidence * BINS).astype(int), BINS - 1)
        for one in np.unique(places):
            inside = places == one
            x, y = axes.point(confidence[inside].mean(), right[inside].mean()).split(",")
            size = 3 + 12 * np.sqrt(inside.mean())
            parts.append(
                f'<circle class="{name}" cx="{x}" cy="{y}" r="{size:.1f}"><title>{inside.sum()} checks</title></circle>'
            )
    return _figure(axes, parts, "How often predictions are right at each confidence, before and after")


def _band(axes: Axes, counts: Sequence[int], shares: Sequence[Share], name: str) -> str:
    floor = axes.y[0]
    upper = [axes.point(count, max(floor, share.high)) for count, share in zip(counts, shares, strict=True)]
    lower = [axes.point(count, max(floor, share.low)) for count, share in zip(counts, shares, strict=True)]
    return f'<polygon class="{name}" points="{" ".join(upper + lower[::-1])}"/>'


def _figure(axes: Axes, parts: Sequence[str], title: str) -> str:
    lines = []
    step = 0.2 if axes.y[1] - axes.y[0] > 0.5 else 0.1
    for y in np.arange(axes.y[0], axes.y[1] + 1e-9, step):
        at = float(axes.point(axes.x[0], y).split(",")[1])
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{y * 100:.0f} %</text>')
    for x in np.linspace(*axes.x, 6):
        at = float(axes.point(x, axes.y[0]).split(",")[0])
        shown = f"{x:.0f}" if axes.x[1] > 1 else f"{x * 100:.0f} %"
        lines.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{shown}</text>')
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    lines.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{axes.titles[0]}</text>')
    body = "".join([*lines, *parts])
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}"><title>{title}</title>{body}</svg>'
