"""The classifier of a session: the one that is given, the default, and those that commands make."""

from typing import Any

import numpy as np

from cusal._checks import import_name
from cusal._items import OneByOne, refuse_random
from cusal._protocol import Model as Model
from cusal.errors import InvalidInput, MissingMethod
from cusal.session.labels import Folds

SKLEARN_FOLDS = 5  # where cv is None
TILE = 8192  # items that are looked at together


def as_model(model: Any) -> Model:
    """Return a model that has `fit` and `predict_proba`, or raise an error that says how to get one."""
    if isinstance(model, type):
        raise InvalidInput(f"model is the class {model.__name__}; give an object of it: {model.__name__}(...).")
    if all(hasattr(model, needed) for needed in ("fit", "predict_proba")):
        return model  # type: ignore[no-any-return]
    if isinstance(model, str):
        raise InvalidInput(f"model is {model!r}; a strategy is given by its name: strategy={model!r}.")
    if isinstance(model, list | tuple | dict) or hasattr(model, "__array__"):
        raise InvalidInput(
            f"model is of type {type(model).__name__}, which looks like labels; give those that are known as "
            "labelled={position: label}, and leave the model out for the default."
        )
    from sklearn.base import is_regressor  # loaded only when an error is raised

    name = type(model).__name__
    if hasattr(model, "named_parameters") and hasattr(model, "forward"):
        raise MissingMethod(
            f"{name} is a torch module, which cannot train itself; give cusal.models.TorchClassifier({name}(...))."
        )
    if hasattr(model, "probability") and hasattr(model, "decision_function"):
        raise MissingMethod(
            f"{name}(probability=False) has no method predict_proba; give sklearn.calibration.CalibratedClassifierCV("
            f"{name}(...)). Until each class has five labels, the cold start chooses what to ask."
        )
    if hasattr(model, "decision_function"):
        raise MissingMethod(
            f"{name} has no method predict_proba; give sklearn.calibration.CalibratedClassifierCV({name}(...)), which "
            "turns its scores into probabilities."
        )
    if hasattr(model, "predict") and is_regressor(model):
        raise MissingMethod(f"{name} is a regressor, which has no classes; give a classifier with predict_proba(X).")
    missing = next(needed for needed in ("fit", "predict_proba") if not hasattr(model, needed))
    raise MissingMethod(f"{name} has no method {missing}; a model needs fit(X, y) and predict_proba(X).")


def check_items(items: Any, model: Any) -> None:
    """Raise `InvalidInput` for items that no round could use, before anybody labels them."""
    if isinstance(items, OneByOne):
        refuse_random(items)
        return
    if isinstance(items, list):
        _check_list(items)
    if not isinstance(items, np.ndarray):
        return
    if items.dtype.names:
        raise InvalidInput(
            f"items are records of the fields {', '.join(items.dtype.names)}; give pandas.DataFrame(items)."
        )
    if items.dtype.kind == "S":
        raise InvalidInput("items are bytes; give texts, for instance np.char.decode(items, 'utf-8').")
    if items.dtype.kind in "OU" and items.ndim == 1:
        _check_list(items.tolist())
    if items.dtype.kind in "biufc" and items.ndim == 1:
        raise InvalidInput(
            f"items has shape {items.shape}: one number for each; expected rows. Give items[:, None] for one column."
        )
    if items.dtype.kind == "f" and not _takes_missing(model):
        _check_finite(items, type(model).__name__)


def _check_list(items: list[Any]) -> None:
    """Raise `InvalidInput` if there is something else than text among texts, or bytes or records in their place."""
    kinds = {type(item) for item in items}
    if dict in kinds:
        raise InvalidInput("items are records (dict); give pandas.DataFrame(items), or one field of each.")
    if bytes in kinds:
        raise InvalidInput("items are bytes; give texts, for instance [item.decode() for item in items].")
    others = [row for row, item in enumerate(items) if not isinstance(item, str)] if str in kinds else []
    if others:
        raise InvalidInput(
            f"item {others[0]} is {items[others[0]]!r} among texts; give a text for each item, such as '' where there "
            "is none, or leave it out."
        )


def _takes_missing(model: Any) -> bool:
    """Return whether a model takes NaN, as far as is known; a class of the user's own may inherit what it says."""
    if not hasattr(model, "__sklearn_tags__") or not type(model).__module__.startswith(("sklearn.", "cusal.")):
        return True
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.allow_nan)


def _check_finite(items: Any, name: str) -> None:
    for start in range(0, len(items), TILE):
        bad = np.isnan(items[start : start + TILE]).reshape(len(items[start : start + TILE]), -1).any(axis=1)
        if bad.any():
            raise InvalidInput(
                f"item {start + int(np.argmax(bad))} holds NaN, which {name} does not take; leave the model out, since "
                "the default fills missing values, or give sklearn.pipeline.make_pipeline(SimpleImputer(), model)."
            )


def own_folds(model: Any) -> Folds:
    """Return the folds that a model splits its labels into when it is fitted, such as a search over settings.

    >>> from sklearn.calibration import CalibratedClassifierCV
    >>> own_folds(CalibratedClassifierCV())
    Folds(number=5, every_class=True)
    """
    params = model.get_params(deep=True) if hasattr(model, "get_params") else {}
    counts = [_fold_count(value) for name, value in params.items() if name.split("__")[-1] == "cv"]
    split = getattr(model, "train_split", None)  # skorch's
    counts += [_fold_count(getattr(split, "cv", 1))] if split is not None else []
    parts = [type(part).__name__ for part in (model, *params.values())]
    return Folds(max(counts, default=1), any(name.startswith("CalibratedClassifier") for name in parts))


def _fold_count(cv: Any) -> int:
    if cv is None:
        return SKLEARN_FOLDS
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        return int(cv)
    count = getattr(cv, "n_splits", 1)
    return int(count) if isinstance(count, int) and "Shuffle" not in type(cv).__name__ else 1


def default_model() -> Model:
    """Return the model for few labels, of items of any kind."""
    from cusal.models import FewLabelClassifier  # loads scikit-learn

    return FewLabelClassifier()


def named_model(name: str) -> Model:
    """Return a new model: "package.module:Name" is called without arguments.

    Raises
    ------
    InvalidInput, UnknownName, MissingMethod
        If there is no such thing, or it has no `fit` and `predict_proba`.

    Examples
    --------
    >>> named_model("sklearn.linear_model:LogisticRegression")
    LogisticRegression()
    """
    found: Any = import_name(name, "model")
    if name.startswith("sklearn.") and not hasattr(found, "get_params"):  # anybody's project may name scikit-learn's
        raise InvalidInput(f"{name} is no model of scikit-learn; name one of its classes.")
    return as_model(found() if isinstance(found, type) or not hasattr(found, "fit") else found)


def for_many_labels(*, scaled: bool) -> Model:
    """Return a logistic regression, whose time does not grow with the cube of the labels.

    scaled: whether the columns of the items share one scale, as those of texts and image features do.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer, StandardScaler

    if scaled:
        head = LogisticRegression(C=30, class_weight="balanced", max_iter=1000)
        return make_pipeline(Normalizer(), head)  # type: ignore[no-any-return]
    return make_pipeline(  # type: ignore[no-any-return]
        StandardScaler(with_mean=False), LogisticRegression(class_weight="balanced", max_iter=1000)
    )
