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
        _check(self.children.shape == (nodes, 2) and self.thresholds.shape == (nodes,) and self.values.ndim == 2)
        _check(len(self.values) == nodes and 0 <= self.roots.min() <= self.roots.max() < nodes)
        inner = self.children[:, 0] != LEAF
        later = self.children[inner] > np.flatnonzero(inner)[:, None]  # so that each way down ends
        _check(bool(later.all()) and self.children.max(initial=LEAF) < nodes and bool((self.columns[inner] >= 0).all()))

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
