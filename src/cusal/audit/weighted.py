"""The share of right predictions in a finite data set, from items checked in the audit's order.

    t = key of the next item      pi_i = 1 - exp(-q_i t)      w_i = 1 / pi_i      v_i = (1 - pi_i) / pi_i^2
    x_i = (c_i - mean c) / sd c over all N
    (b0, b1) minimise  sum v_i (y_i - b0 - b1 x_i)^2 + 10 mean(v) b1^2;   R_i the residuals, h_i their leverage
    accuracy = b0 + sum w R / sum w,   e = clip(1 - accuracy, 0, 1)
    V = sum v_i (R_i / max(1 - h_i, .02))^2 / N^2

Interval of e (Wilson 1927, generalised to weights; its width is never 0 before all items are checked):

    W_i = w_i / N,  M = max W,  f = 1 - n / N
    A_up = f (sum_wrong W^2 + M^2) / (sum_wrong W + M)
    A_down = f sum_wrong W^2 / sum_wrong W,  f M if none is wrong
    upper = e + d:  (1 + z^2 A_up) d^2 - z^2 A_up (1 - 2 e) d - z^2 V = 0
    lower = e - d:  (1 + z^2 A_down) d^2 + z^2 A_down (1 - 2 e) d - z^2 V = 0

Inside a part of the items (a class, a slice) there is no regression, and W_i = w_i / sum w, V = sum v R'^2 / (sum w)^2:
how many of its items were checked is left to chance, and an interval must know that number. A part of which every item
was checked is known exactly.

| symbol | name |
|---|---|
| q_i, pi_i | `rates`, `chances` (n,) of the checked items to be among them |
| y_i | `right` (n,) |
| x_i | `scores` (n,), None inside a slice, which goes without the regression |
| A_up, A_down, V | `Spread` |
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from cusal._types import Floats

RIDGE = 10.0
LEAST_REST = 0.02  # of 1 - leverage


@dataclass(frozen=True)
class Sample:
    """Checked items of a population of `size`: whether each prediction is right, (n,), and its chance to be checked.

    scores: (n,) standardised confidences; None for an estimate without regression. is_part: whether the population is
    a part of the one that the order goes through, so that the number of its checks is left to chance.
    """

    right: NDArray[np.float64]
    chances: NDArray[np.float64]
    size: int
    scores: NDArray[np.float64] | None = None
    is_part: bool = False

    def __len__(self) -> int:
        return len(self.right)


@dataclass(frozen=True)
class Spread:
    """An estimated share of wrong predictions, and what its interval is made of."""

    error: float
    variance: float
    up: float
    down: float

    def interval(self, z: float) -> tuple[float, float]:
        """Return the lower and the upper end for z standard deviations.

        >>> low, high = Spread(0.1, 0.1 * 0.9 / 50, 1 / 50, 1 / 50).interval(1.96)  # Wilson's, of 5 in 50
        >>> round(low, 4), round(high, 4)
        (0.0435, 0.2136)
        """
        low = self.error - _root(1 + z**2 * self.down, z**2 * self.down * (1 - 2 * self.error), z**2 * self.variance)
        high = self.error + _root(1 + z**2 * self.up, -(z**2) * self.up * (1 - 2 * self.error), z**2 * self.variance)
        return max(0.0, low), min(1.0, high)


def _root(square: float, linear: float, constant: float) -> float:
    """Return the positive solution d of square d^2 + linear d - constant = 0."""
    return (-linear + sqrt(linear**2 + 4 * square * constant)) / (2 * square)


def deviations(level: float, *, sides: int = 2) -> float:
    """Return how many standard deviations an interval of this level has on each side."""
    return float(norm.ppf(1 - (1 - level) / sides))


def chances(rates: Floats, next_key: float) -> NDArray[np.float64]:
    """Return the chance of each item to come before the next key."""
    return np.asarray(-np.expm1(-rates * next_key))


def spread(sample: Sample) -> Spread:
    """Return the estimated share of wrong predictions in the population, with its spread."""
    if len(sample) == sample.size:
        return Spread(1 - float(sample.right.mean()), 0.0, 0.0, 0.0)
    weights = 1 / sample.chances
    total = float(weights.sum()) if sample.is_part else sample.size
    variances = (1 - sample.chances) * weights**2
    residuals, leverage, constant = _regression(sample, variances)
    error = float(np.clip(1 - (constant + (weights @ residuals) / weights.sum()), 0, 1))
    variance = float(variances @ (residuals / np.maximum(1 - leverage, LEAST_REST)) ** 2) / total**2
    shares = weights / total
    wrong = shares[sample.right == 0]
    largest, left = float(shares.max()), 1 - len(sample) / sample.size
    up = left * float(wrong @ wrong + largest**2) / float(wrong.sum() + largest)
    down = left * (float(wrong @ wrong) / float(wrong.sum()) if len(wrong) else largest)
    return Spread(error, variance, up, down)


def _regression(
    sample: Sample, variances: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return residuals (n,), leverages (n,) and the constant of the weighted ridge regression on the scores."""
    total = float(variances.sum())
    if total == 0:  # every item is checked
        return sample.right, np.zeros(len(sample)), 0.0
    if sample.scores is None:
        constant = float(variances @ sample.right) / total
        return sample.right - constant, np.asarray(variances / total), constant
    design = np.column_stack([np.ones(len(sample)), sample.scores])
    gram = design.T @ (variances[:, None] * design)
    gram[1, 1] += RIDGE * total / len(sample)
    inverse = np.linalg.inv(gram)
    line = inverse @ (design.T @ (variances * sample.right))
    leverage = variances * np.einsum("ij,jk,ik->i", design, inverse, design)
    return sample.right - design @ line, leverage, float(line[0])
