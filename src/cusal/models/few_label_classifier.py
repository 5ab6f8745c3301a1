"""The classifier for few labels: several experts, pooled by what they say out of fold.

    o_m          out-of-fold predictions of expert m of M, p_m its predictions; o'_m, p'_m at its own temperature T_m
    T_m          minimises -sum_i log softmax(log o_mi / T)[y_i] + (5 / 2) log(T)^2
    w            maximises sum_i log sum_m w_m o'_mi[y_i] + 3 sum_m v_m log w_m          by EM from v
    v            1 / M; where items are compared by their angle (texts, embeddings) .7 for "kernel", .3 for the others
    p(x)         sum_m w_m p'_m(x): linear, so that a single expert's 0 is no veto
    g            singletons / n, within [.5 / n, .9], times the share of labels drawn at random
    p(unmet)     g / #unmet for each class without a label, the others times 1 - g      Good 1953

Sums go over labels whose class another label has too: nothing is learned from a class that its fold had not seen. With
fewer than 20 of them w = v. Temperatures are those of `cusal.recalibration.scaling`.

| symbol | name |
|---|---|
| o, o' | out_of_fold_ of an expert |
| T | temperatures_ |
| w | weights_ |
| v | shares |
| g | unmet_mass_ |
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from cusal._arguments import is_real
from cusal._items import Subset, are_texts, is_frame
from cusal._stored import expect, stored_array, stored_indices, stored_number
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput
from cusal.models import _sklearn_checks, experts
from cusal.models._learned_features import LearnedFeatures, learned_features, whole_pool
from cusal.models._points import Anchors, Points, Space
from cusal.models._pool_state import classes_of, columns_of
from cusal.models._smoothed_pool import Settings
from cusal.models.experts._expert import Expert, Labelled, stratified
from cusal.models.experts._folded import Folded
from cusal.models.experts.kernel import Kernel
from cusal.models.pool_classifier import TILE, whole_rows
from cusal.recalibration.scaling import Scaling, fit_scaling

DEFAULT = ("kernel", "ridge", "forest", "lda")
SETTINGS = Settings(neighbours=10, smoothing=0.5, standardise="auto")
FEWEST = 20  # labels from which weights are learned
PRIOR = 3.0  # labels that speak for the weights without any
KERNEL_SHARE = 0.7  # of texts and embeddings, where trees and discriminants say little with one label a class
ROUNDS = 200  # of EM
MOST_UNMET, LEAST_UNMET = 0.9, 0.5
MOST_EXPERTS, LEAST_TEMPERATURE = 100, 0.01  # in a file
NUMBERS = (np.float64, np.float32)
FITTED = ("classes_", "n_features_in_", "temperatures_", "weights_", "unmet_mass_", "_columns")
Probs = NDArray[np.float64]


class FewLabelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier for 20 to 400 labels of texts, tables, embeddings or sparse rows that also learns from the rest.

    Four classifiers of different kinds are fitted; each is weighed by how well it predicts labels that it was not
    fitted to, so that no choice between them is needed. `Session(items)` uses it.

    Parameters
    ----------
    experts : sequence, optional
        What is pooled: names of `cusal.models.experts.names()`, and classifiers of your own with scikit-learn's `fit`,
        `predict_proba` and `get_params`, which get five stratified folds. By default "kernel", "ridge", "forest" and
        "lda".
    features : transformer or None, default="auto"
        What turns items into numbers, learned from the whole pool. "auto" takes `cusal.features.TextFeatures` for
        texts, `cusal.features.TableFeatures` for data frames and for arrays with missing values, nothing for others.
    classes : sequence, optional
        All classes that there are, where some may have no label yet: these get a probability too.
    random_share : float, default=1.0
        The share of the labels that were drawn at random: picks meet more classes with one label than random items do,
        and say less about those without any.
    random_state : int, RandomState or None, default=None
        Seed of the forests and of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (classes,)
        The labels, sorted.
    out_of_fold_ : ndarray of shape (labelled, classes)
        Predictions of the labelled items by copies that were not fitted to them, in the order of y.
    experts_ : list of Expert
        The fitted experts.
    weights_, temperatures_ : ndarray of shape (experts,)
        How much each counts, and at which temperature.
    unmet_mass_ : float
        The probability of all classes without a label together.
    features_ : transformer or None
        The fitted copy of the features.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FewLabelClassifier(random_state=0).fit(X[:50], y[:50], unlabelled=X[50:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.75, model.out_of_fold_.shape
    (True, (50, 10))
    """

    uses_unlabelled = True  # a session fits it with `unlabelled`

    def __init__(
        self,
        experts: Sequence[Any] | None = None,
        *,
        features: Any = "auto",
        classes: Sequence[Any] | None = None,
        random_share: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.experts = experts
        self.features = features
        self.classes = classes
        self.random_share = random_share
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: ArrayLike, unlabelled: Any = None) -> Self:
        """Fit the classifier to labelled items and, if given, to a pool of others.

        Parameters
        ----------
        X : array, sparse matrix, data frame or texts, (labelled, ...)
            Items.
        y : array of shape (labelled,)
            Their labels, of at least two classes.
        unlabelled : the same, (others, ...), optional
            Further items of the pool.

        Returns
        -------
        FewLabelClassifier
            The classifier itself.

        Raises
        ------
        ValueError
            If items are infinite, the labels are of one class, or a setting is out of range (`InvalidInput`).
        """
        chosen = self._chosen()
        with warnings.catch_warnings():
            # scikit-learn takes many classes among few labels for a regression: here they are the usual case.
            warnings.filterwarnings("ignore", message="The number of unique classes")
            rows, y, pool = self._rows_to_fit(X, y, unlabelled)
            check_classification_targets(y)
            met, numbers = np.unique(y, return_inverse=True)
            if len(met) < 2:
                raise InvalidInput(
                    f"the labels are all of one class, {met.tolist()[0]!r}; expected two or more: label items of "
                    "another."
                )
            self.classes_ = self._all_classes(met)
            self._columns = np.searchsorted(self.classes_, met)
            self.space_ = Space.learn(rows, pool, SETTINGS)
            self._fit_experts(chosen, Points(self.space_, rows), numbers)
        self._pool(numbers, embedded=self.space_.encoding.cosine and not _of_categories(rows))
        return self

    def _chosen(self) -> list[Expert]:
        if not is_real(self.random_share) or not 0 <= self.random_share <= 1:
            raise InvalidInput(f"random_share is {self.random_share!r}; expected a number from 0 to 1.")
        given = DEFAULT if self.experts is None else self.experts
        if isinstance(given, str) or not isinstance(given, Sequence) or not len(given):
            raise InvalidInput(
                f"experts is {given!r}; expected a list of names ({', '.join(experts.names())}) and classifiers."
            )
        chosen: list[Expert] = []
        for one in given:
            if isinstance(one, str):
                chosen.append(experts.find(one)())
            elif isinstance(one, Expert):
                chosen.append(clone(one, safe=False))
            elif all(hasattr(one, needed) for needed in ("fit", "predict_proba", "get_params")):
                chosen.append(Folded(one))
            else:
                raise InvalidInput(
                    f"experts has {one!r}; expected names ({', '.join(experts.names())}) or classifiers with fit, "
                    "predict_proba and get_params, as scikit-learn's have."
                )
        return chosen

    def _rows_to_fit(self, X: Any, y: Any, unlabelled: Any) -> tuple[Any, Any, Any]:
        """Return the labelled items as rows of numbers, their labels, and those of the whole pool, or None."""
        made = self._suited_features(X, unlabelled)
        self.learned_: LearnedFeatures | None = None
        if made is None:
            rows, y = _sklearn_checks.validate(self, X, y, accept_sparse="csr", dtype=NUMBERS)
            return rows, y, None if unlabelled is None else whole_rows(rows, unlabelled, self._checked)
        pool, others = whole_pool(X, unlabelled)
        self.learned_ = learned_features(made, pool, shared=isinstance(unlabelled, Subset))
        if hasattr(self.learned_.features, "n_features_in_"):
            self.n_features_in_ = self.learned_.features.n_features_in_
        rows, y = self._features_of(X), column_or_1d(y, warn=True)
        if len(y) != rows.shape[0]:
            raise InvalidInput(f"y has {len(y)} labels for {rows.shape[0]} items; give one for each.")
        return rows, y, None if others is None else self.learned_.rows

    def _suited_features(self, X: Any, unlabelled: Any) -> Any:
        if not isinstance(self.features, str):
            return self.features
        if self.features != "auto":
            raise InvalidInput(f"features is {self.features!r}; expected 'auto', None or a transformer.")
        if are_texts(X):
            from cusal.features import TextFeatures

            return TextFeatures()
        if is_frame(X) or _has_missing(X) or _has_missing(getattr(unlabelled, "items", unlabelled)):
            from cusal.features import TableFeatures

            return TableFeatures()
        return None

    @property
    def features_(self) -> Any:
        """The fitted features; None where items are rows of numbers."""
        return None if self.learned_ is None else self.learned_.features

    def _checked(self, X: Any) -> Any:
        return _sklearn_checks.validate(self, X, reset=False, accept_sparse="csr", dtype=NUMBERS)

    def _features_of(self, X: Any) -> Any:
        assert self.learned_ is not None
        return check_array(self.learned_.rows_of(X), accept_sparse="csr", dtype=NUMBERS)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._checked(X) if self.learned_ is None else self._features_of(X)

    def _all_classes(self, met: NDArray[Any]) -> NDArray[Any]:
        if self.classes is None:
            return met
        if isinstance(self.classes, str) or not isinstance(self.classes, Iterable):
            raise InvalidInput(f"classes is {self.classes!r}; expected a list of all classes.")
        known = np.unique(np.asarray(list(self.classes)))
        unknown = [label for label in met.tolist() if label not in known.tolist()]
        if unknown:
            raise InvalidInput(f"the label {unknown[0]!r} is none of classes={known.tolist()}; add it to them.")
        return known

    def _fit_experts(self, chosen: list[Expert], points: Points, numbers: Indices) -> None:
        rng = check_random_state(self.random_state)
        labelled = Labelled(
            points,
            Anchors.at(points, self.space_.gamma(points.features)),
            numbers,
            classes=len(self._columns),
            folds=stratified(numbers, rng),
            seed=int(rng.randint(2**31 - 1)),
        )
        self.experts_ = [expert.fit(labelled) for expert in chosen]

    def _pool(self, numbers: Indices, *, embedded: bool) -> None:
        """Learn temperatures and weights, and pool the out-of-fold predictions."""
        counts = np.bincount(numbers)
        several = counts[numbers] > 1
        labels, n = numbers[several], int(several.sum())
        said = [expert.out_of_fold_ for expert in self.experts_]
        scalings = [fit_scaling(o[several], labels, weights=np.ones(n), with_offsets=False) for o in said]
        self.temperatures_ = np.array([scaling.temperature for scaling in scalings])
        scaled = [scaling.apply(o) for scaling, o in zip(scalings, said, strict=True)]
        right = np.stack([o[several][np.arange(n), labels] for o in scaled])  # (experts, n)
        shares = self._shares(embedded=embedded)
        self.weights_ = pool_weights(right, shares) if n >= FEWEST else shares
        single = int((counts == 1).sum()) * self.random_share
        mass = float(np.clip(single, LEAST_UNMET, MOST_UNMET * len(numbers))) / len(numbers)
        self.unmet_mass_ = mass if len(self._columns) < len(self.classes_) else 0.0
        pooled = np.tensordot(self.weights_, scaled, 1)
        self.out_of_fold_ = self._with_unmet(pooled)
        for row in np.flatnonzero(~several):  # without this label its class would be one more that is not met
            self.out_of_fold_[row] = self._with_unmet(pooled[row : row + 1], numbers[row], mass)

    def _shares(self, *, embedded: bool) -> NDArray[np.float64]:
        """Return the weights of the experts without any labels, (experts,)."""
        kernels = np.array([isinstance(expert, Kernel) for expert in self.experts_])
        if not embedded or not kernels.any() or kernels.all():
            return np.full(len(kernels), 1 / len(kernels))
        shares: NDArray[np.float64] = np.where(
            kernels, KERNEL_SHARE / kernels.sum(), (1 - KERNEL_SHARE) / (~kernels).sum()
        )
        return shares

    def _with_unmet(self, pooled: Probs, also: int | None = None, mass: float | None = None) -> Probs:
        """Return predictions (n, classes with a label) in columns of all classes, those without a label sharing a mass.

        also: a class that is to count among these.
        """
        met = np.ones(len(self._columns), dtype=bool)
        if also is not None:
            met[also] = False
        columns, known = self._columns[met], pooled[:, met]
        unmet = len(self.classes_) - len(columns)
        if not unmet:
            return pooled
        mass = self.unmet_mass_ if mass is None else mass
        probs = np.full((len(pooled), len(self.classes_)), mass / unmet)
        total = known.sum(axis=1, keepdims=True)
        probs[:, columns] = (1 - mass) * np.where(total > 0, known / np.where(total > 0, total, 1), 1 / len(columns))
        return probs

    def predict_proba(self, X: Any) -> Probs:
        """Return the probability of each class, (items, classes), its columns in the order of `classes_`."""
        rows = self._rows(X)
        tiles = (Points(self.space_, rows[start : start + TILE]) for start in range(0, rows.shape[0], TILE))
        return np.concatenate([self._with_unmet(self._pooled(tile)) for tile in tiles])

    def _pooled(self, points: Points) -> Probs:
        total = np.zeros((len(points), len(self._columns)))
        for expert, temperature, weight in zip(self.experts_, self.temperatures_, self.weights_, strict=True):
            scaling = Scaling(float(temperature), np.zeros(len(self._columns)))
            total += weight * scaling.apply(expert.predict_proba(points))
        return total

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each item, (items,)."""
        probs = self.predict_proba(X)
        predicted: NDArray[Any] = self.classes_[probs.argmax(axis=1)]
        return predicted

    def embed(self, X: Any) -> Floats:
        """Return the smoothed features of items, (items, features), in which strategies look for variety."""
        return self.space_.features(self._rows(X))

    def state(self) -> dict[str, Any]:
        """Return what `predict_proba` of rows of numbers needs, as plain values and arrays; the features are not in it.

        Raises
        ------
        InvalidInput
            If it was fitted with an expert of your own.
        """
        check_is_fitted(self)
        return {
            "fitted": {
                name: getattr(self, name) for name in FITTED if self.learned_ is None or name != "n_features_in_"
            },
            "space": self.space_.state(),
            "experts": [{"name": type(expert).__name__.lower(), **expert.state()} for expert in self.experts_],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the fitted classifier of a `state`, of rows of numbers.

        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
        >>> model = FewLabelClassifier(random_state=0).fit(X, y)
        >>> FewLabelClassifier.from_state(model.state()).predict([[2.9]])
        array([1])
        """
        given, fitted, space = state["experts"], state["fitted"], Space.from_state(state["space"])
        expect(0 < len(given) <= MOST_EXPERTS, "the list of experts")
        model = cls([one["name"] for one in given], features=None)
        model.learned_, model.space_ = None, space
        if "n_features_in_" in fitted:
            model.n_features_in_ = columns_of(fitted["n_features_in_"], space)
        model.classes_ = classes_of(fitted["classes_"])
        model._columns = stored_indices(fitted["_columns"], "the columns", None, below=len(model.classes_))
        met = len(model._columns)
        expect(met > 1 and (np.diff(model._columns) > 0).all(), "the list of columns")
        model.temperatures_ = stored_array(fitted["temperatures_"], "the temperatures", len(given))
        model.weights_ = stored_array(fitted["weights_"], "the weights of experts", len(given))
        expect((model.temperatures_ > LEAST_TEMPERATURE).all(), "a temperature")
        expect((model.weights_ >= 0).all() and abs(model.weights_.sum() - 1) < 1e-6, "the weight of experts")
        model.unmet_mass_ = stored_number(fitted["unmet_mass_"], "the mass of classes without a label", 0, 1)
        model.experts_ = [experts.find(one["name"]).from_state(one, space, met) for one in given]
        return model


def pool_weights(right: Probs, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of experts, (experts,), from what each gave to the true classes, (experts, n).

    shares: their weights without any labels, (experts,).

    >>> pool_weights(np.array([[0.9] * 40, [0.4] * 40]), np.array([0.5, 0.5])).round(2)
    array([0.94, 0.06])
    """
    weights, n = shares, right.shape[1]
    for _ in range(ROUNDS):
        credit = weights[:, None] * right
        credit /= np.maximum(credit.sum(axis=0), np.finfo(np.float64).tiny)
        weights = (credit.sum(axis=1) + PRIOR * shares) / (n + PRIOR)
        weights /= weights.sum()
    return weights


def _of_categories(rows: Any) -> bool:
    """Return whether most columns hold two values, as those of categories do: then many columns are still a table."""
    if issparse(rows):
        return False
    return bool(((rows == rows.min(axis=0)) | (rows == rows.max(axis=0))).all(axis=0).mean() > 0.5)


def _has_missing(X: Any) -> bool:
    values = X if isinstance(X, np.ndarray) else np.empty(0)
    return values.ndim == 2 and values.dtype.kind == "f" and bool(np.isnan(values).any())
