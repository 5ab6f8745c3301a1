"""Checks of what enters: each returns the value in its one internal form or raises `InvalidInput`.

Input is checked once, at the border, and trusted from there on. Large arrays are looked at tile by tile and never
copied here, so memory-mapped pools stay on disk.
"""

import sys
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.errors import InvalidInput, PoolExhausted

TILE_BYTES = 4 << 20
SUM_TOLERANCE = {2: 1e-2, 4: 1e-3, 8: 1e-3}  # by the bytes of one number: float16, float32, float64


def as_array(values: Any) -> NDArray[Any]:
    """Give `values` as a NumPy array; a torch tensor is recognised without importing torch."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        if values.dtype == torch.bfloat16:
            values = values.float()
        return np.asarray(values.numpy())
    return np.asarray(values)


def as_probs(values: Any, name: str = "probs", *, classes: int | None = None) -> Floats:
    """Give an (n, classes) array of rows that sum to one, in its own precision."""
    probs = as_array(values)
    if probs.ndim != 2 or probs.shape[1] < 2:
        raise InvalidInput(
            f"{name} has shape {probs.shape}; expected (rows, classes) with two or more classes. "
            "Give one column for each class, also when there are two."
        )
    if classes is not None and probs.shape[1] != classes:
        raise InvalidInput(
            f"{name} has {probs.shape[1]} classes, but {classes} were expected; "
            "give the same columns, in the same order, everywhere."
        )
    return _finite_rows(probs, name, unit_sum=True)


def as_scores(values: Any, name: str = "scores") -> Floats:
    """Give an (n,) array of two-class scores within [0, 1] from one column."""
    scores = as_array(values)
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1:
        raise InvalidInput(f"{name} has shape {scores.shape}; expected one column of scores.")
    return _finite_rows(scores[:, None], name, unit_sum=False)[:, 0]


def _finite_rows(probs: NDArray[Any], name: str, *, unit_sum: bool) -> Floats:
    if not np.issubdtype(probs.dtype, np.floating):
        if not np.issubdtype(probs.dtype, np.integer) and probs.dtype != bool:
            raise InvalidInput(f"{name} holds {probs.dtype}; expected floating-point probabilities.")
        probs = probs.astype(np.float64)
    tolerance = SUM_TOLERANCE.get(probs.dtype.itemsize, 1e-3)
    step = max(1, TILE_BYTES // (8 * probs.shape[1]))
    for start in range(0, len(probs), step):
        tile = np.asarray(probs[start : start + step])
        sums = tile.sum(axis=1, dtype=np.float64)
        bad = ~np.isfinite(sums) | (tile.min(axis=1) < 0) | (tile.max(axis=1) > 1 + tolerance)
        if unit_sum:
            bad |= np.abs(sums - 1) > tolerance
        if bad.any():
            row = int(np.argmax(bad))
            raise InvalidInput(_complaint(tile[row], f"{name}: row {start + row}"))
    return probs


def _complaint(row: NDArray[Any], where: str) -> str:
    if np.isnan(row).any():
        return f"{where} holds NaN; expected probabilities. Look for a division by zero in the model."
    if np.isinf(row).any():
        return f"{where} holds infinity; expected probabilities. Give probabilities, not logits."
    if row.min() < 0:
        return f"{where} holds {row.min():.6g}; probabilities are never negative. Apply softmax to logits first."
    if len(row) == 1:
        return f"{where} is {row[0]:.6g}; a score lies between 0 and 1."
    return f"{where} sums to {row.sum(dtype=np.float64):.6g}; expected 1. Normalise it, or apply softmax to logits."


def as_labels(values: Any, name: str = "labels", *, count: int, classes: int) -> Indices:
    """Give a (count,) int64 array of class numbers in 0 .. classes - 1."""
    labels = as_array(values)
    if labels.size == 0:
        labels = labels.astype(np.int64)
    if labels.ndim != 1 or len(labels) != count:
        raise InvalidInput(f"{name} has shape {labels.shape}; expected ({count},), one label for each row.")
    if not np.issubdtype(labels.dtype, np.integer) and labels.dtype != bool:
        raise InvalidInput(f"{name} holds {labels.dtype}; expected class numbers from 0 to {classes - 1} as integers.")
    bad = (labels < 0) | (labels >= classes)
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInput(
            f"{name}: row {row} is {labels[row]}; expected a class number from 0 to {classes - 1}. "
            "Number the classes in the order of the columns."
        )
    return labels.astype(np.int64)


def as_indices(values: Any, size: int, name: str = "indices") -> Indices:
    """Give a (k,) int64 array of distinct positions in a data set of `size` items."""
    indices = np.atleast_1d(as_array(values))
    if indices.size == 0:
        return np.empty(0, dtype=np.int64)
    if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer):
        raise InvalidInput(f"{name} is {indices.dtype} of shape {indices.shape}; expected a list of integers.")
    bad = (indices < 0) | (indices >= size)
    if bad.any():
        raise InvalidInput(
            f"{name} holds {indices[np.argmax(bad)]}, but the data set has {size} items; "
            f"expected positions from 0 to {size - 1}."
        )
    values_seen, counts = np.unique(indices, return_counts=True)
    if len(values_seen) < len(indices):
        raise InvalidInput(f"{name} holds {values_seen[np.argmax(counts > 1)]} twice; give each item once.")
    return indices.astype(np.int64)


def as_count(value: Any, name: str, *, least: int = 1) -> int:
    """Give `value` as an int of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InvalidInput(f"{name} is {value!r}; expected a whole number of at least {least}.")
    return int(value)


def as_positive(value: Any, name: str, *, least: float = 0.0) -> float:
    """Give `value` as a finite float that is above zero and at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(float(value)):
        raise InvalidInput(f"{name} is {value!r}; expected a finite number.")
    if float(value) <= 0 or float(value) < least:
        bound = f"at least {least:g}" if least > 0 else "above zero"
        raise InvalidInput(f"{name} is {value!r}; expected a number {bound}.")
    return float(value)


def as_batch_size(value: object, left: int) -> int:
    """Give `value` as the number of items to choose from the `left` that are open."""
    count = as_count(value, "batch_size")
    if count > left:
        raise PoolExhausted(f"asked for {count} items, but only {left} are open; lower batch_size or stop.")
    return count
