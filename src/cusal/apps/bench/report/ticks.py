"""The range of an axis, the ticks on it, and where a value stands between its ends."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from cusal.apps.bench.report.curves import Values

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
