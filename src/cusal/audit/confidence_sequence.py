"""An interval that may be looked at after every check: a confidence sequence by betting.

Given the past, the next item I is drawn with the chance q_I / Q_t, Q_t the sum of q over the items not checked. With
a = 1 - c, A_t its sum over the items not checked, and a control variate beta_t from the past,

    Z_t = (errors found before + beta_t A_t) / N + (e_I - beta_t a_I) Q_t / (q_I N)
    E[Z_t | past] = e,  the share of wrong predictions
    beta_t = sum w e a / (sum w a^2 + 10 mean a^2),  w = 1 / q,  cut to [0, 1]

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

from cusal._types import Floats, Indices

CAUTION = 0.9
STEPS = 30  # of the bisection: 1e-9
FIRST_VARIANCE = 0.25
SHRINKAGE = 10.0  # of the control variate
GRID = 11


def anytime_interval(wrong: Floats, items: Indices, rates: Floats, doubts: Floats, level: float) -> tuple[float, float]:
    """Return the interval of the share of wrong predictions that holds at all times together.

    Parameters
    ----------
    wrong : (n,) 1 where the prediction of a checked item is wrong, in the order of checking
    items : (n,) the positions of the checked items
    rates : (N,) the q of all items
    doubts : (N,) one minus the confidence of all items
    level : the chance that no interval ever shown leaves out the truth
    """
    size, alpha = len(rates), (1 - level) / 2
    draws = _draws(wrong, items, rates, doubts)
    bets = _bets(draws[0], alpha)
    known = float(wrong.sum()) / size, 1 - (len(wrong) - float(wrong.sum())) / size
    limit = log(1 / alpha)
    low = _edge(lambda mean: _peak(draws, bets, mean, 1) >= limit, *known)
    high = _edge(lambda mean: _peak(draws, bets, mean, -1) < limit, *known)
    return low, high


Draws = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def _draws(wrong: Floats, items: Indices, rates: Floats, doubts: Floats) -> Draws:
    """Return Z_t, and its smallest and largest possible value given the past, (n,) each."""
    size, q, a = len(rates), rates[items], doubts[items]
    left = np.maximum(float(rates.sum()) - _before(q), q)
    products, squares = _before(wrong * a / q), _before(a**2 / q)
    slope = np.clip(products / np.maximum(squares + SHRINKAGE * float((doubts**2).mean()), 1e-300), 0, 1)
    known = (_before(wrong) + slope * np.maximum(float(doubts.sum()) - _before(a), a)) / size
    grid = np.linspace(0, 1, GRID)  # the largest (1 - beta a) / q is convex in beta: between two points it is below
    largest = np.interp(slope, grid, [float(((1 - beta * doubts) / rates).max()) for beta in grid])
    values = known + (wrong - slope * a) * left / q / size
    return values, known - slope * left * float((doubts / rates).max()) / size, known + largest * left / size


def _before(values: Floats) -> NDArray[np.float64]:
    """Return the sum of the values before each, (n,)."""
    return np.concatenate([[0.0], np.cumsum(values)[:-1]])


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
