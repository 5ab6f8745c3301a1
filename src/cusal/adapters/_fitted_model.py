"""A classifier that another library has fitted, as a model whose classes are numbers."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal import _protocol as protocol
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput


class FittedModel:
    """Predictions of a fitted classifier, with the embeddings and samples of the estimator inside it.

    Parameters
    ----------
    predict_proba : function
        Returns (rows, classes) for items.
    classes : (classes,) array
        The labels of its columns.
    estimator : object, optional
        The fitted estimator inside, whose embeddings and samples are used; None if nothing is fitted yet. Then
        two-dimensional items are their own embedding, and all samples are equal.
    """

    def __init__(self, predict_proba: Callable[[Any], Any], classes: Any, estimator: Any = None) -> None:
        self.predict_proba = predict_proba
        self.labels: list[Any] = np.asarray(classes).tolist()
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> None:
        """Raise `InvalidInput`: the other library fits it."""
        raise InvalidInput("this model was fitted by another library; fit it there.")

    def numbers(self, labels: Any) -> Indices:
        """Return the class numbers (n,) of labels: the columns of `predict_proba`."""
        places = {label: number for number, label in enumerate(self.labels)}
        given = np.asarray(labels).tolist()
        unknown = [label for label in given if label not in places]
        if unknown:
            raise InvalidInput(
                f"the label {unknown[0]!r} is none of the classes {self.labels[:10]} of the classifier; give it all "
                "classes, and fit it to the labels that are there."
            )
        return np.array([places[label] for label in given], dtype=np.int64)

    def embed(self, X: Any) -> Floats:
        """Return embeddings (rows, features)."""
        return protocol.embed(_Nothing() if self.estimator is None else self.estimator, X)

    def sample_proba(self, X: Any, samples: int) -> Floats:
        """Return samples (rows, samples, classes)."""
        if self.estimator is None:
            return np.repeat(np.asarray(self.predict_proba(X))[:, None], samples, axis=1)
        estimator, items = self.estimator, X
        if hasattr(estimator, "steps"):
            items = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
            estimator = estimator[-1]
        if not hasattr(estimator, "sample_proba") and hasattr(estimator, "classes_"):
            estimator = copy.copy(estimator)
            estimator.classes_ = self.numbers(estimator.classes_)
        return protocol.sample_proba(estimator, items, samples, classes=len(self.labels))


class _Nothing:
    """A model without embeddings of its own."""

    def fit(self, X: Any, y: Any) -> None:
        """Do nothing."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return no predictions."""
        return np.empty((len(X), 0))
