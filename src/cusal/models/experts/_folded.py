"""Any classifier of scikit-learn's kind as an expert, by five stratified folds."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from cusal.models._points import Points
from cusal.models.experts._expert import Expert, Labelled, Probs


@dataclass
class Folded(Expert):
    """A classifier with `fit` and `predict_proba`, of the items' rows as they are."""

    model: Any

    def fit(self, labelled: Labelled) -> Self:
        """Fit the classifier, and five copies for the out-of-fold predictions."""
        X, numbers = labelled.points.X, labelled.numbers
        self.classes = labelled.classes
        self.fitted = self._copy(labelled.seed).fit(X, numbers)
        self.out_of_fold_ = labelled.frequencies()
        for seen, left in labelled.splits():
            self.out_of_fold_[left] = self._aligned(self._copy(labelled.seed).fit(X[seen], numbers[seen]), X[left])
        return self

    def predict_proba(self, points: Points) -> Probs:
        """Return the probability of each class, (points, classes)."""
        return self._aligned(self.fitted, points.X)

    def _copy(self, seed: int) -> Any:
        model = clone(self.model)
        params = model.get_params(deep=True)
        unset = [name for name, value in params.items() if name.split("__")[-1] == "random_state" and value is None]
        return model.set_params(**dict.fromkeys(unset, seed))

    def _aligned(self, model: Any, X: Any) -> Probs:
        probs = np.zeros((X.shape[0], self.classes))
        probs[:, model.classes_] = model.predict_proba(X)
        return probs
