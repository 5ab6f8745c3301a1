"""Macro-F1 of a finite data set from weighted checks, with an interval by linearisation.

    F_k = 2 T_k / (P_k + C_k),  macro-F1 = mean_k F_k
    z_i = sum_k (2 [predicted k and right] - F_k [truly k]) / (P_k + C_k) / K     V = sum v_i (z_i - z)^2 (n / (n - 1))

T_k are the right predictions of class k and C_k the items truly of it, both estimated with the weights w_i = 1 / pi_i,
scaled to sum to N; P_k, the predictions of class k, is known (Sarndal, Swensson and Wretman 1992, chapter 5). One
error that was not met is added to V: where almost all is right, the sample alone looks too certain.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices
from cusal.audit.estimates import Share

LEAST = 10  # checks of each class, below which nothing is said


@dataclass(frozen=True)
class CheckedClasses:
    """Checked items with their predicted and true class numbers, (n,) each, and their chance to be checked."""

    predicted: Indices
    true: Indices
    chances: NDArray[np.float64]


def macro_f1(sample: CheckedClasses, counts: Indices, *, z: float, level: float) -> Share:
    """Return macro-F1 with its interval; `counts` are the predictions of each class in the whole data set, (K,)."""
    weights = 1 / sample.chances
    scale = counts.sum() / weights.sum()
    right = sample.predicted == sample.true
    hits = scale * np.bincount(sample.true[right], weights[right], minlength=len(counts))
    actual = scale * np.bincount(sample.true, weights, minlength=len(counts))
    there = (counts + actual) > 0
    total = np.where(there, counts + actual, 1.0)
    f1 = 2 * hits / total
    share = np.where(right, 2 / total[sample.true], 0) - f1[sample.true] / total[sample.true]
    variances = (1 - sample.chances) * weights**2
    centred = share - (weights @ share) / weights.sum()
    count = len(weights)
    # As in the score interval of accuracy, one more error is allowed for, where the weight is largest.
    unseen = float(variances.max() * (2 / total[there]).mean() ** 2)
    deviation = sqrt(float(variances @ centred**2) * count / max(1, count - 1) + unseen) / there.sum()
    mean = float(f1[there].mean())
    return Share(mean, max(0.0, mean - z * deviation), min(1.0, mean + z * deviation), count, level)
