"""Logistic regression whose penalty is chosen by cross-validation, cheaply enough for every round of a benchmark.

C is 1, 10 or 100: the one with the lowest log loss of three folds, drawn at random and not by class, since a class may
have a single label. A label whose class the other folds lack counts with the log of `UNSEEN`. Items are divided by
their root mean squared norm, so that C means the same for rows of unit length and for standardised columns.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

PENALTIES = (1.0, 10.0, 100.0)
FOLDS = 3
UNSEEN = 1e-3


class ChosenPenalty(ClassifierMixin, BaseEstimator):
    """Logistic regression with the best of three penalties."""

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: NDArray[Any]) -> Self:
        squares = X.multiply(X).sum() if issparse(X) else float(np.square(X).sum())
        self.scale_ = 1 / np.sqrt(squares / X.shape[0])
        rows = X * self.scale_
        folds = np.random.default_rng(self.random_state).permutation(len(y)) % FOLDS
        losses = [self._loss(rows, y, folds, penalty) for penalty in PENALTIES]
        self.C_ = PENALTIES[int(np.argmin(losses))]
        self.model_ = LogisticRegression(C=self.C_, max_iter=1000).fit(rows, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return self.model_.predict_proba(X * self.scale_)

    def _loss(self, rows: Any, y: NDArray[Any], folds: NDArray[Any], penalty: float) -> float:
        loss = 0.0
        for fold in range(FOLDS):
            inside, outside = folds != fold, folds == fold
            if len(np.unique(y[inside])) < 2:
                return np.inf if penalty > PENALTIES[0] else 0.0  # nothing to choose by: the strongest penalty
            model = LogisticRegression(C=penalty, max_iter=200).fit(rows[inside], y[inside])
            probs = model.predict_proba(rows[outside])
            place = np.searchsorted(model.classes_, y[outside]).clip(max=len(model.classes_) - 1)
            known = model.classes_[place] == y[outside]
            own = np.where(known, probs[np.arange(len(place)), place], UNSEEN)
            loss -= np.log(np.maximum(own, UNSEEN)).sum()
        return loss
