"""Where items lie: their encoded features, smoothed over the pool if there is one, and kernels with labelled ones."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from cusal._stored import expect, stored_array, stored_indices, stored_number
from cusal._types import Floats
from cusal.models._encoding import Encoding
from cusal.models._neighbours import squared_distances
from cusal.models._smoothed_pool import Settings, SmoothedPool, smoothed_pool

MEDIAN_ITEMS = 400


@dataclass(frozen=True)
class Space:
    """How items become points: an encoding, and the pool over which they are smoothed, or None."""

    encoding: Encoding
    pool: SmoothedPool | None

    @classmethod
    def learn(cls, X: Any, pool: Any, settings: Settings) -> Self:
        """Return the space of a pool; where that is None, of the labelled items X."""
        if pool is None:
            return cls(Encoding.learn(X, settings.standardise), None)
        smoothed = smoothed_pool(pool, settings)
        return cls(smoothed.encoding, smoothed)

    def features(self, X: Any) -> Floats:
        """Return the features of items, smoothed where there is a pool, (n, d)."""
        return self.encoding.dense(X) if self.pool is None else self.pool.features(X)

    def gamma(self, labelled: Floats) -> float:
        """Return one over the median squared distance of some items of the pool, or of the labelled ones."""
        if self.pool is not None:
            some = self.pool.sample(MEDIAN_ITEMS)
        else:
            some = labelled[:: -(-len(labelled) // MEDIAN_ITEMS)]
        distances = squared_distances(*[some.astype(np.float64)] * 2)
        apart = distances[np.triu_indices(len(distances), 1)]
        return 1 / ((float(np.median(apart)) if len(apart) else 0.0) or 1.0)

    def state(self) -> dict[str, Any]:
        """Return plain values and arrays."""
        # The directions whole: rounded ones move items across the thresholds of trees.
        return {"encoding": asdict(self.encoding), "pool": None if self.pool is None else self.pool.state()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the space of a `state`."""
        encoding = Encoding.from_state(state["encoding"])
        return cls(encoding, None if state["pool"] is None else SmoothedPool.restore(state["pool"], encoding))


class Points:
    """Items in a space; what is read of them is computed once.

    X: the items, rows of numbers, dense or CSR.
    """

    def __init__(self, space: Space, X: Any) -> None:
        self._space, self.X = space, X

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def features(self) -> Floats:
        """(n, d): smoothed features where there is a pool."""
        return self._space.features(self.X).astype(np.float64)

    @cached_property
    def plain(self) -> Floats:
        """(n, d): the same before smoothing."""
        return self.features if self._space.pool is None else self._space.encoding.dense(self.X).astype(np.float64)

    @cached_property
    def rows(self) -> Any:
        """(n, columns): scaled rows of sparse items, or None."""
        return self._space.encoding.sparse(self.X)

    @property
    def dense(self) -> Any:
        """(n, columns) for models that read single columns: the items, or the components of sparse ones."""
        return self.plain if issparse(self.X) else self.X


@dataclass(frozen=True)
class Anchors:
    """Labelled points in plain arrays: all that kernels with other points need.

    features, plain: (n, d). rows: the parts of a CSR matrix, or None. gamma: of the Gaussian kernel.
    """

    features: Floats
    plain: Floats
    rows: tuple[Any, ...] | None
    gamma: float

    @classmethod
    def at(cls, points: Points, gamma: float) -> Self:
        """Return the points as anchors."""
        rows = points.rows
        parts = None if rows is None else (rows.data, rows.indices, rows.indptr, rows.shape)
        return cls(points.features, points.plain, parts, gamma)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], space: Space) -> Self:
        """Return the anchors of plain arrays; raise `DataError` if they are no points of a space."""
        found, encoding = cls(**state), space.encoding
        size = stored_array(found.features, "the features", None, len(encoding.mean)).shape
        stored_array(found.plain, "the features", *size)
        stored_number(found.gamma, "the width", 0, np.inf)
        expect(size[0] > 0 and (found.rows is None) == (encoding.sparse_scale is None), "the number of rows")
        if found.rows is not None:  # a wrong index would be read from anywhere in memory
            data, indices, starts, shape = found.rows
            expect(tuple(shape) == (size[0], len(encoding.directions)), "the shape of the rows")
            count = len(stored_array(data, "the rows", None))
            stored_indices(indices, "the columns of the rows", count, below=len(encoding.directions))
            starts = stored_indices(starts, "the starts of the rows", size[0] + 1, below=count + 1)
            expect(starts[0] == 0 and starts[-1] == count and (np.diff(starts) >= 0).all(), "the starts of the rows")
        return found

    def linear(self, points: Points, *, smoothed: bool = True) -> tuple[NDArray[np.float64], int]:
        """Return the sum of linear kernels with other points, (points, n), and how many they are."""
        kernel = points.features @ self.features.T if smoothed else points.plain @ self.plain.T
        if self.rows is None:
            return kernel, 1
        return kernel + (points.rows @ csr_matrix(self.rows[:3], shape=self.rows[3]).T).toarray(), 2

    def squared(self, points: Points, *, smoothed: bool = True) -> NDArray[np.float64]:
        """Return the squared distances of other points, (points, n)."""
        if smoothed:
            return squared_distances(points.features, self.features)
        return squared_distances(points.plain, self.plain)

    def mixed(self, points: Points) -> NDArray[np.float64]:
        """Return the mean of linear and Gaussian kernels with other points, (points, n)."""
        kernel, count = self.linear(points)
        kernel += np.exp(-self.gamma * self.squared(points))
        kernel /= count + 1
        return kernel
