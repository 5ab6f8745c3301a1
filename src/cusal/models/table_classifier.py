"""A classifier of tables: smooth boundaries from few labels, and trees beside them from a hundred on.

    a(x) = softmax(log p_pool(x) / T_a)        p_pool: `PoolClassifier`
    b(x) = softmax(log p_trees(x) / T_b)       p_trees: extremely randomised trees (Geurts et al. 2006)
    p(x) = softmax((1 - w) log a(x) + w log b(x))

T_a, T_b and then w, one of 0, .05, .. 1, minimise the log loss of out-of-fold predictions of the labelled items (the
temperatures with the prior of `cusal.recalibration.scaling`): a logarithmic opinion pool, Heskes 1998. Trees see what
no distance does, a column that matters alone or with another; they are poor with few labels, and far too unsure, which
is what T_b is for.

| symbol | name |
|---|---|
| T_a, T_b | pool_scaling, trees_scaling |
| w | weight |
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from cusal._arguments import is_whole
from cusal._items import Subset
from cusal._types import Floats
from cusal.errors import InvalidInput
from cusal.models import _sklearn_checks
from cusal.models.pool_classifier import PoolClassifier
from cusal.recalibration.scaling import LEAST, Scaling, fit_scaling

FOLDS = 5
WEIGHTS = np.linspace(0, 1, 21)
Probs = NDArray[np.float64]
Numbers = NDArray[np.int64]


class TableClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of tables that is good with few labels and with some hundred.

    Use it for rows of numbers, such as `cusal.features.TableFeatures` returns. With fewer than `least_labels` labels it
    is `PoolClassifier`; from there on its predictions are mixed with those of a forest, in proportions that
    cross-fitting finds. A fit then takes about a second. `Session(frame)` uses it.

    Parameters
    ----------
    trees : int, default=100
        Trees of the forest.
    least_labels : int, default=100
        With fewer labels there is no forest.
    random_state : int, RandomState or None, default=None
        Seed of the forest and of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
        The labels, sorted.
    weight_ : float
        How much the forest counts, from 0 to 1.
    out_of_fold_proba_ : ndarray of shape (labelled, classes)
        Predictions of the labelled items by copies that were not fitted to them; only with `least_labels` or more.
    n_features_in_ : int
        Columns of the items.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TableClassifier(random_state=0).fit(X[:150], y[:150], unlabelled=X[150:400])
    >>> model.score(X[400:], y[400:]) > 0.9
    True
    """

    uses_unlabelled = True  # a session fits it with `unlabelled`

    def __init__(self, *, trees: int = 100, least_labels: int = 100, random_state: Any = None) -> None:
        self.trees = trees
        self.least_labels = least_labels
        self.random_state = random_state

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
            Further items of the pool.

        Returns
        -------
        TableClassifier
            The classifier itself.

        Raises
        ------
        ValueError
            If items are not finite, or the labels are of one class (`InvalidInput`).
        """
        if not (is_whole(self.trees) and is_whole(self.least_labels)) or self.trees < 1 or self.least_labels < 2:
            raise InvalidInput(
                f"TableClassifier has trees={self.trees} and least_labels={self.least_labels}; expected 1 or more and "
                "2 or more: change them."
            )
        self.pool_model_ = PoolClassifier().fit(X, y, unlabelled)
        X, y = _sklearn_checks.validate(self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32))
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        self.mixture_: _Mixture | None = None
        self.weight_ = 0.0
        self.trees_model_: Any = None
        if hasattr(self, "out_of_fold_proba_"):
            del self.out_of_fold_proba_
        if len(numbers) >= self.least_labels:
            self._add_forest(X, numbers, None if unlabelled is None else self.pool_model_._whole_pool(X, unlabelled))
        return self

    def _add_forest(self, X: Any, numbers: Numbers, pool: Any) -> None:
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        folds = _stratified(numbers, rng)
        own = {"pool": np.zeros((len(numbers), len(self.classes_)))}
        own["trees"] = own["pool"].copy()
        for fold in range(FOLDS):
            seen, left = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            if len(np.unique(numbers[seen])) < 2 or not len(left):
                continue  # copies that know one class cannot say which of two is better: these rows count for neither
            whole = None if pool is None else Subset(pool, np.arange(0))
            copies = {
                "pool": PoolClassifier().fit(X[seen], numbers[seen], whole),
                "trees": self._forest(max(1, self.trees // 2), seed).fit(X[seen], numbers[seen]),
            }
            for name, copy in copies.items():
                own[name][np.ix_(left, copy.classes_)] = copy.predict_proba(X[left])
        self.mixture_ = _Mixture.fit(own["pool"], own["trees"], numbers)
        self.weight_ = self.mixture_.weight
        self.out_of_fold_proba_ = self.mixture_.apply(own["pool"], own["trees"])
        self.trees_model_ = self._forest(self.trees, seed).fit(X, numbers)

    def _forest(self, trees: int, seed: int) -> ExtraTreesClassifier:
        return ExtraTreesClassifier(trees, random_state=seed)

    def predict_proba(self, X: Any) -> Probs:
        """Return the probability of each class, (items, classes), its columns in the order of `classes_`."""
        check_is_fitted(self)
        X = _sklearn_checks.validate(self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32))
        probs: Probs = self.pool_model_.predict_proba(X)
        if self.mixture_ is None or self.trees_model_ is None:
            return probs
        return self.mixture_.apply(probs, self.trees_model_.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each item, (items,)."""
        probs = self.predict_proba(X)
        predicted: NDArray[Any] = self.classes_[probs.argmax(axis=1)]
        return predicted

    def embed(self, X: Any) -> Floats:
        """Return the smoothed features of `PoolClassifier`, (items, features), in which strategies look for variety."""
        check_is_fitted(self)
        return self.pool_model_.embed(X)


@dataclass(frozen=True)
class _Mixture:
    """The temperatures of two predictions, and the weight of the second."""

    pool_scaling: Scaling
    trees_scaling: Scaling
    weight: float

    @classmethod
    def fit(cls, pool: Probs, trees: Probs, labels: Numbers) -> Self:
        """Return the mixture that fits labels (n,) best, from out-of-fold predictions (n, classes)."""
        even = np.ones(len(labels))
        first, second = (fit_scaling(probs, labels, weights=even, with_offsets=False) for probs in (pool, trees))
        rows = np.arange(len(labels))
        mixtures = [cls(first, second, float(weight)) for weight in WEIGHTS]
        losses = [-np.log(mixture.apply(pool, trees)[rows, labels]).mean() for mixture in mixtures]
        return mixtures[int(np.argmin(losses))]

    def apply(self, pool: Probs, trees: Probs) -> Probs:
        """Return the mixed predictions, (n, classes)."""
        logs = [
            np.log(np.maximum(scaling.apply(probs), LEAST))
            for scaling, probs in ((self.pool_scaling, pool), (self.trees_scaling, trees))
        ]
        mixed: Probs = softmax((1 - self.weight) * logs[0] + self.weight * logs[1], axis=1)
        return mixed


def _stratified(numbers: Numbers, rng: np.random.RandomState) -> Numbers:
    """Return the fold of each item, (n,): of every class about equally many in each, however few it has."""
    folds = np.empty(len(numbers), dtype=np.int64)
    folds[np.lexsort((rng.random_sample(len(numbers)), numbers))] = np.arange(len(numbers)) % FOLDS
    return folds
