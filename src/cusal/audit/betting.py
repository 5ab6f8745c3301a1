"""An interval that may be looked at after every check: a confidence sequence by betting.

Given the past, the next item I is drawn with the chance q_I / Q_t, Q_t the sum of q over the items not checked. So

    Z_t = (errors found before + e_I Q_t / q_I) / N,   E[Z_t | past] = e,  the share of wrong predictions

and, if e were m, the wealth  K_t(m) = prod_s (1 + lambda_s (Z_s - m))  of a gambler who bets before each draw would
be a martingale: it exceeds 1 / alpha at any time with a chance of at most alpha (Ville 1939; Waudby-Smith and Ramdas
2023). All m at which neither the gambler on "more" nor the one on "less" is that rich remain possible.

    lambda_t = sqrt(2 log(1 / alpha) / (variance so far * t log(1 + t))),  at most .9 of what could ruin the gambler

Whatever was found bounds e without any chance: errors found / N <= e <= 1 - right ones found / N.
"""

from collections.abc import Callable
from math import log

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats

CAUTION = 0.9
STEPS = 30  # of the bisection: 1e-9
FIRST_VARIANCE = 0.25


def anytime_interval(wrong: Floats, rates: Floats, population: Floats, level: float) -> tuple[float, float]:
    """Return the interval of the share of wrong predictions that holds at all times together.

    Parameters
    ----------
    wrong : (n,) 1 where the prediction of a checked item is wrong, in the order of checking
    rates : (n,) the q of the checked items
    population : (N,) the q of all items
    level : the chance that no interval ever shown leaves out the truth
    """
    size, alpha = len(population), (1 - level) / 2
    draws = _draws(wrong, rates, float(population.sum()), float(population.min()), size)
    bets = _bets(draws[0], alpha)
    known = float(wrong.sum()) / size, 1 - (len(wrong) - float(wrong.sum())) / size
    limit = log(1 / alpha)
    low = _edge(lambda mean: _peak(draws, bets, mean, 1) >= limit, *known)
    high = _edge(lambda mean: _peak(draws, bets, mean, -1) < limit, *known)
    return low, high


Draws = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def _draws(wrong: Floats, rates: Floats, total: float, smallest: float, size: int) -> Draws:
    """Return Z_t, and its smallest and largest possible value given the past, (n,) each."""
    before = np.concatenate([[0.0], np.cumsum(wrong)[:-1]])
    left = np.maximum(total - np.concatenate([[0.0], np.cumsum(rates)[:-1]]), rates)
    return (before + wrong * left / rates) / size, before / size, (before + left / smallest) / size


def _bets(values: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Return the size of each bet, (n,), from the values before it."""
    count = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (count + 1)
    squares = np.cumsum((values - means) ** 2)
    variance = (FIRST_VARIANCE + np.concatenate([[0.0], squares[:-1]])) / count
    return np.asarray(np.sqrt(2 * log(1 / alpha) / (variance * count * np.log1p(count))))


def _peak(draws: Draws, bets: NDArray[np.float64], mean: float, side: int) -> float:
    """Return the largest log wealth so far of who bets that the share is above (1) or below (-1) a mean."""
    values, smallest, largest = draws
    room = mean - smallest if side > 0 else largest - mean
    if (room < 0).any():  # more errors were found than the mean allows: it is impossible
        return float("inf")
    cut = np.where(room > 0, CAUTION / np.maximum(room, 1e-300), np.inf)
    stakes = side * np.minimum(bets, cut)
    return float(np.maximum.accumulate(np.cumsum(np.log1p(stakes * (values - mean)))).max(initial=0.0))


def _edge(rejected_below: Callable[[float], bool], low: float, high: float) -> float:
    """Return the mean in [low, high] at which a test that holds for smaller means only stops to hold."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rejected_below(middle) else (low, middle)
    return (low + high) / 2
