"""Small figures as SVG, which a page can hold as they are: intervals over checks, and reliability."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cusal.audit.estimates import Share

WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 22, 12, 40
BINS = 10


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
