"""Features of a pool, each moved halfway to the mean of its neighbours.

    w_ij = exp(-d_ij^2 / (s_i s_j)) for the 10 nearest j of i,   W = max(W, W')
    R    = D^-1/2 W D^-1/2 with rows divided by their sums
    U    = (1 - t) A + t R A, then centred and divided by its root mean squared norm
    u(x) = (1 - t) a(x) + t sum_j w_xj a_j / sum_j w_xj for an item x outside, centred and divided alike

Local scales s: Zelnik-Manor and Perona 2004, "Self-tuning spectral clustering"; the normalised graph: Zhou et al.
2004, "Learning with local and global consistency", of which this is one step.

| symbol | name | meaning |
|---|---|---|
| A, a | A, rows | encoded items of the pool, of others (`_encoding`) |
| d, s | squared, reach | distance of neighbours, distance to the furthest of them |
| t | smoothing | length of the step |
| U | U | smoothed features |
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np
from scipy.sparse import csr_matrix, diags

from cusal._stored import expect, stored_array, stored_indices, stored_number
from cusal._types import Floats, Indices
from cusal.models._encoding import SMALLEST_SCALE, Encoding, Standardise, root_mean_square
from cusal.models._neighbours import Neighbours
from cusal.models._row_hashes import fingerprint, row_hashes

STATE = ("A", "near", "reach", "mean", "scale", "order", "hashes")
BLOCK = 8192  # items that are smoothed at a time
SMALLEST_REACH = 1e-6  # where all neighbours are equal; items have norm 1 on average


@dataclass(frozen=True)
class Settings:
    """What the smoothed features depend on besides the pool."""

    neighbours: int
    smoothing: float
    standardise: Standardise


class SmoothedPool:
    """The smoothed features of a pool, and of items outside it, in float32. Copies of a model share it.

    A, U: encoded and smoothed features, (n, d). near: the neighbours of each item, (n, count). reach: how far they are,
    (n,). hashes: of the rows, sorted, which lie at the positions `order`.
    """

    def __init__(self, X: Any, settings: Settings) -> None:
        self.settings = settings
        self.encoding = Encoding.learn(X, settings.standardise)
        self.A = self.encoding.dense(X).astype(np.float32)
        self.index = Neighbours(self.encoding.places(self.A))
        self.near = self.index.of_pool(min(settings.neighbours, len(self.A) - 1))
        smoothed, self.reach = self._smooth()
        self.mean = smoothed.mean(axis=0, dtype=np.float64)
        self.scale = root_mean_square(smoothed - self.mean.astype(np.float32))
        self.U = self._scaled(smoothed)
        hashes = row_hashes(X)
        self.order = np.argsort(hashes, kind="stable")  # of equal rows the first one stands for all
        self.hashes = hashes[self.order]

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # it never changes

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs, as plain values and arrays: all but what follows from it in a second."""
        own = {name: getattr(self, name) for name in STATE}
        smaller = {"near": self.near.astype(np.int32), "order": self.order.astype(np.int32)}
        return own | smaller | {"settings": astuple(self.settings), "centres": self.index.centres}

    @classmethod
    def restore(cls, state: Mapping[str, Any], encoding: Encoding) -> Self:
        """Return the pool of a `state`; the pool's own features are computed when an item of it is met."""
        pool = cls.__new__(cls)
        vars(pool).update({name: state[name] for name in STATE})
        n, columns = stored_array(pool.A, "the pool", None, len(encoding.mean)).shape
        pool.near = stored_indices(pool.near, "the neighbours", n, None, below=n)
        pool.order = stored_indices(pool.order, "the order", n, below=n)
        stored_array(pool.hashes, "the hashes", n, kinds="u")
        expect(pool.near.shape[1] > 0 and pool.hashes.dtype.itemsize == 8, "the neighbours")
        expect((stored_array(pool.reach, "the reach", n) > 0).all(), "the reach")
        stored_array(pool.mean, "the mean", columns)
        stored_number(pool.scale, "the scale", SMALLEST_SCALE, np.inf)
        pool.settings, pool.encoding = Settings(*state["settings"]), encoding
        stored_number(pool.settings.smoothing, "the smoothing", 0, 1)
        centres = state["centres"]
        if centres is not None:
            expect(0 < len(stored_array(centres, "the cells", None, columns)) ** 2 <= n, "the number of cells")
        pool.index = Neighbours(encoding.places(pool.A), centres)
        return pool

    @cached_property
    def U(self) -> Floats:  # noqa: N802 - the symbol of the formula
        """(n, d): the smoothed features of the pool."""
        return self._scaled(self._smooth()[0])

    def features(self, X: Any) -> Floats:
        """Return the smoothed features of items, (n, d); those of the pool are looked up."""
        hashes = row_hashes(X)
        place = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        known = self.hashes[place] == hashes
        if known.all():
            found: Floats = self.U[self.order[place]]
            return found
        features = np.empty((len(known), self.A.shape[1]), dtype=self.A.dtype)
        if known.any():
            features[known] = self.U[self.order[place[known]]]
        features[~known] = self._outside(self.encoding.dense(X[np.flatnonzero(~known)]))
        return features

    def sample(self, size: int) -> Floats:
        """Return some rows of the smoothed features, the same ones in whatever order the pool was given."""
        rows: Floats = self.U[self.order[:size]]
        return rows

    def _outside(self, rows: Floats) -> Floats:
        points = self.encoding.places(rows)
        near = self.index.find(points, self.near.shape[1])
        squared = _squared(points, near, self.index.points)
        reach = _reach(squared)
        weights = np.exp(-squared / (reach[:, None] * self.reach[near]))
        weights += np.finfo(np.float64).tiny  # far from everything all neighbours count alike
        weights /= weights.sum(axis=1, keepdims=True)
        step = self.settings.smoothing
        moved = (1 - step) * rows + step * np.einsum("ij,ijk->ik", weights, self.A[near])
        features: Floats = (moved - self.mean) / self.scale
        return features

    def _smooth(self) -> tuple[Floats, Floats]:
        """Return the pool's features after the step, and how far the neighbours of each item reach."""
        n, step, near = len(self.A), self.settings.smoothing, self.near
        squared = _squared(self.index.points, near, self.index.points)
        reach = _reach(squared)
        weights = np.exp(-squared / (reach[:, None] * reach[near]))
        rows = np.repeat(np.arange(n), near.shape[1])
        graph = csr_matrix((weights.ravel(), (rows, near.ravel())), shape=(n, n))
        graph = graph.maximum(graph.T)
        degree = np.asarray(graph.sum(axis=1)).ravel()
        # D^-1/2 on the left cancels when rows are divided by their sums.
        graph = graph @ diags(1 / np.sqrt(np.maximum(degree, np.finfo(np.float64).tiny)))
        total = np.asarray(graph.sum(axis=1)).ravel()
        alone = total <= 0  # an item without weight to any neighbour stays where it is
        graph = (diags(1 / np.where(alone, 1, total)) @ graph).tocsr()
        smoothed = np.empty_like(self.A)
        for start in range(0, n, BLOCK):  # of float64, in which the whole would be twice the pool
            block = slice(start, start + BLOCK)
            means = graph[block] @ self.A
            means[alone[block]] = self.A[block][alone[block]]
            smoothed[block] = (1 - step) * self.A[block] + step * means
        return smoothed, reach

    def _scaled(self, smoothed: Floats) -> Floats:
        smoothed -= self.mean.astype(np.float32)
        smoothed /= np.float32(self.scale)
        return smoothed


def _squared(points: Floats, near: Indices, pool: Floats) -> Floats:
    """Return the squared distances from each point to its neighbours, (n, count), without cancellation."""
    squared = np.empty(near.shape)
    for start in range(0, len(points), BLOCK):
        block = slice(start, start + BLOCK)
        for column in range(near.shape[1]):
            difference = np.subtract(points[block], pool[near[block, column]], dtype=np.float64)
            squared[block, column] = np.einsum("ij,ij->i", difference, difference)
    return squared


def _reach(squared: Floats) -> Floats:
    reach: Floats = np.maximum(np.sqrt(squared.max(axis=1)), SMALLEST_REACH)
    return reach


# A session fits copies of a model in every round and for every fold. The graph of a pool is computed once for all of
# them, and forgotten with the last model that uses it.
_POOLS: WeakValueDictionary[tuple[Any, ...], SmoothedPool] = WeakValueDictionary()


def smoothed_pool(X: Any, settings: Settings) -> SmoothedPool:
    """Return the smoothed features of a pool, from memory if a living model has them."""
    key = (settings, X.shape[1], str(X.dtype), hasattr(X, "tocsr"), *fingerprint(row_hashes(X)))
    pool = _POOLS.get(key)
    if pool is None:
        pool = _POOLS[key] = SmoothedPool(X, settings)
    return pool
