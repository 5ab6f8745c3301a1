"""Fitted classifiers of scikit-learn as arrays alone, and predictions from them with NumPy.

| classifier | arrays |
|---|---|
| LogisticRegression, LinearDiscriminantAnalysis, MultinomialNB | weights, bias |
| GaussianNB | means, variances, priors |
| KNeighborsClassifier (Euclidean) | the labelled vectors and their classes |
| DecisionTree-, RandomForest-, ExtraTreesClassifier | children, columns, thresholds and values of all nodes |

Steps of a pipeline that scale columns become a factor and a shift. A form is taken only if it predicts what the
classifier itself does.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags, issparse
from scipy.special import expit, softmax

from cusal._types import Floats, Indices
from cusal.models._trees import Trees

Probs = NDArray[np.float64]
LEAF = -1  # as a child
TILE = 1 << 20  # numbers that are held at a time
CLOSE = 1e-6  # in probability, of a form and the classifier itself
SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler")


@dataclass(frozen=True)
class Linear:
    """Scores x @ weights + bias, (columns, classes) and (classes,), or one column of them for two classes."""

    weights: Floats
    bias: Floats
    normalised: str  # "softmax", or "logistic": each class against the others
    kind: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        _check(self.weights.ndim == 2 and self.bias.shape == self.weights.shape[1:])

    def predict_proba(self, X: Any) -> Probs:
        """Return the probability of each class, (rows, classes)."""
        scores = np.asarray(X @ self.weights + self.bias)
        if scores.shape[1] == 1:
            return np.concatenate([expit(-scores), expit(scores)], axis=1)
        if self.normalised == "softmax":
            return np.asarray(softmax(scores, axis=1))
        each = expit(scores)
        return np.asarray(each / each.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Gaussians:
    """A normal density of each class: means and variances (classes, columns), logarithms of priors (classes,)."""

    means: Floats
    variances: Floats
    log_priors: Floats
    kind: ClassVar[str] = "gaussians"

    def __post_init__(self) -> None:
        _check(self.means.ndim == 2 and self.means.shape == self.variances.shape)
        _check(self.log_priors.shape == self.means.shape[:1] and bool((self.variances > 0).all()))

    def predict_proba(self, X: Any) -> Probs:
        """Return the probability of each class, (rows, classes)."""
        X = np.asarray(X, dtype=np.float64)
        squares = [
            ((X - mean) ** 2 / spread).sum(axis=1) for mean, spread in zip(self.means, self.variances, strict=True)
        ]
        scores = self.log_priors - (np.log(2 * np.pi * self.variances).sum(axis=1) + np.stack(squares, axis=1)) / 2
        return np.asarray(softmax(scores, axis=1))


@dataclass(frozen=True)
class Neighbours:
    """The share of each class among the nearest of some points (n, columns), whose classes are `numbers` (n,)."""

    points: Floats
    numbers: Indices
    classes: int
    neighbours: int
    by_distance: bool
    kind: ClassVar[str] = "neighbours"

    def __post_init__(self) -> None:
        _check(
            self.points.ndim == 2 and self.classes <= len(self.points) and self.numbers.shape == self.points.shape[:1]
        )
        _check(0 < self.neighbours <= len(self.points) and 0 <= self.numbers.min() <= self.numbers.max() < self.classes)

    def predict_proba(self, X: Any) -> Probs:
        """Return the probability of each class, (rows, classes)."""
        X = np.asarray(X, dtype=np.float64)
        step = max(1, TILE // len(self.points))
        parts = [self._shares(X[start : start + step]) for start in range(0, len(X), step)]
        return np.concatenate([np.empty((0, self.classes)), *parts])

    def _shares(self, X: Floats) -> Probs:
        squares = (X**2).sum(axis=1)[:, None] - 2 * X @ self.points.T + (self.points**2).sum(axis=1)
        nearest = np.argsort(squares, axis=1, kind="stable")[:, : self.neighbours]
        weights = np.ones(nearest.shape)
        if self.by_distance:
            away = np.sqrt(np.maximum(np.take_along_axis(squares, nearest, axis=1), 0))
            same = away < 1e-7  # a point itself decides alone
            weights = np.where(same.any(axis=1, keepdims=True), same, 1 / np.where(same, 1, away))
        total = np.zeros((len(X), self.classes))
        np.add.at(total, (np.arange(len(X))[:, None], self.numbers[nearest]), weights)
        return np.asarray(total / total.sum(axis=1, keepdims=True))


Form = Linear | Gaussians | Neighbours | Trees
FORMS: dict[str, type[Form]] = {form.kind: form for form in (Linear, Gaussians, Neighbours, Trees)}


@dataclass(frozen=True)
class ArrayModel:
    """A classifier of vectors: each column times its factor plus its shift, and one of the forms above.

    classes_: (classes,) the class number of each column of `predict_proba`.
    """

    form: Form
    classes_: Indices
    factor: Floats | None = None
    shift: Floats | None = None

    def predict_proba(self, X: Any) -> Probs:
        """Return the probability of each class, (rows, classes)."""
        if self.factor is not None:
            X = X @ diags(self.factor) if issparse(X) else np.asarray(X) * self.factor
        if self.shift is not None and (not issparse(X) or self.shift.any()):
            X = np.asarray(X.toarray() if issparse(X) else X) + self.shift
        return self.form.predict_proba(X)

    def state(self) -> dict[str, Any]:
        """Return it as plain values and arrays."""
        rest = {"classes": self.classes_, "factor": self.factor, "shift": self.shift}
        return {"form": self.form.kind, "parts": asdict(self.form), **rest}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Return the model of a state; raise ValueError or TypeError if it is none."""
        parts = {
            key: np.asarray(part) if isinstance(part, np.ndarray) else part for key, part in state["parts"].items()
        }
        form: Callable[..., Form] = FORMS[state["form"]]
        return cls(form(**parts), np.asarray(state["classes"]), state["factor"], state["shift"])


def as_arrays(model: Any, vectors: Any) -> ArrayModel | None:
    """Return a fitted classifier of scikit-learn as arrays; None if it has no such form.

    vectors: (n, columns), of which the form has to predict what the classifier does.
    """
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    *scalers, last = [step for step in steps if step not in (None, "passthrough")]
    form = MAKERS[type(last).__name__](last) if type(last).__name__ in MAKERS else None
    own = (type(step).__module__.startswith("sklearn.") for step in (*scalers, last))
    if form is None or not all(own) or any(type(step).__name__ not in SCALERS for step in scalers):
        return None
    factor, shift = _scaling(scalers, vectors.shape[1])
    found = ArrayModel(form, np.asarray(model.classes_), factor, shift)
    expected = model.predict_proba(vectors)
    return found if np.abs(found.predict_proba(vectors) - expected).max() < CLOSE else None


def _scaling(scalers: list[Any], columns: int) -> tuple[Floats | None, Floats | None]:
    """Return the factors and shifts (columns,) that all steps together are."""
    if not scalers:
        return None, None
    factor, shift = np.ones(columns), np.zeros(columns)
    for step in scalers:
        if type(step).__name__ == "MinMaxScaler":
            own, moved = step.scale_, step.min_
        else:
            own = 1 / step.scale_ if getattr(step, "scale_", None) is not None else np.ones(columns)
            moved = -step.mean_ * own if getattr(step, "with_mean", False) else np.zeros(columns)
        factor, shift = factor * own, shift * own + moved
    return factor, shift


def _linear(model: Any) -> Linear:
    return Linear(np.asarray(model.coef_.T, np.float64), np.asarray(model.intercept_, np.float64), "softmax")


def _one_against_others(model: Any) -> Linear:
    found = _linear(model)
    alone = getattr(model, "solver", "") == "liblinear" or type(model).__name__ == "SGDClassifier"
    return Linear(found.weights, found.bias, "logistic" if alone else "softmax")


def _counts(model: Any) -> Linear:
    return Linear(model.feature_log_prob_.T.copy(), model.class_log_prior_, "softmax")


def _neighbours(model: Any) -> Neighbours | None:
    if model.effective_metric_ != "euclidean" or model.weights not in ("uniform", "distance") or issparse(model._fit_X):
        return None
    points, numbers = np.asarray(model._fit_X, np.float64), np.asarray(model._y, np.int64)
    return Neighbours(points, numbers, len(model.classes_), model.n_neighbors, model.weights == "distance")


def _forest(model: Any) -> Trees:
    return Trees.of([tree.tree_ for tree in model.estimators_])


MAKERS: dict[str, Callable[[Any], Form | None]] = {
    "LogisticRegression": _one_against_others,
    "SGDClassifier": _one_against_others,
    "LinearDiscriminantAnalysis": _linear,
    "MultinomialNB": _counts,
    "GaussianNB": lambda model: Gaussians(model.theta_, model.var_, np.log(model.class_prior_)),
    "KNeighborsClassifier": _neighbours,
    "DecisionTreeClassifier": lambda model: Trees.of([model.tree_]),
    "RandomForestClassifier": _forest,
    "ExtraTreesClassifier": _forest,
}


def _check(right: bool) -> None:
    if not right:
        raise ValueError("the arrays of the classifier do not fit each other")
