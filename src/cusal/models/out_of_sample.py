"""Predictions of labelled points by models that were not fitted to them."""

import numpy as np
from numpy.typing import NDArray

from cusal.checks import Floats, Indices
from cusal.models import protocol
from cusal.models.predictions import Subset, take

FOLDS = 5


def out_of_fold(
    model: protocol.Model, X: object, y: Indices, *, classes: int, rng: np.random.Generator
) -> tuple[Floats, Indices]:
    """Give (probs, labels) of all points, each predicted by a copy fitted to the other folds."""
    fold = stratified_folds(y, min(FOLDS, len(y)), rng)
    probs = np.zeros((len(y), classes))
    for held_out in range(int(fold.max()) + 1):
        inside, outside = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
        probs[outside] = _predict_rest(model, X, y, inside, outside, classes, rng)
    return probs, y


def held_out_fifth(
    model: protocol.Model, X: object, y: Indices, *, classes: int, rng: np.random.Generator
) -> tuple[Floats, Indices]:
    """Give (probs, labels) of a held-out fifth, predicted by a copy fitted to the rest."""
    fold = stratified_folds(y, min(FOLDS, len(y)), rng)
    inside, outside = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
    return _predict_rest(model, X, y, inside, outside, classes, rng), y[outside]


def stratified_folds(labels: Indices, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Give each point a fold so that every class is spread evenly; a class of one point lands in one of them."""
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % folds
    return fold


def _predict_rest(
    model: protocol.Model,
    X: object,
    y: Indices,
    inside: Indices,
    outside: Indices,
    classes: int,
    rng: np.random.Generator,
) -> Floats:
    if len(np.unique(y[inside])) < 2:
        # No classifier can be fitted to one class: such a fold knows nothing about its points.
        return np.full((len(outside), classes), 1 / classes)
    copy = protocol.fitted_copy(
        model,
        (take(X, inside), y[inside]),
        unlabelled=Subset(X, outside),  # what the fold leaves out takes the pool's part
        seed=int(rng.integers(2**31 - 1)),
        seeded=protocol.unseeded(model),
    )
    return protocol.predict_proba(copy, take(X, outside), classes)
