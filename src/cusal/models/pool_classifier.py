"""A kernel classifier for few labels, on features smoothed over the whole pool: `cusal.models.experts.kernel` alone."""

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse, vstack
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from cusal._arguments import is_hashable, is_real, is_whole
from cusal._items import Subset, take
from cusal._types import Floats
from cusal.errors import InvalidInput
from cusal.models import _sklearn_checks
from cusal.models._encoding import Standardise
from cusal.models._points import Anchors, Points, Space
from cusal.models._smoothed_pool import Settings, SmoothedPool
from cusal.models.experts.kernel import Kernel

TILE = 8192  # items that are predicted together


class PoolClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier for 20 to 400 labels that also learns from the items without one.

    Use it with features: tables, TF-IDF rows, embeddings. Every item is moved halfway to the weighted mean of its
    nearest neighbours in the pool; a logistic regression then separates the classes by a sum of a linear and a
    Gaussian kernel. The defaults need no tuning. In a `Session` the pool is all its items, and the neighbours are
    found once, not in every round.

    Parameters
    ----------
    neighbours : int, default=10
        How many neighbours an item is moved towards.
    smoothing : float, default=0.5
        How far, from 0 (not at all) to 1 (onto their mean).
    C : float, default=50.0
        Inverse strength of the penalty of the logistic regression, whose classes are balanced.
    standardise : bool or "auto", default="auto"
        Divide dense columns by their standard deviation. "auto" does so where they have units of their own: where the
        largest deviation is more than five times the lower quartile, and columns are neither scaled already nor
        sorted by variance as principal components are. Sparse items are never standardised.

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
        The labels, sorted.
    n_features_in_ : int
        Columns of the items.
    pool_ : SmoothedPool or None
        The features of the pool of the last fit. Copies of the model share it.
    space_ : Space
        How items become points.
    head_ : Kernel
        The classifier of the points.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PoolClassifier().fit(X[:50], y[:50], unlabelled=X[50:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.75
    True
    """

    uses_unlabelled = True  # a session fits it with `unlabelled`

    def __init__(
        self,
        *,
        neighbours: int = 10,
        smoothing: float = 0.5,
        C: float = 50.0,
        standardise: Standardise = "auto",
    ) -> None:
        self.neighbours = neighbours
        self.smoothing = smoothing
        self.C = C
        self.standardise = standardise

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: ArrayLike, unlabelled: Any = None) -> Self:
        """Fit the classifier to labelled items and, if given, to a pool of others.

        Parameters
        ----------
        X : array or sparse matrix of shape (labelled, columns)
            Items of finite numbers.
        y : array of shape (labelled,)
            Their labels, of at least two classes.
        unlabelled : array or sparse matrix of shape (others, columns), optional
            Further items of the pool. Without it nothing is smoothed.

        Returns
        -------
        PoolClassifier
            The classifier itself.

        Raises
        ------
        ValueError
            If items are not finite, or the labels are of one class (`InvalidInput`).
        """
        with warnings.catch_warnings():
            # scikit-learn takes many classes among few labels for a regression: here they are the usual case.
            warnings.filterwarnings("ignore", message="The number of unique classes")
            return self._fit(X, y, unlabelled)

    def _fit(self, X: Any, y: ArrayLike, unlabelled: Any) -> Self:
        settings = self._settings()
        X, y = _sklearn_checks.validate(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32))
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InvalidInput(
                f"the labels are all of one class, {self.classes_.tolist()[0]!r}; expected two or more: label items "
                "of another."
            )
        pool = None if unlabelled is None else whole_rows(X, unlabelled, self._checked)
        self.space_ = Space.learn(X, pool, settings)
        points = Points(self.space_, X)
        anchors = Anchors.at(points, self.space_.gamma(points.features))
        self.head_ = Kernel(self.C)
        self.head_.fit_head(anchors, anchors.mixed(points), numbers)
        return self

    @property
    def pool_(self) -> SmoothedPool | None:
        """The features of the pool of the last fit. Copies of the model share it."""
        return self.space_.pool

    def _settings(self) -> Settings:
        numbers = is_whole(self.neighbours) and is_real(self.smoothing)
        standardise = is_hashable(self.standardise) and self.standardise in (True, False, "auto")
        if not (numbers and standardise) or self.neighbours < 1 or not 0 <= self.smoothing <= 1:
            raise InvalidInput(
                f"PoolClassifier has neighbours={self.neighbours}, smoothing={self.smoothing} and "
                f"standardise={self.standardise!r}; expected neighbours of 1 or more, smoothing from 0 to 1, and "
                "standardise True, False or 'auto': change them."
            )
        return Settings(self.neighbours, self.smoothing, self.standardise)

    def _checked(self, X: Any) -> Any:
        return _sklearn_checks.validate(self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, (items, classes), its columns in the order of `classes_`."""
        check_is_fitted(self)
        X = self._checked(X)
        tiles = (X[start : start + TILE] for start in range(0, X.shape[0], TILE))
        return np.concatenate([self.head_.predict_proba(Points(self.space_, tile)) for tile in tiles])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each item, (items,)."""
        probs = self.predict_proba(X)
        predicted: NDArray[Any] = self.classes_[probs.argmax(axis=1)]
        return predicted

    def embed(self, X: Any) -> Floats:
        """Return the smoothed features of items, (items, features), in which strategies look for variety."""
        check_is_fitted(self)
        return self.space_.features(self._checked(X))


def whole_rows(X: Any, unlabelled: Any, checked: Callable[[Any], Any]) -> Any:
    """Return labelled and unlabelled items as one matrix; the whole data set where a session gives part of one."""
    if isinstance(unlabelled, Subset):
        return checked(take(unlabelled.items, slice(None)))
    if not (unlabelled.shape[0] if hasattr(unlabelled, "shape") else len(unlabelled)):
        return X
    others = checked(unlabelled)
    if issparse(X) != issparse(others):
        raise InvalidInput(
            "of labelled and unlabelled items one is sparse and the other dense; give both in the same form."
        )
    return vstack([X, others], format="csr") if issparse(X) else np.concatenate([X, others])
