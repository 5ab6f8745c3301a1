"""Two forests, of bootstrapped trees and of extremely randomised ones: they see a column that matters alone.

    p(x) = (p_RF(x) + p_ET(x)) / 2      Breiman 2001; Geurts et al. 2006

The out-of-fold prediction of a labelled point is that of the trees of the first forest that were fitted without it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from cusal._types import Floats
from cusal.models._points import Points, Space
from cusal.models._trees import Trees
from cusal.models.experts._expert import Expert, Labelled, Probs


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
            return self.both.predict_proba(X)
        probs: Probs = (self.both[0].predict_proba(X) + self.both[1].predict_proba(X)) / 2
        return probs

    def state(self) -> dict[str, Any]:
        """Return the trees as arrays."""
        both = self.both
        trees = both if isinstance(both, Trees) else Trees.of([tree.tree_ for kind in both for tree in kind])
        return {"trees": self.trees, "nodes": asdict(trees)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], space: Space, classes: int) -> Self:
        """Return the fitted expert of a `state`, which descends its trees by NumPy alone."""
        expert = cls(state["trees"])
        expert.both = Trees(**state["nodes"])
        expert.both.check(len(space.encoding.mean), classes)
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
