"""The model of a project: by its name, or one that can learn from as many labels as there are."""

import math
from dataclasses import replace
from typing import Any

from cusal._import_name import import_name
from cusal._protocol import Model
from cusal.errors import InvalidInput
from cusal.label.store.own_code import require_named
from cusal.label.store.records import Settings
from cusal.loop.arguments import as_model

MOST_FOR_KERNEL = 1500  # labels: the time of a kernel classifier grows with their cube
PATIENCE = 20.0  # seconds for the out-of-fold predictions of a round; nobody waits for them


def suited_model(settings: Settings, labels: int) -> Model:
    """Return a new model for a project with so many labels.

    By default that is the one for few labels. Where the data brought thousands, it is a logistic regression.
    """
    if settings.model:
        require_named(settings)
        return named_model(settings.model)
    if labels <= MOST_FOR_KERNEL:
        from cusal.models import PoolClassifier

        return PoolClassifier()
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer, StandardScaler

    if settings.kind == "table" or settings.features not in (None, "auto", "tfidf", "minilm", "efficientnet_lite0"):
        return make_pipeline(  # type: ignore[no-any-return]
            StandardScaler(with_mean=False), LogisticRegression(class_weight="balanced", max_iter=1000)
        )
    head = LogisticRegression(C=30, class_weight="balanced", max_iter=1000)
    return make_pipeline(Normalizer(), head)  # type: ignore[no-any-return]


def model_to_begin(settings: Settings, labels: int) -> Model:
    """Return a model for a session that is being set up; one that cannot be imported is tried again in each round."""
    try:
        return suited_model(settings, labels)
    except Exception:  # importing a module of the user's runs its code; the round says what is wrong
        return suited_model(replace(settings, model=None), labels)


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


def patience_with(settings: Settings, labels: int) -> float:
    """Return how long the out-of-fold predictions of a round may take, in seconds."""
    # The first fit of a kernel classifier includes the graph of the pool, which its copies share.
    return math.inf if settings.model is None and labels <= MOST_FOR_KERNEL else PATIENCE
