"""What cusal asks of a model, and how scikit-learn's models answer where they lack a method.

A model has `fit(X, y)` with class numbers y and `predict_proba(X)`. `embed(X)` and `sample_proba(X, samples)` are
optional: without them two-dimensional numeric items are their own embedding, and the members of an ensemble are
its samples. Of a pipeline, both are those of its last step, on the items as it sees them.

Two more are for training variants. A model whose `uses_unlabelled` is true is fitted by `fit(X, y, unlabelled=U)`;
U has a length and is indexed by an array of positions. `scoring_proba(X)` and `scoring_embed(X)` are what strategies
see of the items in place of `predict_proba` and `embed`; what users get is always `predict_proba`.

A model that makes out-of-fold predictions while it is fitted keeps them as `out_of_fold_`, (labelled, classes): rows in
the order of the y that `fit` was given, columns as `classes_`. They are the evidence for its recalibration, and no
copies are fitted. Where it has made none, for instance because there are too few labels, it has no such attribute.
"""

import copy
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_array, as_probs
from cusal._items import count_items
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput, MissingMethod


@runtime_checkable
class Model(Protocol):
    """Anything with scikit-learn's `fit` and `predict_proba`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> isinstance(GaussianNB(), Model)
    True
    """

    def fit(self, X: Any, y: Any) -> Any: ...

    def predict_proba(self, X: Any) -> Any: ...


AnyModel = TypeVar("AnyModel", bound=Model)


def unseeded(model: Model) -> list[str]:
    """Return the names of the model's random states that the user did not set."""
    if hasattr(model, "get_params"):
        params = model.get_params(deep=True)
        return sorted(
            name for name, value in params.items() if name.split("__")[-1] == "random_state" and value is None
        )
    return ["random_state"] if getattr(model, "random_state", 0) is None else []


def with_settings(model: AnyModel, other: AnyModel) -> AnyModel:
    """Return a copy of a model, fitted or not, with the settings of another of its kind, random states included."""
    model = copy.deepcopy(model)
    if hasattr(other, "get_params"):
        model.set_params(**other.get_params(deep=False))  # type: ignore[attr-defined]
    elif hasattr(other, "random_state"):
        model.random_state = other.random_state  # type: ignore[attr-defined]
    return model


def weighing_numbers(model: AnyModel, given: Model, numbers: Mapping[Any, int]) -> AnyModel:
    """Return the model with the class weights of `given`, whose keys are labels, by class numbers instead.

    The model itself is returned where there are none. Weights of classes that nobody labelled yet are left out.
    """
    params = given.get_params(deep=True) if hasattr(given, "get_params") else {}
    weights = {name: value for name, value in params.items() if name.split("__")[-1] == "class_weight"}
    by_label = {name: value for name, value in weights.items() if isinstance(value, Mapping)}
    if not by_label:
        return model
    if not any(label in numbers for value in by_label.values() for label in value):
        met = list(next(iter(by_label.values())))[:10]
        raise InvalidInput(
            f"class_weight has weights of {met}, none of which was told as a label; its keys are labels, in the type "
            "that they are told in."
        )
    own = {name: {numbers[k]: w for k, w in value.items() if k in numbers} for name, value in by_label.items()}
    return copy.deepcopy(model).set_params(**own)  # type: ignore[attr-defined, no-any-return]


def fitted_copy(
    model: AnyModel, data: tuple[Any, Indices], *, unlabelled: Any, seed: int, seeded: list[str]
) -> AnyModel:
    """Return a copy of the model fitted to data (X, y), its random states `seeded` set to `seed`.

    unlabelled: the open items, for models that use them. A model that refuses class numbers with gaps, as XGBoost does
    while a class is not met yet, is fitted to numbers without, and returned as `DenselyNumbered`.
    """
    model = copy.deepcopy(model.model if isinstance(model, DenselyNumbered) else model)
    if hasattr(model, "set_params"):
        model.set_params(**dict.fromkeys(seeded, seed))
    elif seeded:
        model.random_state = seed  # type: ignore[attr-defined]
    if getattr(model, "uses_unlabelled", False):
        model.fit(*data, unlabelled=unlabelled)  # type: ignore[call-arg]
        return model
    met = np.unique(data[1])
    try:
        model.fit(*data)
    except ValueError as error:
        if len(met) == met[-1] + 1:
            raise
        try:
            model.fit(data[0], np.searchsorted(met, data[1]))
        except ValueError:
            raise error from None
        return DenselyNumbered(model, met)  # type: ignore[return-value]
    return model


class DenselyNumbered:
    """A fitted model that knows the met classes as 0, 1, 2, ...: XGBoost refuses numbers with gaps.

    classes_: the class numbers of its columns. Everything else is the model's own.
    """

    def __init__(self, model: Any, met: Indices) -> None:
        self.model, self.classes_ = model, met

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def fit(self, X: Any, y: Any) -> Any:
        """Fit the model to other labels."""
        return self.model.fit(X, y)

    def predict_proba(self, X: Any) -> Any:
        """Return (rows, met classes) probabilities."""
        return self.model.predict_proba(X)


def predict_proba(model: Model, X: Any, classes: int) -> NDArray[np.float64]:
    """Return (rows, classes) probabilities; classes that the model has not met get probability zero."""
    return _aligned(model, model.predict_proba(X), classes, "prediction")


def out_of_fold(model: Any) -> Any:
    """Return what the model offers as `out_of_fold_`, itself or as the last step of a pipeline; None without any."""
    own = getattr(model, "out_of_fold_", None)
    return out_of_fold(model[-1]) if own is None and _is_pipeline(model) else own


def out_of_fold_proba(model: Any, classes: int) -> NDArray[np.float64]:
    """Return (labelled, classes): the out-of-fold predictions that the model made when it was fitted."""
    return _aligned(model, out_of_fold(model), classes, "out-of-fold prediction")


def scoring_proba(model: Any, X: Any, classes: int) -> NDArray[np.float64]:
    """Return (rows, classes) probabilities for strategies: the model's own for this purpose, else its predictions."""
    if not hasattr(model, "scoring_proba"):
        return predict_proba(model, X, classes)
    return _aligned(model, model.scoring_proba(X), classes, "scoring")


def _aligned(model: Any, given: Any, classes: int, kind: str) -> NDArray[np.float64]:
    """Return probabilities of the model's own classes as (rows, classes)."""
    probs = as_array(given).astype(np.float64, copy=False)
    own = getattr(model, "classes_", None)
    if probs.ndim == 2 and own is not None and len(own) == probs.shape[1] != classes:
        columns = np.asarray(own, dtype=np.int64)
        if columns.max(initial=0) >= classes:
            raise InvalidInput(
                f"{_name(model)} predicts {probs.shape[1]} classes, but {classes} are known; give classes=[...], all "
                "of them, to the session."
            )
        aligned = np.zeros((len(probs), classes))
        aligned[:, columns] = probs
        probs = aligned
    if probs.ndim == 2 and probs.shape[1] > classes:
        raise InvalidInput(
            f"{_name(model)} predicts {probs.shape[1]} classes, but {classes} are known; give classes=[...] to the "
            "session, all of them in the order of the model's outputs."
        )
    return np.asarray(as_probs(probs, f"the {kind} of {_name(model)}", classes=classes))


def scoring_embed(model: Model, X: Any) -> Floats:
    """Return (rows, features) for strategies: the model's own for this purpose, or its embedding."""
    return as_array(model.scoring_embed(X)) if hasattr(model, "scoring_embed") else embed(model, X)


def embed(model: Model, X: Any) -> Floats:
    """Return (rows, features): the model's own embedding, or two-dimensional numeric items as they are."""
    if hasattr(model, "embed"):
        return as_array(model.embed(X))
    if _is_pipeline(model):
        return embed(*_last_step(model, X))
    items = as_array(X) if not hasattr(X, "tocsr") else np.empty(X.shape[:1], dtype=object)
    if items.ndim != 2 or not np.issubdtype(items.dtype, np.number):
        raise MissingMethod(
            f"{_name(model)} has no method embed(X), and items of shape {items.shape[1:]} and type {items.dtype} "
            "cannot serve as their own embedding; give the model an embed(X) that returns (rows, features)."
        )
    return items.astype(np.float64, copy=False)


def sample_proba(model: Model, X: Any, samples: int, *, classes: int) -> Floats:
    """Return (rows, samples, classes): draws from the model's posterior, or the members of an ensemble."""
    if hasattr(model, "sample_proba"):
        sampled = as_array(model.sample_proba(X, samples))
        own = getattr(model, "classes_", None)
        if sampled.ndim == 3 and own is not None and len(own) == sampled.shape[2] < classes:
            aligned = np.zeros((*sampled.shape[:2], classes))
            aligned[:, :, np.asarray(own, dtype=np.int64)] = sampled
            return aligned
        if sampled.ndim != 3 or sampled.shape[2] != classes:
            raise InvalidInput(
                f"sample_proba of {_name(model)} returned shape {sampled.shape}; expected (rows, samples, {classes})."
            )
        return sampled
    if _is_pipeline(model):
        return sample_proba(*_last_step(model, X), samples, classes=classes)
    members = list(getattr(model, "estimators_", ()))
    if len(members) < 2 or not all(hasattr(member, "predict_proba") for member in members):
        raise MissingMethod(
            f"{_name(model)} has no method sample_proba(X, samples) and is not an ensemble of classifiers; use a "
            "network with dropout, a random forest or bagging, or a strategy that needs no samples."
        )
    # An ensemble with fewer members yields as many samples as it has members.
    chosen = np.unique(np.linspace(0, len(members) - 1, min(samples, len(members))).round().astype(int))
    features = getattr(model, "estimators_features_", None)
    columns = np.asarray(model.classes_, dtype=np.int64)  # type: ignore[attr-defined]
    sampled = np.zeros((count_items(X), len(chosen), classes))
    items = X if hasattr(X, "tocsr") else as_array(X)  # members know no column names
    for place, i in enumerate(chosen):
        own = items if features is None else items[:, features[i]]
        # Members are fitted to the positions 0, 1, ... of the ensemble's classes.
        met = np.asarray(members[i].classes_).astype(np.int64)
        sampled[:, place, columns[met] if met.max() < len(columns) else met] = members[i].predict_proba(own)
    return sampled


def _is_pipeline(model: Model) -> bool:
    return hasattr(model, "steps") and hasattr(model, "__getitem__")


def _last_step(pipeline: Any, X: Any) -> tuple[Model, Any]:
    """Return the step of a pipeline that predicts, and the items as it sees them."""
    return pipeline[-1], pipeline[:-1].transform(X) if len(pipeline.steps) > 1 else X


def _name(model: Model) -> str:
    return type(model).__name__
