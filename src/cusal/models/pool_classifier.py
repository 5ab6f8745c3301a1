"""A kernel classifier for few labels, on features smoothed over the whole pool.

    K(x, z) = (u(x)'u(z) + exp(-gamma |u(x) - u(z)|^2)) / 2       dense items
    K(x, z) = (s(x)'s(z) + u(x)'u(z) + exp(...)) / 3              sparse items, s their scaled rows
    F = V sqrt(w) of K = V diag(w) V' on the labelled items, centred; a logistic regression on F

u are the smoothed features of `_smoothed_pool`; without a pool, the encoded ones of `_encoding`. gamma is one over the
median squared distance of 400 items. A prediction needs K(x, labelled) alone: F(x) coef = K(x, labelled) dual.
"""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.sparse import csr_matrix, issparse, vstack
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from cusal._arguments import is_hashable, is_real, is_whole
from cusal._items import Subset, take
from cusal._types import Floats
from cusal.errors import InvalidInput
from cusal.models import _sklearn_checks
from cusal.models._encoding import Encoding, Standardise
from cusal.models._neighbours import squared_distances
from cusal.models._smoothed_pool import Settings, SmoothedPool, smoothed_pool

MEDIAN_ITEMS = 400
LEAST_EIGENVALUE = 1e-10  # of the largest: what is smaller is rounding
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
        pool = None if unlabelled is None else self._whole_pool(X, unlabelled)
        self.pool_: SmoothedPool | None = None if pool is None else smoothed_pool(pool, settings)
        self.encoding_ = self.pool_.encoding if self.pool_ else Encoding.learn(X, self.standardise)
        self._fit_head(X, numbers)
        return self

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

    def _whole_pool(self, X: Any, unlabelled: Any) -> Any:
        """Return labelled and unlabelled items as one matrix; the whole data set where a session gives part of one."""
        if isinstance(unlabelled, Subset):
            return self._checked(take(unlabelled.items, slice(None)))
        if not (unlabelled.shape[0] if hasattr(unlabelled, "shape") else len(unlabelled)):
            return X
        others = self._checked(unlabelled)
        if issparse(X) != issparse(others):
            raise InvalidInput(
                "of labelled and unlabelled items one is sparse and the other dense; give both in the same form."
            )
        return vstack([X, others], format="csr") if issparse(X) else np.concatenate([X, others])

    def _checked(self, X: Any) -> Any:
        return _sklearn_checks.validate(self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32))

    def _fit_head(self, X: Any, numbers: NDArray[np.int64]) -> None:
        self.labelled_ = self._features(X).astype(np.float64)
        rows = self.encoding_.sparse(X)
        # Plain arrays, so that a saved session can hold them.
        self.labelled_rows_ = None if rows is None else (rows.data, rows.indices, rows.indptr, rows.shape)
        distances = squared_distances(*[self._sample().astype(np.float64)] * 2)
        apart = distances[np.triu_indices(len(distances), 1)]
        self.gamma_ = 1 / (float(np.median(apart)) or 1.0)
        # (labelled, labelled) = V diag(w) V'
        values, vectors = linalg.eigh(self._kernel(self.labelled_, rows))
        kept = values > LEAST_EIGENVALUE * max(values[-1], LEAST_EIGENVALUE)
        values, vectors = values[kept], vectors[:, kept]
        F = vectors * np.sqrt(values)
        centre = F.mean(axis=0)
        head = LogisticRegression(C=self.C, class_weight="balanced", max_iter=2000)
        head.fit(F - centre, numbers)
        self.dual_coef_ = (vectors / np.sqrt(values)) @ head.coef_.T  # (labelled, classes, or 1 of two)
        self.intercept_ = head.intercept_ - head.coef_ @ centre

    def _features(self, X: Any) -> Floats:
        return self.encoding_.dense(X) if self.pool_ is None else self.pool_.features(X)

    def _sample(self) -> Floats:
        if self.pool_ is not None:
            return self.pool_.sample(MEDIAN_ITEMS)
        step = -(-len(self.labelled_) // MEDIAN_ITEMS)
        return self.labelled_[::step]

    def _kernel(self, features: Floats, rows: Any) -> Floats:
        """Return K between items and the labelled ones, (items, labelled)."""
        kernel = np.exp(-self.gamma_ * squared_distances(features, self.labelled_))
        kernel += features @ self.labelled_.T
        if rows is None or self.labelled_rows_ is None:
            return kernel / 2
        labelled = csr_matrix(self.labelled_rows_[:3], shape=self.labelled_rows_[3])
        kernel += (rows @ labelled.T).toarray()
        return kernel / 3

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, (items, classes), its columns in the order of `classes_`."""
        check_is_fitted(self)
        X = self._checked(X)
        scores = np.concatenate([self._scores(X[start : start + TILE]) for start in range(0, X.shape[0], TILE)])
        if scores.shape[1] == 1:
            scores = expit(scores)
            return np.hstack([1 - scores, scores])
        probs: NDArray[np.float64] = softmax(scores, axis=1)
        return probs

    def _scores(self, X: Any) -> Floats:
        kernel = self._kernel(self._features(X), self.encoding_.sparse(X))
        scores: Floats = kernel @ self.dual_coef_ + self.intercept_
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each item, (items,)."""
        probs = self.predict_proba(X)
        predicted: NDArray[Any] = self.classes_[probs.argmax(axis=1)]
        return predicted

    def embed(self, X: Any) -> Floats:
        """Return the smoothed features of items, (items, features), in which strategies look for variety."""
        check_is_fitted(self)
        return self._features(self._checked(X))
