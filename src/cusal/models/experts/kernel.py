"""A logistic regression on a linear and a Gaussian kernel of smoothed features: what `PoolClassifier` is.

    K(x, z) = (u(x)'u(z) + exp(-gamma |u(x) - u(z)|^2)) / 2       dense items
    K(x, z) = (s(x)'s(z) + u(x)'u(z) + exp(...)) / 3              sparse items, s their scaled rows
    F = V sqrt(w) of K = V diag(w) V' on the labelled items, centred; a logistic regression on F

A prediction needs K(x, labelled) alone: F(x) coef = K(x, labelled) dual. Out of fold, K is cut to a fold's rows.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from scipy import linalg
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression

from cusal._stored import stored_array
from cusal._types import Floats, Indices
from cusal.models._points import Anchors, Points, Space
from cusal.models.experts._expert import Expert, Labelled, Probs

LEAST_EIGENVALUE = 1e-10  # of the largest: what is smaller is rounding


@dataclass
class Kernel(Expert):
    """Logistic regression in the space of the mixed kernel, its classes balanced.

    C: inverse strength of its penalty.
    """

    C: float = 50.0

    def fit(self, labelled: Labelled) -> Self:
        """Fit the regression, and five copies for the out-of-fold predictions."""
        kernel = labelled.anchors.mixed(labelled.points)
        self.fit_head(labelled.anchors, kernel, labelled.numbers)
        self.out_of_fold_ = labelled.frequencies()
        for seen, left in labelled.splits():
            dual, intercept = _regression(kernel[np.ix_(seen, seen)], labelled.numbers[seen], self.C)
            probs = np.zeros((len(left), labelled.classes))
            probs[:, np.unique(labelled.numbers[seen])] = _probs(kernel[np.ix_(left, seen)] @ dual + intercept)
            self.out_of_fold_[left] = probs
        return self

    def fit_head(self, anchors: Anchors, kernel: Floats, numbers: Indices) -> None:
        """Fit the regression alone, to the anchors' kernel with themselves."""
        self.anchors = anchors
        self.dual, self.intercept = _regression(kernel, numbers, self.C)

    def predict_proba(self, points: Points) -> Probs:
        """Return the probability of each class, (points, classes)."""
        return _probs(self.anchors.mixed(points) @ self.dual + self.intercept)

    def state(self) -> dict[str, Any]:
        """Return the penalty, the labelled points and their weights."""
        return {"C": self.C, "anchors": asdict(self.anchors), "dual": self.dual, "intercept": self.intercept}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], space: Space, classes: int) -> Self:
        """Return the fitted expert of a `state`."""
        expert = cls(state["C"])
        expert.anchors = Anchors.from_state(state["anchors"], space)
        scores = 1 if classes == 2 else classes
        expert.dual = stored_array(state["dual"], "the weights", len(expert.anchors.features), scores)
        expert.intercept = stored_array(state["intercept"], "the intercepts", scores)
        return expert


def _regression(kernel: Floats, numbers: Indices, C: float) -> tuple[Floats, Floats]:
    """Return weights of the labelled points, (n, classes, or 1 of two), and intercepts."""
    values, vectors = linalg.eigh(kernel)
    kept = values > LEAST_EIGENVALUE * max(values[-1], LEAST_EIGENVALUE)
    values, vectors = values[kept], vectors[:, kept]
    F = vectors * np.sqrt(values)
    centre = F.mean(axis=0)
    head = LogisticRegression(C=C, class_weight="balanced", max_iter=2000).fit(F - centre, numbers)
    return (vectors / np.sqrt(values)) @ head.coef_.T, head.intercept_ - head.coef_ @ centre


def _probs(scores: Floats) -> Probs:
    if scores.shape[1] == 1:
        second = expit(scores)
        return np.hstack([1 - second, second])
    probs: Probs = softmax(scores, axis=1)
    return probs
