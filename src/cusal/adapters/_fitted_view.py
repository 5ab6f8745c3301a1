"""What a strategy sees of a model that another library has fitted."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cusal._types import Indices
from cusal.features.dense_vectors import item_vectors
from cusal.session.predictions import ModelAnswers, Pairs, Predictions
from cusal.strategies._view import View


@dataclass(frozen=True)
class Labelled:
    """The labelled items: their positions (n,), their class numbers (n,), and how many classes there are."""

    indices: Indices
    numbers: Indices
    classes: int


def fitted_view(model: Any, items: Any, labelled: Labelled, *, candidates: Any, rng: np.random.Generator) -> View:
    """Return the view of a fitted model.

    Parameters
    ----------
    model : object
        It has `predict_proba(X)` with one column for each class number; `embed` and `sample_proba` are optional. Its
        `raw`, where it has one, are the items in a form that cusal can turn into vectors.
    items : (n, ...)
        The labelled and the open items.
    labelled : Labelled
        What is known about them.
    candidates : (k,) integers
        Positions of the open items in `items`, in any order.
    rng : numpy.random.Generator
        For every random choice of the strategy.
    """
    predictions = Predictions(
        model, items, labelled.classes, vectors=lambda: item_vectors(getattr(model, "raw", items))
    )

    def evidence() -> Pairs:
        if len(labelled.indices) == 0:
            return np.empty((0, labelled.classes)), np.empty(0, dtype=np.int64)
        return predictions.probs(labelled.indices), labelled.numbers

    open_items = np.unique(np.asarray(candidates, dtype=np.int64))
    return View(open_items, rng, ModelAnswers(predictions, labelled.indices, evidence))
