"""A classifier on features that are learned from the whole pool, not from the labelled items alone."""

import sys
from typing import Any, Self
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from cusal import _protocol as protocol
from cusal._items import Subset, are_texts, count_items, take
from cusal._types import Floats


class PoolPipeline(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Features of items, learned from all of them, and a classifier of the features.

    Use it for texts and tables whose features have to be learned: words and their weights, scales, categories.
    scikit-learn's `Pipeline` learns them from the labelled items, which are few; this one from the pool, once for all
    rounds of a session. `Session(texts)` and `Session(frame)` use it.

    Parameters
    ----------
    features : transformer
        With `fit(items)` and `transform(items)`, for instance `cusal.features.TextFeatures()`.
    model : classifier
        Of the features; `cusal.models.PoolClassifier()` also learns from those of the pool.

    Attributes
    ----------
    features_ : transformer
        The fitted copy of `features`.
    model_ : classifier
        The fitted copy of `model`.
    classes_ : ndarray of shape (classes,)
        The labels, sorted.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> model = PoolPipeline(TfidfVectorizer(), MultinomialNB())
    >>> model.fit(["call now", "see you"], ["spam", "ham"], unlabelled=["see me now"]).predict(["call me"])
    array(['spam'], dtype='<U4')
    """

    uses_unlabelled = True  # a session fits it with `unlabelled`

    def __init__(self, features: Any, model: Any) -> None:
        self.features = features
        self.model = model

    def fit(self, X: Any, y: ArrayLike, unlabelled: Any = None) -> Self:
        """Learn the features of all items, and fit the classifier to the labelled ones.

        Parameters
        ----------
        X : items, (labelled, ...)
            As the features take them.
        y : array of shape (labelled,)
            Their labels.
        unlabelled : items, (others, ...), optional
            Further items of the pool.

        Returns
        -------
        PoolPipeline
            The pipeline itself.
        """
        pool, others = _pool(X, unlabelled)
        self.learned_ = _learned(self.features, pool, shared=isinstance(unlabelled, Subset))
        self.features_ = self.learned_.features
        model = clone(self.model)
        rows = self.learned_.rows_of(X)
        if others is not None and getattr(model, "uses_unlabelled", False):
            model.fit(rows, y, unlabelled=Subset(self.learned_.rows, others))
        else:
            model.fit(rows, y)
        self.model_ = model
        self.classes_ = model.classes_
        return self

    @property
    def out_of_fold_proba_(self) -> NDArray[np.float64]:
        """The classifier's own out-of-fold predictions of the labelled items, where it has them."""
        own: NDArray[np.float64] = self.model_.out_of_fold_proba_
        return own

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, (items, classes), its columns in the order of `classes_`."""
        probs: NDArray[np.float64] = self.model_.predict_proba(self._rows(X))
        return probs

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each item, (items,)."""
        predicted: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return predicted

    def embed(self, X: Any) -> Floats:
        """Return the classifier's embedding of the features, or the features themselves, (items, width)."""
        return protocol.embed(self.model_, self._rows(X))

    def sample_proba(self, X: Any, samples: int) -> Floats:
        """Return samples of the classifier's predictions, (items, samples, classes)."""
        sampled = protocol.sample_proba(self.model_, self._rows(X), samples, classes=int(max(self.classes_)) + 1)
        drawn: Floats = sampled[:, :, np.asarray(self.classes_, dtype=np.int64)]
        return drawn

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.learned_.rows_of(X)


class LearnedFeatures:
    """Features that were learned from a pool, and those of its items; copies of a model share them.

    features: the fitted transformer. pool, rows: the items and their features; a pickle has neither.
    """

    def __init__(self, features: Any, pool: Any) -> None:
        self.settings = repr(features)
        # Not fit_transform, which may round otherwise: a text of the pool has the same features wherever it comes from.
        self.features = clone(features).fit(pool)
        self.rows = self.features.transform(pool)
        self.pool: Any = pool
        self.places = {text: row for row, text in enumerate(pool)} if are_texts(pool) else {}

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # it never changes

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: not the items, which a session's checkpoint leaves out."""
        return vars(self) | {"pool": None, "rows": None, "places": {}}

    def rows_of(self, X: Any) -> Any:
        """Return the features of items; texts of the pool are looked up, which is faster than counting their words."""
        if self.places:
            found = [self.places.get(item, -1) if isinstance(item, str) else -1 for item in X]
            if min(found, default=-1) >= 0:
                return self.rows[found]
        return self.features.transform(X)


def _pool(X: Any, unlabelled: Any) -> tuple[Any, NDArray[np.int64] | None]:
    """Return all items, the whole data set where a session gives part of one, and the positions of unlabelled ones."""
    if unlabelled is None or not count_items(unlabelled):
        return X, None
    if isinstance(unlabelled, Subset):
        whole = unlabelled.items
        plain = isinstance(whole, list | tuple | np.ndarray) or hasattr(whole, "columns") or hasattr(whole, "iloc")
        return whole if plain else take(whole, slice(None)), unlabelled.rows
    labelled, others = count_items(X), count_items(unlabelled)
    return _joined(X, unlabelled), np.arange(labelled, labelled + others)


def _joined(X: Any, others: Any) -> Any:
    if hasattr(X, "to_numpy"):  # a frame or series: pandas and polars have the same function for it
        return sys.modules[type(X).__module__.partition(".")[0]].concat([X, others])
    return np.concatenate([X, others]) if isinstance(X, np.ndarray) else [*X, *others]


# A session fits copies of a model in every round and for every fold; the features of its items are learned once.
_LEARNED: WeakSet[LearnedFeatures] = WeakSet()


def _learned(features: Any, pool: Any, *, shared: bool) -> LearnedFeatures:
    """Return features learned from the pool; from memory if `shared` and a living model has those of the same items."""
    if shared:
        for known in list(_LEARNED):
            if known.pool is pool and known.settings == repr(features):
                return known
    made = LearnedFeatures(features, pool)
    if shared:
        _LEARNED.add(made)
    return made
