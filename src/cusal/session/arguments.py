"""Checks of what users pass to a session: a model, and labels that are known from the start."""

from collections.abc import Mapping
from typing import Any

from cusal._arguments import is_hashable
from cusal._protocol import Model
from cusal.errors import InvalidInput, MissingMethod, UnknownName


def as_model(model: Any) -> Model:
    """Return a model that has `fit` and `predict_proba`, or raise an error that says how to get one."""
    if isinstance(model, type):
        raise InvalidInput(f"model is the class {model.__name__}; give an object of it: {model.__name__}(...).")
    if all(hasattr(model, needed) for needed in ("fit", "predict_proba")):
        return model  # type: ignore[no-any-return]
    from sklearn.base import is_regressor  # loaded only when an error is raised

    name = type(model).__name__
    if hasattr(model, "named_parameters") and hasattr(model, "forward"):
        raise MissingMethod(
            f"{name} is a torch module, which cannot train itself; give cusal.models.TorchClassifier({name}(...))."
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


def default_model(items: Any) -> Model:
    """Return the model for few labels, of items of any kind."""
    from cusal.models import FewLabelClassifier  # loads scikit-learn

    return FewLabelClassifier()


def as_pairs(labelled: Any, items: Any) -> tuple[Any, Any]:
    """Return (indices, labels) from a mapping, a pandas Series, or such a pair."""
    if isinstance(labelled, Mapping):
        return list(labelled), list(labelled.values())
    if hasattr(labelled, "index") and hasattr(labelled, "items") and getattr(labelled, "ndim", 0) == 1:  # a Series
        return _positions(labelled.index, items), labelled.to_numpy()
    if isinstance(labelled, tuple) and len(labelled) == 2:
        return labelled
    raise InvalidInput(
        f"labelled is a {type(labelled).__name__}; expected {{index: label}}, a pandas Series, or (indices, labels)."
    )


def _positions(index: Any, items: Any) -> Any:
    """Return positions in the items for the index of a Series: looked up in the items' own index, if they have one."""
    own: Any = getattr(items, "index", None)
    if not hasattr(own, "get_indexer") or not own.is_unique:
        return index.to_numpy()
    places = own.get_indexer(index)
    if (places < 0).any():
        raise InvalidInput(
            f"labelled has the index {index[int((places < 0).argmax())]!r}, which the items' index does not have; "
            "give a Series with the index of the items, or (positions, labels)."
        )
    return places


def check_name(kind: str, name: str | None, known: tuple[str | None, ...]) -> None:
    """Raise `UnknownName` unless the name of this kind is known."""
    if not is_hashable(name) or name not in known:
        raise UnknownName(kind, name, ["None (no quotes)" if one is None else one for one in known])
