"""A session's model as a classifier of scikit-activeml, for its query strategies."""

import copy
from typing import Any, Self

import numpy as np
from skactiveml.base import SkactivemlClassifier

from cusal import _protocol as protocol
from cusal._types import Floats

ANY_SHAPE = {"ensure_min_samples": 0, "ensure_min_features": 0, "allow_nd": True, "dtype": None}


def classifier_of(predictions: Any, X: Floats, y: Floats) -> Any:
    """Return the fitted model of a session; one that is a classifier of theirs already is returned as it is."""
    if isinstance(predictions.model, SkactivemlClassifier):
        return predictions.model
    return SessionClassifier(predictions.model, classes=list(range(predictions.classes))).accept(X, y)


def committee_of(predictions: Any, X: Floats, y: Floats, samples: int) -> list[Any]:
    """Return the model's samples, each as a classifier of theirs."""
    drawn = _LastSamples(predictions, samples)
    count = drawn.of(X[:1]).shape[1]  # an ensemble may have fewer members
    classes = list(range(predictions.classes))
    return [_Member(drawn, number, classes=classes).accept(X, y) for number in range(count)]


class SessionClassifier(SkactivemlClassifier):  # type: ignore[misc]
    """A model of cusal's protocol: class numbers, `predict_proba`, optional embeddings."""

    def __init__(
        self,
        model: Any = None,
        classes: Any = None,
        missing_label: Any = np.nan,
        cost_matrix: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            classes=classes, missing_label=missing_label, cost_matrix=cost_matrix, random_state=random_state
        )
        self.model = model

    def accept(self, X: Floats, y: Floats) -> Self:
        """Take the model as it is fitted, and check X and y as scikit-activeml does."""
        self._validate_data(X, y, check_X_dict=dict(ANY_SHAPE))
        self.model_ = self.model
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a copy of the model to the rows that have a label."""
        X, y, _ = self._validate_data(X, y, sample_weight, check_X_dict=dict(ANY_SHAPE))
        known = y >= 0  # scikit-activeml numbers missing labels by -1
        self.model_ = copy.deepcopy(self.model)
        self.model_.fit(X[known], y[known].astype(np.int64))
        return self

    def predict_proba(self, X: Any, return_embeddings: bool = False) -> Any:
        """Return probabilities (rows, classes), and embeddings if they are wanted."""
        probs = protocol.predict_proba(self.model_, X, len(self.classes_))
        return (probs, protocol.embed(self.model_, X)) if return_embeddings else probs


class _Member(SessionClassifier):
    """One sample of the model: `model` draws them all, and `number` says which."""

    def __init__(self, model: Any = None, number: int = 0, classes: Any = None, missing_label: Any = np.nan) -> None:
        super().__init__(model, classes=classes, missing_label=missing_label)
        self.number = number

    def predict_proba(self, X: Any, return_embeddings: bool = False) -> Any:
        """Return the probabilities (rows, classes) of this sample."""
        return self.model_.of(X)[:, self.number]


class _LastSamples:
    """Draws samples of the model, once for items that are asked about again and again."""

    def __init__(self, predictions: Any, samples: int) -> None:
        self.predictions, self.samples = predictions, samples
        self.items: Any = None
        self.drawn: Any = None

    def of(self, X: Any) -> Floats:
        """Return samples (rows, samples, classes)."""
        if self.items is None or not np.array_equal(self.items, X):
            model, classes = self.predictions.model, self.predictions.classes
            self.items, self.drawn = X, protocol.sample_proba(model, X, self.samples, classes=classes)
        return np.asarray(self.drawn)
