"""A pair of axes drawn as SVG: lines, bands, points and bars in the units of the data.

The SVG is written directly: a report has dozens of panels, and each takes a millisecond so.
"""

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from cusal.apps.bench.report.curves import Values
from cusal.apps.bench.report.marks import marker, stroke
from cusal.apps.bench.report.styles import GRID, INK, Style

# The range of an axis, the ticks on it, and where a value stands between its ends.


_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_ROUNDING = 1e-9  # of a step: sums of steps are not exact


@dataclass
class Axis:
    """One axis: its title, its range and its ticks.

    Parameters
    ----------
    title : str
        What is counted along it.
    low, high : float or None
        The ends; None for those of the data with a margin.
    margin : float
        As a share of the data's range.
    log : bool
        Whether equal distances are equal factors.
    whole : bool
        Whether ticks stand at whole numbers alone.
    most : int
        About how many ticks there are.
    named : list of (float, str)
        The ticks themselves, where they are not to be found from the range.
    grid : bool
        Whether a line crosses the figure at each tick.
    """

    title: str = ""
    low: float | None = None
    high: float | None = None
    margin: float = 0.05
    log: bool = False
    whole: bool = False
    most: int = 6
    named: list[tuple[float, str]] = field(default_factory=list)
    grid: bool = True
    _met: list[float] = field(default_factory=list)

    def meet(self, values: ArrayLike) -> None:
        """Take values into account for the ends."""
        found = np.asarray(values, dtype=np.float64)
        found = found[np.isfinite(found) & (found > 0 if self.log else True)]
        if found.size:
            self._met += [float(found.min()), float(found.max())]

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value on the axis."""
        low, high = (min(self._met), max(self._met)) if self._met else (0.1 if self.log else 0.0, 1.0)
        if self.log:
            room = (high / low) ** self.margin if high > low else 2.0
            low, high = low / room, high * room
        else:
            room = self.margin * (high - low) if high > low else 0.5 * (abs(high) or 1.0)
            low, high = low - room, high + room
        low, high = low if self.low is None else self.low, high if self.high is None else self.high
        return (low, high) if high != low else (low, low + 1.0)

    def share(self, values: ArrayLike) -> Values:
        """Return how far each value is from the low end to the high one, kept between the two."""
        low, high = self.ends
        numbers = np.asarray(values, dtype=np.float64)
        if self.log:
            low, high, numbers = np.log(low), np.log(high), np.log(np.maximum(numbers, low))
        shares: Values = (numbers - low) / (high - low)
        return np.clip(shares, 0.0, 1.0)

    def ticks(self) -> list[tuple[float, str]]:
        """Return value and text of every tick."""
        if self.named:
            return self.named
        low, high = self.ends
        return _by_factors(low, high) if self.log else _by_steps(low, high, self.most, whole=self.whole)


def _by_steps(low: float, high: float, most: int, *, whole: bool) -> list[tuple[float, str]]:
    raw = (high - low) / max(1, most)
    power = 10.0 ** np.floor(np.log10(raw))
    step = float(next(s for s in _STEPS if s * power >= raw * (1 - _ROUNDING)) * power)
    if whole and step != round(step):
        step = float(np.ceil(step))
    first, last = np.ceil(low / step - _ROUNDING), np.floor(high / step + _ROUNDING)
    places = [float(number * step) for number in np.arange(first, last + 1)]
    decimals = max(0, 1 - int(np.floor(np.log10(step))))
    if all(round(place, decimals - 1) == round(place, decimals) for place in places):
        decimals = max(0, decimals - 1)
    return [(place, signed(f"{place:.{decimals}f}")) for place in places]


def _by_factors(low: float, high: float) -> list[tuple[float, str]]:
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    between = (1, 2, 5) if np.log10(high / low) < 2.5 else (1,)
    places = [factor * 10.0**power for power in powers for factor in between]
    return [(place, f"{place:g}") for place in places if low * (1 - 1e-9) <= place <= high * (1 + 1e-9)]


def signed(number: str) -> str:
    """Return a number with a minus sign of the width of a plus, and no sign before zero.

    >>> signed("-0.5"), signed("-0.00")
    ('\u22120.5', '0.00')
    """
    bare = number.removeprefix("-")
    return bare if float(bare) == 0 or bare == number else f"\u2212{bare}"


POINTS = 72  # to the inch
FONT, SMALL, LARGE = 10.0, 9.0, 11.0
_LETTER = 0.62  # mean width of a letter, in font sizes
_GAP = 5.0
MIDDLE = 'text-anchor="middle"'


@dataclass(frozen=True)
class Frame:
    """Where the data are drawn, in points from the upper left corner, and the two axes."""

    left: float
    top: float
    width: float
    height: float
    x: Axis
    y: Axis

    def across(self, values: ArrayLike) -> Values:
        """Return the horizontal places of values."""
        return self.left + self.x.share(values) * self.width

    def down(self, values: ArrayLike) -> Values:
        """Return the vertical places of values."""
        return self.top + (1 - self.y.share(values)) * self.height


Mark = Callable[[Frame], str]


class Axes:
    """What a panel is drawn on.

    Parameters
    ----------
    size : (float, float)
        Width and height in inches.
    title : str
        What stands above.

    Attributes
    ----------
    x, y : Axis
        The axes, to be given titles and ends.
    square : bool
        Whether the frame is as wide as it is high.
    """

    def __init__(self, size: tuple[float, float], title: str = "") -> None:
        self.x, self.y = Axis(margin=0.02, whole=True), Axis()
        self.square = False
        self._width, self._height = size[0] * POINTS, size[1] * POINTS
        self._title = textwrap.wrap(title, int(8 * size[0]))
        self._marks: list[Mark] = []

    def line(
        self, x: ArrayLike, y: ArrayLike, look: Style, *, marked: Sequence[int] = (), opacity: float = 1.0
    ) -> None:
        """Draw a line through points, broken where one is not a number; `marked` ones have a marker."""
        xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        there = np.isfinite(xs) & np.isfinite(ys)
        self._meet(xs[there], ys[there])

        def draw(frame: Frame) -> str:
            across, down = frame.across(xs), frame.down(ys)
            path = " ".join(
                "M" + "L".join(f"{across[i]:.1f} {down[i]:.1f}" for i in run) for run in _runs(there) if len(run) > 1
            )
            faint = f' opacity="{opacity:g}"' if opacity < 1 else ""
            line = f'<path d="{path}" {stroke(look)}{faint}/>' if path else ""
            return line + "".join(marker(look, across[i], down[i], 2.6) for i in marked if there[i])

        self._add(draw, look)

    def band(self, x: ArrayLike, middle: Values, spread: Values, look: Style, *, opacity: float = 0.1) -> None:
        """Fill the area around a line, as far as the spread reaches to both sides."""
        xs, low, high = np.asarray(x, dtype=np.float64), middle - spread, middle + spread
        there = np.isfinite(xs) & np.isfinite(low)
        self._meet(xs[there], low[there], high[there])

        def draw(frame: Frame) -> str:
            across, above, below = frame.across(xs), frame.down(high), frame.down(low)
            areas = (
                [f"{across[i]:.1f} {above[i]:.1f}" for i in run]
                + [f"{across[i]:.1f} {below[i]:.1f}" for i in run[::-1]]
                for run in _runs(there)
            )
            path = "".join(f"M{'L'.join(corners)}Z" for corners in areas)
            return f'<path d="{path}" fill="{look.colour}" opacity="{opacity:g}"/>' if path else ""

        self._add(draw, look)

    def points(self, x: ArrayLike, y: ArrayLike, look: Style, *, radius: ArrayLike = 3.7, hollow: bool = False) -> None:
        """Draw a marker at each point, of one radius or of one each."""
        xs, ys = np.atleast_1d(np.asarray(x, dtype=np.float64)), np.atleast_1d(np.asarray(y, dtype=np.float64))
        there = np.flatnonzero(np.isfinite(xs) & np.isfinite(ys))
        self._meet(xs[there], ys[there])
        radii = np.broadcast_to(np.asarray(radius, dtype=np.float64), xs.shape)

        def draw(frame: Frame) -> str:
            across, down = frame.across(xs), frame.down(ys)
            return "".join(marker(look, across[i], down[i], radii[i], hollow=hollow) for i in there)

        self._add(draw, look)

    def boxes(self, x: ArrayLike, y: ArrayLike, look: Style) -> None:
        """Fill rectangles: (n, 2) from left to right, and (n, 2) from bottom to top."""
        xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        self._meet(xs, ys)

        def draw(frame: Frame) -> str:
            across, down = frame.across(xs), frame.down(ys)
            return "".join(
                f'<rect x="{min(a):.1f}" y="{min(d):.1f}" width="{abs(a[1] - a[0]):.1f}" '
                f'height="{abs(d[1] - d[0]):.1f}" fill="{look.colour}"/>'
                for a, d in zip(across, down, strict=True)
            )

        self._add(draw, look)

    def words(self, x: float, y: float, text: str, look: Style | None = None) -> None:
        """Write a short text to the right of a point."""

        def draw(frame: Frame) -> str:
            place = float(frame.across(x)) + 4, float(frame.down(y)) + SMALL / 3
            return _text(*place, text, SMALL)

        self._add(draw, look)

    def rule(self, y: float) -> None:
        """Draw a thin line across, at one height."""
        self.y.meet([y])

        def draw(frame: Frame) -> str:
            at = float(frame.down(y))
            return _line(frame.left, at, frame.left + frame.width, at, INK[0])

        self._add(draw, None)

    def svg(self) -> str:
        """Return the drawing as SVG elements, in points from the upper left corner."""
        frame = self._frame()
        return "".join([*self._scaffold(frame), *(mark(frame) for mark in self._marks)])

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in points."""
        return self._width, self._height

    def _meet(self, x: Values, *y: Values) -> None:
        self.x.meet(x)
        for values in y:
            self.y.meet(values)

    def _add(self, mark: Mark, look: Style | None) -> None:
        number = None if look is None else look.number
        self._marks.append(mark if number is None else lambda frame: f'<g class="series s{number}">{mark(frame)}</g>')

    def _frame(self) -> Frame:
        across, up = self.x.ticks(), self.y.ticks()
        left = 2 + max((_wide(text, SMALL) for _, text in up), default=0) + _GAP + (FONT + 4 if self.y.title else 0)
        right = 2 + max(_wide(across[-1][1], SMALL) / 2 if across else 0, 4)
        top = len(self._title) * (LARGE + 3) + 6
        bottom = SMALL + _GAP + 2 + (FONT + 5 if self.x.title else 0)
        width, height = self._width - left - right, self._height - top - bottom
        if self.square:
            width = height = min(width, height)
        return Frame(left, top, width, height, self.x, self.y)

    def _scaffold(self, frame: Frame) -> Iterable[str]:
        """Yield title, grid, axes, ticks and their titles."""
        end, bottom = frame.left + frame.width, frame.top + frame.height
        for i, words in enumerate(self._title, start=1):
            yield _text(frame.left, i * (LARGE + 3), words, LARGE, 'font-weight="bold"')
        for value, words in self.x.ticks():
            at = float(frame.across(value))
            if self.x.grid:
                yield _line(at, frame.top, at, bottom, GRID[0])
            yield _text(at, bottom + SMALL + _GAP, words, SMALL, MIDDLE)
        for value, words in self.y.ticks():
            at = float(frame.down(value))
            if self.y.grid:
                yield _line(frame.left, at, end, at, GRID[0])
            yield _text(frame.left - _GAP, at + SMALL / 3, words, SMALL, 'text-anchor="end"')
        yield _line(frame.left, frame.top, frame.left, bottom, INK[0])
        yield _line(frame.left, bottom, end, bottom, INK[0])
        middle = frame.left + frame.width / 2
        yield _text(middle, bottom + SMALL + _GAP + FONT + 4, self.x.title, FONT, MIDDLE)
        across, down = FONT, frame.top + frame.height / 2
        yield _text(across, down, self.y.title, FONT, f'{MIDDLE} transform="rotate(-90 {across:.1f} {down:.1f})"')


def _runs(there: np.ndarray) -> list[np.ndarray]:
    """Return the runs of consecutive points that are there."""
    places = np.flatnonzero(there)
    return np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(places) else []


def _wide(text: str, size: float) -> float:
    return _LETTER * size * len(text)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{0.6 if colour == GRID[0] else 0.8}"/>'


def _text(x: float, y: float, words: str, size: float, attributes: str = "") -> str:
    if not words:
        return ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{INK[0]}" {attributes}>{escape(words)}</text>'
