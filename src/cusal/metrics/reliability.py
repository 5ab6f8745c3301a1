"""Confidence against accuracy, bin by bin: what a reliability diagram shows and the calibration metrics average."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_count
from cusal._types import Floats


@dataclass(frozen=True)
class Reliability:
    """Scores in [0, 1] and how often they were right, in bins of equal width: the data of a reliability diagram.

    A bin includes its left end, and the last one includes 1 as well. An empty bin has score and hits 0.

    Attributes
    ----------
    count : (bins,) int64 array
        Number of items in each bin.
    score : (bins,) array
        Mean score of the items in each bin.
    hits : (bins,) array
        Share of the items in each bin that were hits.

    Examples
    --------
    >>> bins = reliability(np.array([0.1, 0.9, 0.7]), np.array([False, True, False]), bins=2)
    >>> bins.count, bins.hits, bins.gap.round(3)
    (array([1, 2]), array([0. , 0.5]), array([0.1, 0.3]))
    """

    count: NDArray[np.int64]
    score: NDArray[np.float64]
    hits: NDArray[np.float64]

    @property
    def gap(self) -> NDArray[np.float64]:
        """(bins,) absolute difference between the mean score and the share of hits."""
        return np.abs(self.score - self.hits)

    @property
    def share(self) -> NDArray[np.float64]:
        """(bins,) share of all items that each bin holds."""
        return np.asarray(self.count / self.count.sum())


def reliability(scores: Floats, hits: NDArray[np.bool_] | Floats, bins: int = 10) -> Reliability:
    """Return scores in bins of equal width, with the share of hits in each.

    Parameters
    ----------
    scores : (n,) array
        Numbers in [0, 1], such as confidences.
    hits : (n,) array of bool or float
        Whether each item was a hit, or the probability that it is one.
    bins : int, default 10
        Number of bins.

    Returns
    -------
    Reliability
        `count`, `score`, `hits`, `gap` and `share`, each (bins,).

    Raises
    ------
    InvalidInput
        If `bins` is not a whole number above zero.

    Examples
    --------
    >>> reliability(np.array([0.2, 0.9]), np.array([False, True]), bins=2).gap.round(3)
    array([0.2, 0.1])
    """
    bins = as_count(bins, "bins")
    place = np.clip(np.searchsorted(np.linspace(0, 1, bins + 1), scores, side="right") - 1, 0, bins - 1)
    count = np.bincount(place, minlength=bins)
    score_sum = np.bincount(place, weights=scores.astype(np.float64), minlength=bins)
    hit_sum = np.bincount(place, weights=hits.astype(np.float64), minlength=bins)
    return Reliability(count, score_sum / np.maximum(count, 1), hit_sum / np.maximum(count, 1))
