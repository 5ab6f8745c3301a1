"""How many checks an interval of a wanted width takes.

With m checks in place of n, of N items:  V_m = V (n / m) (1 - m / N) / (1 - n / N),  A_m = A n / m.
The number found this way was between .65 and 1.8 times the true one in 80 of 100 trials with 100 checks.
"""

from dataclasses import replace
from math import ceil

from cusal.audit.estimates import Needed
from cusal.audit.weighted import Spread

MOST_TOO_LOW, MOST_TOO_HIGH = 0.65, 1.8


def needed(spread: Spread, done: int, size: int, *, half_width: float, z: float) -> Needed:
    """Return how many of `size` items have to be checked so that the interval is +- `half_width`."""
    if half_width_after(spread, done, done, size, z) <= half_width:
        return Needed(done, done, done, done)
    low, high = done, size  # too few, enough
    while high - low > 1:
        middle = (low + high) // 2
        if half_width_after(spread, done, middle, size, z) <= half_width:
            high = middle
        else:
            low = middle
    return Needed(high, max(done, ceil(high / MOST_TOO_HIGH)), min(size, ceil(high / MOST_TOO_LOW)), done)


def half_width_after(spread: Spread, done: int, checks: int, size: int, z: float) -> float:
    """Return half the width of the interval to expect after so many checks."""
    if checks >= size:
        return 0.0
    ratio = done / checks
    variance = spread.variance * ratio * (1 - checks / size) / (1 - done / size)
    low, high = replace(spread, variance=variance, up=spread.up * ratio, down=spread.down * ratio).interval(z)
    return (high - low) / 2
