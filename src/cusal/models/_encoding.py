"""Items as vectors of one scale, dense ones and sparse ones.

    A = (E - mean) / sqrt(mean |E - mean|^2)

E is a dense matrix, its columns standardised where they have units of their own; of a sparse matrix S it is S V, V
the first 100 right singular vectors. S itself is scaled alike, S / sqrt(mean |S|^2), and stays sparse.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from cusal._stored import expect, stored_array, stored_number
from cusal._types import Floats

COMPONENTS = 100
SMALLEST_SCALE = 1e-38  # in a file
LARGEST_RATIO = 5  # of standard deviations among columns of one unit; pixels of digits have 3.5, formants of vowels 7.4
LEAST_COMPONENTS = 6  # fewer columns may be in the order of their variance without being components
BY_VARIANCE = -0.9  # rank correlation of place and deviation, below which they are
UNIT_WIDTH = 200  # dense columns from which on directions say more than distances

Standardise = bool | Literal["auto"]


@dataclass(frozen=True)
class Encoding:
    """How items become vectors, learned from some of them.

    directions: (columns, components) of a sparse matrix, (columns,) factors of a dense one. cosine: whether neighbours
    are found by the angle between vectors.
    """

    directions: NDArray[Any]
    mean: NDArray[Any]
    scale: float
    sparse_scale: float | None
    cosine: bool

    @classmethod
    def learn(cls, X: Any, standardise: Standardise) -> Self:
        """Return the encoding of a matrix, dense or CSR."""
        sparse = issparse(X)
        directions = _singular_vectors(X) if sparse else _factors(X, standardise)
        rows = _project(X, directions)
        mean = rows.mean(axis=0)
        squares = float(np.mean(X.multiply(X).sum(axis=1))) if sparse else None
        return cls(
            directions,
            mean,
            root_mean_square(rows - mean),
            sparse_scale=None if squares is None else squares**0.5 or 1.0,
            cosine=sparse or rows.shape[1] >= UNIT_WIDTH,
        )

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the encoding of its fields; raise `DataError` if they do not fit each other."""
        found = cls(**state)
        size = len(stored_array(found.mean, "the mean", None))
        if found.sparse_scale is None:
            stored_array(found.directions, "the factors", size)
        else:
            stored_array(found.directions, "the directions", None, size)
            stored_number(found.sparse_scale, "the scale", SMALLEST_SCALE, np.inf)
        stored_number(found.scale, "the scale", SMALLEST_SCALE, np.inf)
        expect(size and isinstance(found.cosine, bool), "the encoding")
        return found

    def dense(self, X: Any) -> Floats:
        """Return A, (n, d)."""
        encoded: Floats = (_project(X, self.directions) - self.mean) / self.scale
        return encoded

    def sparse(self, X: Any) -> Any:
        """Return the scaled sparse rows, or None of dense items."""
        return None if self.sparse_scale is None else X / self.sparse_scale

    def places(self, A: Floats) -> Floats:
        """Return the points between which distances are taken."""
        if not self.cosine:
            return A
        norms = np.linalg.norm(A, axis=1, keepdims=True)
        points: Floats = A / np.where(norms > 0, norms, 1)
        return points


def root_mean_square(rows: Floats) -> float:
    """Return the root of the mean squared norm of rows; 1 where all are zero."""
    return float(np.sqrt(np.einsum("ij,ij->", rows, rows, dtype=np.float64) / max(1, len(rows)))) or 1.0


def _project(X: Any, directions: NDArray[Any]) -> Floats:
    projected: Floats = X @ directions if issparse(X) else X * directions
    return projected


def _singular_vectors(X: Any) -> NDArray[Any]:
    from sklearn.utils.extmath import randomized_svd

    if X.shape[1] <= COMPONENTS:
        return np.eye(X.shape[1], dtype=X.dtype)
    components = min(COMPONENTS, X.shape[0])
    _, _, vectors = randomized_svd(X, components, n_iter=5, random_state=0)
    turned: NDArray[Any] = np.ascontiguousarray(vectors.T)
    return turned


def _factors(X: Floats, standardise: Standardise) -> NDArray[Any]:
    deviation = X.std(axis=0)
    # The deviation of a column that never changes is rounding, which must not become a feature.
    constant = deviation <= 1e-6 * np.abs(X).max(axis=0, initial=0)
    if standardise == "auto":
        standardise = not _share_a_unit(deviation[~constant])
    if not standardise:
        return np.ones_like(deviation)
    factors: NDArray[Any] = np.where(constant, 0, 1 / np.where(constant, 1, deviation))
    return factors


def _share_a_unit(deviation: NDArray[Any]) -> bool:
    """Return whether columns of these standard deviations are of one kind: pixels, components, scaled before."""
    if len(deviation) < 2 or abs(deviation.max() - 1) < 1e-3:
        return True
    if len(deviation) >= LEAST_COMPONENTS:
        # PCA and SVD order their components by variance; in a sample of items that order is not perfect.
        ranks = np.argsort(np.argsort(deviation))
        if np.corrcoef(ranks, np.arange(len(ranks)))[0, 1] < BY_VARIANCE:
            return True
    return bool(deviation.max() <= LARGEST_RATIO * np.quantile(deviation, 0.25))
