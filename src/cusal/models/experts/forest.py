"""Two forests, of bootstrapped trees and of extremely randomised ones: they see a column that matters alone.

    p(x) = (p_RF(x) + p_ET(x)) / 2      Breiman 2001; Geurts et al. 2006

The out-of-fold prediction of a labelled point is that of the trees of the first forest that were fitted without it.
Trees are kept as arrays: children (nodes, 2), the column that a node splits, its threshold, and the classes of a leaf.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from cusal._types import Floats
from cusal.models._points import Points
from cusal.models.experts._expert import Expert, Labelled, Probs

TILE = 1 << 20  # places in trees that are held at a time
LEAF = -1  # as a child


class Trees(NamedTuple):
    """Trees laid end to end: children (nodes, 2) by their position, or LEAF; the rest (nodes, ...); roots (trees,)."""

    children: NDArray[np.int32]
    column: NDArray[np.int32]
    threshold: NDArray[np.float64]
    classes: NDArray[np.float32]
    roots: NDArray[np.int32]

    @classmethod
    def of(cls, forest: list[Any]) -> Self:
        """Return the trees of scikit-learn's, in their order."""
        starts = np.cumsum([0, *(tree.node_count for tree in forest)])
        children = []
        for start, tree in zip(starts, forest, strict=False):
            pair = np.stack([tree.children_left, tree.children_right], axis=1)
            children.append(np.where(pair >= 0, pair + start, LEAF))
        return cls(
            np.concatenate(children).astype(np.int32),
            np.concatenate([tree.feature for tree in forest]).astype(np.int32),
            np.concatenate([tree.threshold for tree in forest]),
            np.concatenate([_shares(tree.value[:, 0]) for tree in forest]).astype(np.float32),
            starts[:-1].astype(np.int32),
        )

    def predict(self, X: Floats) -> Probs:
        """Return the mean of the trees' predictions of rows, (n, classes)."""
        X = X.astype(np.float32)  # as scikit-learn compares them
        step = max(1, TILE // len(self.roots))
        return np.concatenate([self._mean(X[start : start + step]) for start in range(0, len(X), step)])

    def _mean(self, X: Floats) -> Probs:
        rows = np.arange(len(X))[:, None]
        place = np.tile(self.roots, (len(X), 1))  # (rows, trees)
        while True:
            further = self.children[place, 0] != LEAF
            if not further.any():
                break
            right = X[rows, np.maximum(self.column[place], 0)] > self.threshold[place]
            place = np.where(further, self.children[place, right.astype(np.int8)], place)
        probs: Probs = np.asarray(self.classes[place].mean(axis=1, dtype=np.float64))
        return probs


@dataclass
class Forest(Expert):
    """A random forest and extremely randomised trees.

    trees: of each kind.
    """

    trees: int = 100

    def fit(self, labelled: Labelled) -> Self:
        """Fit both forests."""
        X = np.ascontiguousarray(labelled.points.dense, dtype=np.float32)
        both = [kind(self.trees, random_state=labelled.seed) for kind in (RandomForestClassifier, ExtraTreesClassifier)]
        self.both: Trees | list[Any] = [forest.fit(X, labelled.numbers) for forest in both]
        self.out_of_fold_ = _out_of_bag(both[0], X, labelled)
        return self

    def predict_proba(self, points: Points) -> Probs:
        """Return the probability of each class, (points, classes)."""
        X = points.dense
        X = np.ascontiguousarray(X.toarray() if issparse(X) else X, dtype=np.float32)
        if isinstance(self.both, Trees):
            return self.both.predict(X)
        probs: Probs = (self.both[0].predict_proba(X) + self.both[1].predict_proba(X)) / 2
        return probs

    def state(self) -> dict[str, Any]:
        """Return the trees as arrays."""
        both = self.both
        trees = both if isinstance(both, Trees) else Trees.of([tree.tree_ for kind in both for tree in kind])
        return {"trees": self.trees, "nodes": trees._asdict()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the fitted expert of a `state`, which descends its trees by NumPy alone."""
        expert = cls(state["trees"])
        expert.both = Trees(**state["nodes"])
        return expert


def _out_of_bag(forest: Any, X: Floats, labelled: Labelled) -> Probs:
    """Return the mean prediction of each labelled point by the trees whose bootstrap sample lacks it, (n, classes)."""
    n = len(X)
    total, count = np.zeros((n, labelled.classes)), np.zeros(n)
    for tree, sample in zip(forest, forest.estimators_samples_, strict=True):
        without = np.setdiff1d(np.arange(n), sample)
        if len(without):
            total[without] += _shares(tree.tree_.predict(X[without]).reshape(len(without), -1))
            count[without] += 1
    some = count > 0
    total[some] /= count[some, None]
    total[~some] = labelled.frequencies()[~some]
    return total


def _shares(values: NDArray[Any]) -> NDArray[Any]:
    """Return the classes of leaves as shares, which some versions of scikit-learn keep as counts."""
    shares: NDArray[Any] = values / values.sum(axis=1, keepdims=True)
    return shares
