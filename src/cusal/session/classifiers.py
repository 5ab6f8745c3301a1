"""The classifier of a session: the one that is given, the default, and those that commands make."""

from typing import Any

from cusal._import_name import import_name
from cusal._protocol import Model
from cusal.errors import InvalidInput, MissingMethod


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
