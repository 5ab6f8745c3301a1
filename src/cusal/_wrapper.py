"""A classifier around another, which changes its probabilities and nothing else.

Embeddings, samples, warm starts, unlabelled items and separate scoring are those of the wrapped model, if it has them.
Probabilities, whichever method returns them, pass through `_changed`.
"""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from cusal import _protocol as protocol
from cusal._checks import as_array
from cusal._items import take
from cusal._label_numbers import checked_items, number_labels
from cusal._types import Indices
from cusal.errors import InvalidInput, NotReady

Probs = NDArray[np.float64]


def _model_has(method: str) -> Any:
    return available_if(lambda wrapper: hasattr(wrapper.model, method))


class Wrapper(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The base of classifiers that change the probabilities of another.

    A subclass takes `model` as its first parameter, fits it with `_fit_model` and overrides `_changed`. One with a file
    of its own in `models/` or `recalibration/` is known to grids by the name of that file.

    Attributes
    ----------
    model : classifier
        As it was given; never fitted.
    model_ : classifier
        Its fitted copy.
    classes_ : array, (classes,)
        The labels of the columns: class numbers, or labels of another kind in sorted order.
    """

    model: Any
    model_: Any
    classes_: NDArray[Any]
    numbers_: Indices  # of the columns, by which the model inside knows the classes
    names_: NDArray[Any] | None  # of the numbers, if labels are not class numbers

    @property
    def uses_unlabelled(self) -> bool:
        """Whether the model is also fitted to the unlabelled items."""
        return bool(getattr(self.model, "uses_unlabelled", False))

    @property
    def warm_start(self) -> bool:
        """Whether the model continues from its previous fit."""
        return bool(getattr(self.model, "warm_start", False))

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the items, where the model counts them."""
        return int(self._fitted().n_features_in_)

    def __sklearn_tags__(self) -> Any:
        """Return what kinds of items are taken: those of the model."""
        tags = super().__sklearn_tags__()
        inside = _input_tags(self.model)
        if inside is not None:
            tags.input_tags.sparse, tags.input_tags.allow_nan = inside.sparse, inside.allow_nan
        return tags

    def predict_proba(self, X: Any) -> Probs:
        """Return the model's probabilities, changed.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.

        Returns
        -------
        array, (n, classes)
            Its columns are `classes_`.
        """
        return self._changed(self._fitted().predict_proba(X), X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each item.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.

        Returns
        -------
        array, (n,)
            Of the kind of `classes_`.
        """
        probs = self.predict_proba(X)
        return np.asarray(self.classes_[probs.argmax(1)])

    def embed(self, X: Any) -> NDArray[Any]:
        """Return the model's embedding.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.

        Returns
        -------
        array, (n, width)
            One row for each item.
        """
        return protocol.embed(self._fitted(), X)

    def sample_proba(self, X: Any, n: int) -> Probs:
        """Return the model's samples, each changed.

        Parameters
        ----------
        X : items, (rows, ...)
            As the model takes them.
        n : int
            Number of samples.

        Returns
        -------
        array, (rows, n, classes)
            Its last axis is `classes_`.
        """
        model, numbers = self._fitted(), getattr(self, "numbers_", self.classes_)  # a pickle may be older
        sampled = protocol.sample_proba(model, X, n, classes=int(numbers.max()) + 1)
        return self._changed(sampled[:, :, numbers], X)

    @_model_has("scoring_proba")
    def scoring_proba(self, X: Any) -> Probs:
        """Return what strategies see of the model's probabilities, changed.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.

        Returns
        -------
        array, (n, classes)
            Its columns are `classes_`.
        """
        return self._changed(self._fitted().scoring_proba(X), X)

    @_model_has("scoring_embed")
    def scoring_embed(self, X: Any) -> NDArray[Any]:
        """Return what strategies see of the model's embedding.

        Parameters
        ----------
        X : items, (n, ...)
            As the model takes them.

        Returns
        -------
        array, (n, width)
            One row for each item.
        """
        return np.asarray(self._fitted().scoring_embed(X))

    def _changed(self, probs: Any, X: Any) -> Probs:
        """Return the model's probabilities of items X, changed, (rows, classes) or (rows, samples, classes)."""
        raise NotImplementedError

    def _numbered(self, X: Any, y: Any) -> tuple[Any, Indices, NDArray[Any] | None]:
        """Return checked items, class numbers for the model, and the names of these where labels are of another kind.

        A model that starts warm keeps the names of its previous fit.
        """
        inside = _input_tags(self.model)
        items = checked_items(X, allow_nan=inside is None or inside.allow_nan)
        before = getattr(self, "names_", None) if self.warm_start else None
        return items, *number_labels(items, y, before)

    def _learn_classes(self, X: Any, names: NDArray[Any] | None) -> None:
        """Set the labels of the columns after a fit."""
        self.names_, self.numbers_ = names, classes_of(self._fitted(), X)
        self.classes_ = self.numbers_ if names is None else names[self.numbers_]

    def _fit_model(self, X: Any, y: Any, unlabelled: Any) -> Any:
        """Return the model fitted to (X, y); a warm one continues from its last fit, with its current settings."""
        if not hasattr(self.model, "fit"):
            raise InvalidInput(
                f"model is a {type(self.model).__name__}; give a classifier, with fit and predict_proba."
            )
        continues = self.warm_start and hasattr(self, "model_")
        model = protocol.with_settings(self.model_, self.model) if continues else unfitted(self.model)
        if self.uses_unlabelled and unlabelled is not None:
            model.fit(X, y, unlabelled=unlabelled)
        else:
            model.fit(X, y)
        return model

    def _fitted(self) -> Any:
        if not hasattr(self, "model_"):
            raise NotFitted("the model has not been fitted; call fit(X, y) first.")
        return self.model_


class NotFitted(NotReady, NotFittedError):  # type: ignore[misc]
    """Raised by a classifier that was not fitted, as cusal's error and as scikit-learn's."""


def _input_tags(model: Any) -> Any:
    """Return what items a model of scikit-learn's takes; None of other models, and in versions before 1.6."""
    if not hasattr(model, "__sklearn_tags__"):
        return None
    from sklearn.utils import get_tags

    return get_tags(model).input_tags


def unfitted(model: Any) -> Any:
    """Return a copy of the model that has not been fitted."""
    return clone(model) if hasattr(model, "get_params") else copy.deepcopy(model)


def classes_of(model: Any, X: Any) -> NDArray[np.int64]:
    """Return the class numbers of the model's columns: its own `classes_`, else as many as it has for an item of X."""
    own = getattr(model, "classes_", None)
    columns = as_array(model.predict_proba(take(X, slice(0, 1)))).shape[1] if own is None else 0
    return np.asarray(np.arange(columns) if own is None else own, dtype=np.int64)
