"""Predictions of labelled points by copies of a model that were not fitted to them.

A copy represents the model only if it was trained for as long. If the model starts warm, continuing from its last fit,
so do its copies: they are kept between calls and fitted as often as the model was. A point stays in the fold that it
was first assigned to, so that no copy is ever fitted to a point that it predicts.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cusal import _protocol as protocol
from cusal._items import count_items, take
from cusal._types import Floats, Indices

FOLDS = 5
Method = Literal["cross-fit", "held-out"]
Predict = Callable[[protocol.Model, Any, int], Floats]  # model, items, classes


class LabelledPoints(NamedTuple):
    """Labelled points: items X (n, ...), class numbers y (n,), and keys (n,) that identify the points.

    unlabelled: more items, for models that use them.
    """

    X: Any
    y: Indices
    keys: NDArray[Any]
    unlabelled: Any = None


class OutOfSample:
    """What a model would predict for labelled points if it had not been fitted to them."""

    def __init__(
        self, fold: dict[int, int] | None = None, copies: dict[int, tuple[protocol.Model, int]] | None = None
    ) -> None:
        self.fold = fold or {}  # by key
        self.copies = copies or {}  # by fold: a warm copy and how often it was fitted

    def folds(self, keys: NDArray[Any]) -> Indices:
        """Return the fold of each point that has been predicted, by its key, (n,)."""
        return np.array([self.fold[key] for key in keys.tolist()], dtype=np.int64)

    def predict(
        self,
        method: Method,
        model: protocol.Model,
        points: LabelledPoints,
        *,
        fits: int = 1,
        classes: int,
        rng: np.random.Generator,
        predict: Predict = protocol.predict_proba,
    ) -> tuple[Floats, Indices]:
        """Return (probs, labels) of points, each predicted by a copy that was fitted to the other folds.

        method: "cross-fit" returns all points, "held-out" those of one fold, which needs one copy only.
        model: as it was before its first fit, with its current settings.
        fits: how often the model has been fitted.
        """
        fold = self._assign(points, rng)
        asked = np.unique(fold)[: FOLDS if method == "cross-fit" else 1]
        probs = np.empty((len(fold), classes))
        for number in asked.tolist():
            copy = self._copy(model, points, fold != number, fits, rng, number)
            outside = np.flatnonzero(fold == number)
            probs[outside] = _predicted(copy, take(points.X, outside), classes, predict)
        given = np.isin(fold, asked)
        return probs[given], points.y[given]

    def _assign(self, points: LabelledPoints, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the fold of each point; a new one joins the fold with the fewest of its class, then the smallest."""
        keys, labels = points.keys.tolist(), points.y.tolist()
        sizes = np.zeros((max(labels) + 1, FOLDS), dtype=np.int64)
        for key, label in zip(keys, labels, strict=True):
            if key in self.fold:
                sizes[label, self.fold[key]] += 1
        for row in rng.permutation(len(keys)).tolist():
            if keys[row] not in self.fold:
                number = int(np.lexsort((sizes.sum(axis=0), sizes[labels[row]]))[0])
                self.fold[keys[row]] = number
                sizes[labels[row], number] += 1
        return np.array([self.fold[key] for key in keys], dtype=np.int64)

    def _copy(
        self,
        model: protocol.Model,
        points: LabelledPoints,
        inside: NDArray[np.bool_],
        fits: int,
        rng: np.random.Generator,
        number: int,
    ) -> protocol.Model | None:
        """Return the copy fitted to some points; None if they are of one class, which no classifier can learn."""
        rows = np.flatnonzero(inside)
        if len(np.unique(points.y[rows])) < 2:
            return None
        warm = bool(getattr(model, "warm_start", False))
        copy, done = self.copies.get(number, (model, 0)) if warm else (model, fits - 1)
        data = take(points.X, rows), points.y[rows]
        for _ in range(done, fits):
            copy = protocol.fitted_copy(
                protocol.with_settings(copy, model),
                data,
                unlabelled=points.unlabelled,
                seed=int(rng.integers(2**31 - 1)),
                seeded=protocol.unseeded(model),
            )
        if warm:
            self.copies[number] = copy, fits
        return copy


def _predicted(model: protocol.Model | None, X: Any, classes: int, predict: Predict) -> Floats:
    if model is None:  # nothing could be fitted: all classes are equally likely
        return np.full((count_items(X), classes), 1 / classes)
    return predict(model, X, classes)
