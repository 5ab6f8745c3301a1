"""The model of a project: by its name, or one that can learn from as many labels as there are."""

import math
from dataclasses import replace

from cusal.apps.label.store.records import Settings
from cusal.apps.label.store.trusted_imports import require_named
from cusal.recalibration import REFIT_LIMIT
from cusal.session import Model, for_many_labels, named_model

MOST_FOR_KERNEL = 1500  # labels: the time of a kernel classifier grows with their cube
MOST_WORK = 10 * REFIT_LIMIT  # for the out-of-fold predictions of a round: nobody waits for them


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
    known = (None, "auto", "tfidf", "minilm", "efficientnet_lite0")
    return for_many_labels(scaled=settings.kind != "table" and settings.features in known)


def model_to_begin(settings: Settings, labels: int) -> Model:
    """Return a model for a session that is being set up; one that cannot be imported is tried again in each round."""
    try:
        return suited_model(settings, labels)
    except Exception:  # importing a module of the user's runs its code; the round says what is wrong
        return suited_model(replace(settings, model=None), labels)


def refit_limit(settings: Settings, labels: int) -> float:
    """Return the work above which no copies of the model are fitted for its out-of-fold predictions."""
    # The first fit of a kernel classifier includes the graph of the pool, which its copies share.
    return math.inf if settings.model is None and labels <= MOST_FOR_KERNEL else MOST_WORK
