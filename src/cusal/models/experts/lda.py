"""Linear discriminant analysis with one covariance of all classes, shrunk by Ledoit and Wolf's formula (2004).

    S = (1 - s) C + s tr(C) / d I,   C the covariance within classes,  d columns
    log p(y | x) = x' S^-1 m_y - m_y' S^-1 m_y / 2 + log share_y + const       m_y the mean of a class

Columns are standardised by the labelled points; of sparse items the components are taken.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import linalg
from scipy.special import softmax

from cusal._stored import stored_array
from cusal._types import Floats, Indices
from cusal.models._points import Points, Space
from cusal.models.experts._expert import Expert, Labelled, Probs


@dataclass
class Lda(Expert):
    """Linear discriminant analysis with a shrunk covariance."""

    def fit(self, labelled: Labelled) -> Self:
        """Fit it, and five copies for the out-of-fold predictions."""
        X = np.asarray(labelled.points.dense, dtype=np.float64)
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        scale = np.where(deviation > 1e-9 * np.abs(X).max(axis=0, initial=0), deviation, np.inf)
        X = (X - mean) / scale
        columns = X.shape[1]
        turn = None
        if columns > len(X):  # everything happens in the span of the labelled points
            turn = linalg.qr(X.T, mode="economic")[0]
            X = X @ turn
        coef, intercept = _discriminant(X, labelled.numbers, labelled.classes, columns)
        coef_all = coef if turn is None else turn @ coef
        self.coef = coef_all / scale[:, None]
        self.intercept = intercept - mean @ self.coef
        self.out_of_fold_ = labelled.frequencies()
        for seen, left in labelled.splits():
            coef, intercept = _discriminant(X[seen], labelled.numbers[seen], labelled.classes, columns)
            self.out_of_fold_[left] = softmax(X[left] @ coef + intercept, axis=1)
        return self

    def predict_proba(self, points: Points) -> Probs:
        """Return the probability of each class, (points, classes)."""
        probs: Probs = softmax(points.dense @ self.coef + self.intercept, axis=1)
        return probs

    def state(self) -> dict[str, Any]:
        """Return the coefficients."""
        return {"coef": self.coef, "intercept": self.intercept}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], space: Space, classes: int) -> Self:
        """Return the fitted expert of a `state`."""
        expert = cls()
        expert.coef = stored_array(state["coef"], "the coefficients", len(space.encoding.mean), classes)
        expert.intercept = stored_array(state["intercept"], "the intercepts", classes)
        return expert


def _discriminant(X: Floats, numbers: Indices, classes: int, columns: int) -> tuple[Floats, Any]:
    """Return coefficients (d, classes) and intercepts; a class that is not met has probability 0."""
    onehot = np.eye(classes)[numbers]
    counts = onehot.sum(axis=0)
    means = (onehot.T @ X) / np.maximum(counts, 1)[:, None]
    within = X - means[numbers]
    covariance = within.T @ within / len(X)
    shrinkage = _ledoit_wolf(within, covariance, columns)
    average = max(float(np.trace(covariance)) / columns, 1e-9)
    covariance *= 1 - shrinkage
    covariance[np.diag_indices_from(covariance)] += max(shrinkage, 1e-6) * average
    coef = linalg.solve(covariance, means.T, assume_a="pos")
    with np.errstate(divide="ignore"):
        return coef, np.log(counts / counts.sum()) - np.einsum("kd,dk->k", means, coef) / 2


def _ledoit_wolf(within: Floats, covariance: Floats, columns: int) -> float:
    """Return how far the covariance (d, d) of centred rows is to be shrunk, from 0 to 1."""
    n = len(within)
    squares = float((covariance**2).sum())
    noise = (float((np.einsum("ij,ij->i", within, within) ** 2).sum()) / n - squares) / n
    apart = squares - float(np.trace(covariance)) ** 2 / columns
    return float(np.clip(noise / apart, 0, 1)) if apart > 0 else 1.0
