"""Choosing items that cover the doubtful part of a pool: the greedy maximum of a weighted sum of largest kernels.

    picks = argmax over sets B of  sum_n w_n max_{j in B or labelled} k(x_n, x_j)

item by item: next comes the candidate j of the largest gain sum_n w_n max(k(x_n, x_j) - c_n, 0), c_n the largest kernel
of n so far. A gain never grows (the sum is submodular), so that only candidates whose former gain is still the largest
are computed again (Minoux 1978). Equal gains go to the larger w, then to the lower position.

Memory and time are bounded: `CANDIDATES` candidates, drawn in proportion to their weights where there are more items,
and `COVERED` items to be covered: the candidates, and others at random, each of which stands for several.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cusal._spread import TILE_NUMBERS, as_points, nearest_centre, row_squares
from cusal._types import Floats, Indices

CANDIDATES, COVERED = 1500, 10_000
SAMPLE = 1000  # items whose distances tell the scale of all
Array = NDArray[np.float64]
Kernel = Callable[[NDArray], NDArray]  # of squared distances


class Cover:
    """The items to be covered, the candidates that may cover them, and how far they are from labelled items.

    Parameters
    ----------
    points : (n, features) array
        Embeddings of the open items.
    labelled : (m, features) array
        Embeddings of the labelled items.
    weights : (n,) array
        What covering each item is worth, 0 or more.
    count : int
        How many items will be picked.
    rng : numpy.random.Generator
        Asked only where there are more items than are looked at.
    """

    def __init__(
        self, points: Floats, labelled: Floats, weights: Array, *, count: int, rng: np.random.Generator
    ) -> None:
        self.points = as_points(points)
        self.origin = self.points.mean(axis=0, dtype=np.float64).astype(self.points.dtype)
        self.labelled = labelled.astype(self.points.dtype, copy=False) - self.origin
        self.weights = weights
        self.candidates = _draw(weights, max(CANDIDATES, count), rng)
        others = np.setdiff1d(np.arange(len(weights)), self.candidates)
        share = 1.0
        if len(others) > COVERED:
            share = len(others) / COVERED
            others = np.sort(rng.choice(others, COVERED, replace=False))
        self.covered = np.concatenate([self.candidates, others])
        self.worth = weights[self.covered] * np.where(np.arange(len(self.covered)) < len(self.candidates), 1, share)

    def median_distance(self) -> float:
        """Return the median of the distances of two of the items to be covered."""
        step = -(-len(self.covered) // SAMPLE)
        sample = self._rows(np.sort(self.covered)[::step])
        squares = row_squares(sample)
        distances = squares[:, None] + squares - 2 * (sample @ sample.T)
        above = distances[np.triu_indices(len(sample), 1)]
        return float(np.sqrt(max(np.median(above), 0.0))) if len(above) else 0.0

    def nearest_labelled(self) -> Array:
        """Return the distance of each labelled item to the nearest other one, (labelled,)."""
        squares = row_squares(self.labelled)
        nearest = np.empty(len(squares))
        step = max(1, TILE_NUMBERS // max(1, len(squares)))
        for start in range(0, len(squares), step):
            rows = np.arange(start, min(start + step, len(squares)))
            distances = squares[rows, None] + squares - 2 * (self.labelled[rows] @ self.labelled.T)
            distances[np.arange(len(rows)), rows] = np.inf
            nearest[rows] = distances.min(axis=1)
        return np.asarray(np.sqrt(np.maximum(nearest, 0)))

    def pick(self, kernel: Kernel, count: int) -> Indices:
        """Return the rows of `count` candidates, in the order of their choice."""
        covered = self._rows(self.covered)
        squares = row_squares(covered)
        reached = kernel(nearest_centre(covered, squares, self.labelled))  # by labelled items
        kernels = np.empty((len(self.candidates), len(covered)), dtype=np.float32)
        gains = np.empty(len(self.candidates))
        own = covered[: len(self.candidates)]
        step = max(1, TILE_NUMBERS // len(covered))
        for start in range(0, len(own), step):
            rows = np.arange(start, min(start + step, len(own)))
            distances = squares[rows, None] + squares - 2 * (own[rows] @ covered.T)
            distances[rows - start, rows] = 0
            kernels[rows] = kernel(np.maximum(distances, 0))
            gains[rows] = np.maximum(kernels[rows] - reached, 0) @ self.worth
        return self._greedy(kernels, gains, reached, count)

    def _greedy(self, kernels: NDArray[np.float32], gains: Array, reached: Array, count: int) -> Indices:
        fresh = np.ones(len(gains), dtype=bool)
        weights = self.weights[self.candidates]
        chosen = np.empty(count, dtype=np.int64)
        for i in range(count):
            while True:
                best = np.flatnonzero(gains == gains.max())
                row = int(best[np.argmax(weights[best])])
                if fresh[row]:
                    break
                gains[row] = np.maximum(kernels[row] - reached, 0) @ self.worth
                fresh[row] = True
            chosen[i] = row
            np.maximum(reached, kernels[row], out=reached)
            gains[row] = -np.inf
            fresh[:] = False
            fresh[row] = True
        return self.candidates[chosen]

    def _rows(self, rows: Indices) -> Floats:
        """Return some points around the mean of all: their squares then cancel little."""
        return np.asarray(self.points[rows] - self.origin)


def _draw(weights: Array, count: int, rng: np.random.Generator) -> Indices:
    """Return `count` rows in ascending order, drawn in proportion to their weights; all of them if they are no more."""
    if count >= len(weights):
        return np.arange(len(weights))
    with np.errstate(divide="ignore"):
        keys = np.log(np.maximum(weights, np.finfo(np.float64).tiny)) - np.log(-np.log(rng.random(len(weights))))
    return np.sort(np.argpartition(keys, len(weights) - count)[len(weights) - count :]).astype(np.int64)
