"""The chance that a prediction is wrong, fitted to the checked items.

    P(wrong) = expit(a + b logit c + g r + sum_k d_k [predicted class is k])

Logistic regression with a ridge penalty (C = 1), where c is the confidence, r its midrank / N, and the indicators of
the classes are halved, which doubles the penalty on their weights. The design weights are left out: the order of
checking depends on c alone, which is in the model.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from cusal._types import Indices
from cusal.audit.order import HIGHEST, LOWEST, rank_scores
from cusal.audit.predictions import Claims

CLASS_SCALE = 0.5
FOLDS = 5
LEAST_EACH = 5  # right and wrong ones, below which the confidence is not changed


@dataclass(frozen=True)
class Suspects:
    """The items that are most likely wrong.

    Attributes
    ----------
    indices : (k,) int64
        Positions of the items, the most suspicious first.
    chances : (k,) float64
        The chance that each is wrong.
    """

    indices: Indices
    chances: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.indices)


@dataclass(frozen=True)
class ErrorModel:
    """A line in the log odds of the confidence, its rank and the predicted class."""

    constant: float
    weights: NDArray[np.float64]  # (2,) of logit c and of the rank
    by_class: NDArray[np.float64]  # (classes,)

    def chance_wrong(self, features: NDArray[np.float64], predicted: Indices) -> NDArray[np.float64]:
        """Return the chance that each prediction is wrong, from features (m, 2) and predicted classes (m,)."""
        return np.asarray(expit(self.constant + features @ self.weights + self.by_class[predicted]))


def features(claims: Claims) -> NDArray[np.float64]:
    """Return the log odds of the confidence and its rank for every item, (N, 2)."""
    return np.column_stack([logit(np.clip(claims.confidence, LOWEST, HIGHEST)), rank_scores(claims.confidence)])


def fit_error_model(
    rows: NDArray[np.float64], predicted: Indices, wrong: NDArray[np.bool_], classes: int
) -> ErrorModel:
    """Return the model of checked items with features (n, 2); with one kind of answers only, confidence decides."""
    if wrong.all() or not wrong.any():
        return _by_confidence(wrong, classes)
    from sklearn.linear_model import LogisticRegression  # loaded by those who hunt only

    # Only the classes that were met have a weight that is not 0: a thousand others need no column.
    met, columns = np.unique(predicted, return_inverse=True)
    indicators = np.zeros((len(rows), len(met)))
    indicators[np.arange(len(rows)), columns] = CLASS_SCALE
    model = LogisticRegression(max_iter=1000).fit(np.column_stack([rows, indicators]), wrong)
    by_class = np.zeros(classes)
    by_class[met] = CLASS_SCALE * model.coef_[0, 2:]
    return ErrorModel(float(model.intercept_[0]), np.asarray(model.coef_[0, :2]), by_class)


def _by_confidence(wrong: NDArray[np.bool_], classes: int) -> ErrorModel:
    """Return a model that believes the confidence, shifted by what was found."""
    found = (wrong.sum() + 0.5) / (len(wrong) + 1)
    shift = float(logit(found)) if len(wrong) else 0.0
    return ErrorModel(shift, np.array([-1.0, 0.0]), np.zeros(classes))


def calibrated(claims: Claims, checked: Indices, wrong: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the chance that each prediction is right, (N,): fitted, or the confidence itself where that is as good.

    The two are compared by the log loss on items that the fit did not see, in five folds.
    """
    if min(wrong.sum(), (~wrong).sum()) < LEAST_EACH:
        return claims.confidence.copy()
    rows, classes = features(claims), len(claims.names)
    fold = np.arange(len(checked)) % FOLDS
    unseen = np.empty(len(checked))
    for one in range(FOLDS):
        out = fold == one
        model = fit_error_model(rows[checked[~out]], claims.predicted[checked[~out]], wrong[~out], classes)
        unseen[out] = model.chance_wrong(rows[checked[out]], claims.predicted[checked[out]])
    gains = _log_loss(1 - claims.confidence[checked], wrong) - _log_loss(unseen, wrong)
    if gains.mean() <= gains.std() / np.sqrt(len(gains)):  # no gain beyond its standard error
        return claims.confidence.copy()
    model = fit_error_model(rows[checked], claims.predicted[checked], wrong, classes)
    return 1 - model.chance_wrong(rows, claims.predicted)


def _log_loss(chance_wrong: NDArray[np.float64], wrong: NDArray[np.bool_]) -> NDArray[np.float64]:
    chance = np.clip(chance_wrong, 1e-6, 1 - 1e-6)
    return np.asarray(-np.log(np.where(wrong, chance, 1 - chance)))
