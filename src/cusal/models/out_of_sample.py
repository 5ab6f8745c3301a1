"""Predictions of labelled points by models that were not fitted to them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal.checks import Floats, Indices
from cusal.models import protocol
from cusal.models.predictions import Subset, take

FOLDS = 5
Predict = Callable[[protocol.Model, Any, int], Floats]  # model, items, classes


def out_of_fold(
    model: protocol.Model,
    X: object,
    y: Indices,
    *,
    classes: int,
    rng: np.random.Generator,
    predict: Predict = protocol.predict_proba,
) -> tuple[Floats, Indices]:
    """Give (probs, labels) of all points, each predicted by a copy fitted to the other folds."""
    fold = stratified_folds(y, min(FOLDS, len(y)), rng)
    probs = np.full((len(y), classes), 1 / classes)  # what a fold knows that nothing can be fitted to
    for held_out in range(int(fold.max()) + 1):
        inside, outside = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
        if (fitted := _fit(model, X, y, inside, rng)) is not None:
            probs[outside] = predict(fitted, take(X, outside), classes)
    return probs, y


def held_out_fifth(
    model: protocol.Model,
    X: object,
    y: Indices,
    *,
    classes: int,
    rng: np.random.Generator,
    predict: Predict = protocol.predict_proba,
) -> tuple[Floats, Indices]:
    """Give (probs, labels) of a held-out fifth, predicted by a copy fitted to the rest."""
    fold = stratified_folds(y, min(FOLDS, len(y)), rng)
    inside, outside = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
    fitted = _fit(model, X, y, inside, rng)
    if fitted is None:
        return np.full((len(outside), classes), 1 / classes), y[outside]
    return predict(fitted, take(X, outside), classes), y[outside]


def stratified_folds(labels: Indices, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Give each point a fold so that every class is spread evenly; a class of one point lands in one of them."""
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % folds
    return fold


def _fit(
    model: protocol.Model, X: object, y: Indices, inside: Indices, rng: np.random.Generator
) -> protocol.Model | None:
    """Give a copy of the model fitted to some rows; None if they are of one class, which no classifier can learn."""
    if len(np.unique(y[inside])) < 2:
        return None
    return protocol.fitted_copy(
        model,
        (take(X, inside), y[inside]),
        unlabelled=Subset(X, np.setdiff1d(np.arange(len(y)), inside)),  # what is left out takes the pool's part
        seed=int(rng.integers(2**31 - 1)),
        seeded=protocol.unseeded(model),
    )
