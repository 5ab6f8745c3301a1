"""Confidence against accuracy, bin by bin: what a reliability diagram shows and the calibration metrics average."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_count
from cusal._types import Floats


@dataclass(frozen=True)
class Reliability:
    """Equal-width bins of scores in [0, 1]: `count`, mean `score` and share of `hits` of each, (bins,).

    A bin holds its left end, and the last one holds 1 too. An empty bin has score and hits 0.
    """

    count: NDArray[np.int64]
    score: NDArray[np.float64]
    hits: NDArray[np.float64]

    @property
    def gap(self) -> NDArray[np.float64]:
        """(bins,) the distance between mean score and share of hits."""
        return np.abs(self.score - self.hits)

    @property
    def share(self) -> NDArray[np.float64]:
        """(bins,) the share of all items in each bin."""
        return np.asarray(self.count / self.count.sum())


def reliability(scores: Floats, hits: NDArray[np.bool_] | Floats, bins: int = 10) -> Reliability:
    """Give the bins of (n,) scores and whether each was a hit, or the chance that it is one."""
    bins = as_count(bins, "bins")
    place = np.clip(np.searchsorted(np.linspace(0, 1, bins + 1), scores, side="right") - 1, 0, bins - 1)
    count = np.bincount(place, minlength=bins)
    score_sum = np.bincount(place, weights=scores.astype(np.float64), minlength=bins)
    hit_sum = np.bincount(place, weights=hits.astype(np.float64), minlength=bins)
    return Reliability(count, score_sum / np.maximum(count, 1), hit_sum / np.maximum(count, 1))
