"""Fitted trees of scikit-learn as arrays, and predictions from them with NumPy: of one forest or of several.

p(x) = mean over the trees of the classes of the leaf that x comes to
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from cusal._types import Floats
from cusal.errors import DataError

Probs = NDArray[np.float64]
LEAF = -1  # as a child
MOST_DEPTH, MOST_STEPS = 10_000, 1_000_000  # of one row, down a tree and down all trees
TILE = 1 << 20  # numbers that are held at a time


@dataclass(frozen=True)
class Trees:
    """Trees laid end to end: children (nodes, 2) by their position, or LEAF; roots (trees,); the rest (nodes, ...)."""

    children: NDArray[np.int64]
    columns: NDArray[np.int64]
    thresholds: Floats
    values: Floats  # (nodes, classes), which sum to one
    roots: NDArray[np.int64]
    kind: ClassVar[str] = "trees"

    def __post_init__(self) -> None:
        nodes = len(self.columns)
        whole = (self.children, self.columns, self.roots)
        _check(all(isinstance(part, np.ndarray) and part.dtype.kind == "i" for part in whole))
        _check(self.thresholds.dtype.kind == self.values.dtype.kind == "f" and bool(np.isfinite(self.values).all()))
        _check(self.roots.ndim == self.columns.ndim == 1 and len(self.roots) > 0 and self.values.shape[1:] > (0,))
        _check(self.children.shape == (nodes, 2) and self.thresholds.shape == (nodes,) and self.values.ndim == 2)
        _check(len(self.values) == nodes and 0 <= self.roots.min() <= self.roots.max() < nodes)
        inner = self.children[:, 0] != LEAF
        later = self.children[inner] > np.flatnonzero(inner)[:, None]  # so that each way down ends
        _check(bool(later.all()) and self.children.max(initial=LEAF) < nodes and bool((self.columns[inner] >= 0).all()))
        _check(bool((self.children[inner] >= 0).all()))
        named = np.bincount(np.concatenate([self.roots, self.children[inner].ravel()]), minlength=nodes)
        _check(bool((named <= 1).all()))  # so that there are no more ways than nodes
        place, depth = self.roots, 0
        while len(place := self.children[place[inner[place]]].ravel()):
            depth += 1
            _check(depth <= MOST_DEPTH and depth * len(self.roots) <= MOST_STEPS)

    def check(self, columns: int, classes: int) -> None:
        """Raise a `DataError` unless the trees read so many columns at most, and tell so many classes apart."""
        _check(self.columns.max(initial=0) < columns and self.values.shape[1] == classes)

    @classmethod
    def of(cls, trees: list[Any]) -> Self:
        """Return scikit-learn's trees, `estimator.tree_` of each."""
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        pairs = [np.stack([tree.children_left, tree.children_right], axis=1) for tree in trees]
        values = np.concatenate([tree.value[:, 0] for tree in trees])
        return cls(
            np.concatenate(
                [np.where(pair >= 0, pair + start, LEAF) for pair, start in zip(pairs, starts, strict=False)]
            ),
            np.concatenate([tree.feature for tree in trees]).astype(np.int64),
            np.concatenate([tree.threshold for tree in trees]),
            values / values.sum(axis=1, keepdims=True),
            starts[:-1],
        )

    def predict_proba(self, X: Any) -> Probs:
        """Return the mean of the trees' predictions, (rows, classes)."""
        X = np.asarray(X.toarray() if issparse(X) else X, dtype=np.float32)  # as scikit-learn compares them
        step = max(1, TILE // (len(self.roots) * self.values.shape[1]))
        parts = [self._mean(X[start : start + step]) for start in range(0, len(X), step)]
        return np.concatenate([np.empty((0, self.values.shape[1])), *parts])

    def _mean(self, X: Floats) -> Probs:
        rows, place = np.arange(len(X))[:, None], np.tile(self.roots, (len(X), 1))  # (rows, trees)
        while (further := self.children[place, 0] != LEAF).any():
            right = X[rows, np.maximum(self.columns[place], 0)] > self.thresholds[place]
            place = np.where(further, self.children[place, right.astype(np.int8)], place)
        return np.asarray(self.values[place].mean(axis=1, dtype=np.float64))


def _check(holds: bool) -> None:
    if not holds:
        raise DataError("the trees of a model do not fit each other; expected a file written by cusal.")
