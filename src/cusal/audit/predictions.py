"""What is audited: for each item the predicted class and how confident the prediction is."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import as_names
from cusal._checks import ROUNDING, UnitRows, as_array, as_unchecked_probs
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput

ROWS = 1 << 16  # of probabilities that are read together


@dataclass(frozen=True)
class Claims:
    """The predicted class number (n,) and the confidence (n,) of every item, and the names of the classes.

    `known` is False where a confidence was missing; such an item has the median of the others.
    """

    predicted: Indices
    confidence: NDArray[np.float64]
    names: tuple[Hashable, ...]
    known: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.predicted)


def from_probs(probs: Any, classes: Sequence[Hashable] | None) -> Claims:
    """Return the claims of probabilities (n, classes), which are read in tiles: a memory-mapped file is fine."""
    rows = UnitRows(as_unchecked_probs(probs), "probs")
    predicted = np.empty(len(rows), dtype=np.int64)
    confidence = np.empty(len(rows))
    for start in range(0, len(rows), ROWS):
        tile = rows[start : start + ROWS]
        predicted[start : start + ROWS] = tile.argmax(axis=1)
        confidence[start : start + ROWS] = tile.max(axis=1)
    names = tuple(range(rows.shape[1]) if classes is None else as_names(classes, "classes"))
    if len(set(names)) != rows.shape[1]:
        raise InvalidInput(
            f"classes has {len(set(names))} different names, but probs has {rows.shape[1]} columns; "
            "give one name for each column."
        )
    return Claims(_some(predicted), confidence, names, np.ones(len(rows), dtype=np.bool_))


def from_labels(predicted: Any, confidence: Any | None) -> Claims:
    """Return the claims of predicted labels (n,), with or without a confidence (n,); NaN means that it is missing."""
    labels = as_array(predicted, "predicted")
    if labels.ndim != 1:
        raise InvalidInput(f"predicted has shape {labels.shape}; expected one label for each item, (n,).")
    try:
        names, numbers = np.unique(labels, return_inverse=True)
    except TypeError:
        raise InvalidInput("predicted mixes labels of several types; give all as text, or all as numbers.") from None
    values = np.full(len(labels), np.nan) if confidence is None else _as_confidence(confidence, len(labels))
    known = ~np.isnan(values)
    typical = float(np.median(values[known])) if known.any() else 0.5
    return Claims(_some(numbers), np.where(known, values, typical), tuple(names.tolist()), known)


def _as_confidence(values: Any, count: int) -> Floats:
    found = as_array(values, "confidence")
    try:
        floats = found.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"confidence holds {found.dtype}; expected numbers from 0 to 1, NaN if missing.") from None
    if floats.shape != (count,):
        raise InvalidInput(f"confidence has shape {floats.shape}; expected ({count},), one for each prediction.")
    bad = (floats < -ROUNDING) | (floats > 1 + ROUNDING)
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInput(
            f"confidence: row {row} is {floats[row]:.6g}; expected 0 to 1. Divide percentages by 100, and take exp of "
            "log probabilities."
        )
    return np.clip(floats, 0, 1)


def _some(numbers: Any) -> Indices:
    if len(numbers) == 0:
        raise InvalidInput("there are no predictions; expected at least one.")
    return np.asarray(numbers, dtype=np.int64).reshape(-1)
