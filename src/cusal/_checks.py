"""Input checks: each returns the value in its one internal form or raises `InvalidInput`.

Input is checked once, at the border, and trusted afterwards. Large arrays are checked tile by tile.

The kernel weighs a row by its sum to the power 1 / bandwidth, so a row of probabilities that is off by a rounding of
float16 or of a file with three decimals would count a thousand times as much. Rows that pass are therefore divided by
their sum in float64. Rows of float64 that already sum to one are left as they are: not one bit changes, and a
memory-mapped pool of them stays on disk.
"""

import importlib
import os
import sys
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import as_listed, as_names, is_hashable
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput, PoolExhausted, UnknownName

TILE_BYTES = 4 << 20
SUM_TOLERANCE = 1e-2  # allows for float16, and for files with two or three decimals
ROUNDING = 1e-6  # by which a score may be below 0 or above 1, as the sums and products of float32 are
SUMS_TO_ONE = 1e-13  # float64 sums within this distance of one differ from it by rounding only


def as_array(values: Any, name: str = "the array") -> NDArray[Any]:
    """Return `values` as a NumPy array; a torch tensor is recognised without importing torch."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        if values.dtype == torch.bfloat16:
            values = values.float()
        return np.asarray(values.numpy())
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidInput(f"{name} has masked values; fill or drop them first.")
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise InvalidInput(f"{name} is a sparse matrix; expected a dense array. Convert it with .toarray().")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InvalidInput(f"{name} is ragged: its rows differ in length ({error}); give rows of one length.") from None


def as_probs(values: Any, name: str = "probs", *, classes: int | None = None) -> NDArray[np.float64]:
    """Return an (n, classes) float64 array of rows that sum to one."""
    return _unit_rows(as_unchecked_probs(values, name, classes=classes), name)


def as_unchecked_probs(values: Any, name: str = "probs", *, classes: int | None = None) -> Floats:
    """Return an (n, classes) array of floating-point numbers, in the precision in which they were given."""
    probs = as_array(values, name)
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
    return _as_floats(probs, name)


def as_scores(values: Any, name: str = "scores") -> Floats:
    """Return an (n,) array of two-class scores within [0, 1] from one column."""
    scores = as_array(values, name)
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1:
        raise InvalidInput(f"{name} has shape {scores.shape}; expected one column of scores.")
    scores = _as_floats(scores, name)
    bad = ~((scores >= -ROUNDING) & (scores <= 1 + ROUNDING))
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInput(_describe_row(scores[row : row + 1], f"{name}: row {row}"))
    clipped: Floats = np.clip(scores, 0, 1)
    return clipped


def _as_floats(values: NDArray[Any], name: str) -> Floats:
    if np.issubdtype(values.dtype, np.floating):
        return values
    if not np.issubdtype(values.dtype, np.integer) and values.dtype != bool:
        raise InvalidInput(f"{name} holds {values.dtype}; expected floating-point probabilities.")
    return values.astype(np.float64)


def _unit_rows(probs: Floats, name: str) -> NDArray[np.float64]:
    """Return the rows divided by their sums; the array itself if all of them sum to one."""
    rows = UnitRows(probs, name)
    return rows.rows if rows.as_they_are else rows[:]  # type: ignore[return-value]


class UnitRows:
    """Checked rows of probabilities, divided by their sums when they are read: a large array is never copied.

    >>> UnitRows(np.array([[0.5, 0.5], [0.25, 0.76]], dtype=np.float16), "probs")[1:].round(4)
    array([[0.2476, 0.7524]])
    """

    def __init__(self, rows: Floats, name: str) -> None:
        self.rows, self.shape = rows, rows.shape
        self.as_they_are = rows.dtype == np.float64
        start = 0
        for tile in _tiles(rows):
            sums = tile.sum(axis=1, dtype=np.float64)
            least = tile.min(axis=1)
            bad = ~(np.abs(sums - 1) <= SUM_TOLERANCE) | (least < -ROUNDING)
            if bad.any():
                row = int(np.argmax(bad))
                raise InvalidInput(_describe_row(tile[row], f"{name}: row {start + row}"))
            self.as_they_are &= bool((np.abs(sums - 1) <= SUMS_TO_ONE).all() and (least >= 0).all())
            start += len(tile)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, where: slice | Indices) -> NDArray[np.float64]:
        tile = np.asarray(self.rows[where], dtype=np.float64)
        if self.as_they_are:
            return tile
        tile = np.maximum(tile, 0.0)
        return np.asarray(tile / tile.sum(axis=1, keepdims=True))

    def sums(self) -> NDArray[np.float64]:
        """Return what each row is divided by, (n,)."""
        if self.as_they_are:
            return np.ones(len(self))
        parts = [np.maximum(np.asarray(tile, dtype=np.float64), 0.0).sum(axis=1) for tile in _tiles(self.rows)]
        return np.concatenate(parts) if parts else np.ones(0)


Rows = Floats | UnitRows  # read by slices, and only so


def _tiles(rows: Floats) -> Iterator[Floats]:
    step = max(1, TILE_BYTES // (8 * rows.shape[1]))
    for start in range(0, len(rows), step):
        yield np.asarray(rows[start : start + step])


def _describe_row(row: NDArray[Any], where: str) -> str:
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
    """Return a (count,) int64 array of class numbers in 0 .. classes - 1."""
    labels = as_array(values, name)
    if labels.size == 0:
        labels = labels.astype(np.int64)
    if labels.ndim != 1 or len(labels) != count:
        raise InvalidInput(f"{name} has shape {labels.shape}; expected ({count},), one label for each row.")
    if not np.issubdtype(labels.dtype, np.integer) and labels.dtype != bool:
        raise InvalidInput(
            f"{name} holds {labels.dtype}; expected class numbers from 0 to {classes - 1} as integers: "
            "the columns that the labels belong to. For other labels give classes=[...], the names of the columns."
        )
    bad = (labels < 0) | (labels >= classes)
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInput(
            f"{name}: row {row} is {labels[row]}; expected a class number from 0 to {classes - 1}. "
            "Number the classes in the order of the columns."
        )
    return labels.astype(np.int64)


def as_indices(values: Any, size: int, name: str = "indices") -> Indices:
    """Return a (k,) int64 array of distinct positions in a data set of `size` items."""
    indices = np.atleast_1d(as_array(getattr(values, "indices", values), name))  # a query stands for its indices
    if indices.size == 0:
        return np.empty(0, dtype=np.int64)
    if indices.dtype == bool:
        raise InvalidInput(f"{name} is a mask of {indices.size}; expected positions. Give np.flatnonzero(mask).")
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


def as_named_labels(values: Any, classes: Any, *, count: int, columns: int) -> Indices:
    """Return the column numbers (count,) of labels of any kind; `classes` names the columns in their order."""
    names = as_names(classes, "classes")
    if len(names) != columns or len(set(names)) != columns:
        raise InvalidInput(f"classes names {len(set(names))} classes, but probs has {columns} columns; name each once.")
    labels = as_listed(values, "labels")
    if len(labels) != count:
        raise InvalidInput(f"{len(labels)} labels were given for {count} rows; give one label for each row.")
    number = {name: column for column, name in enumerate(names)}
    unknown = [row for row, label in enumerate(labels) if not is_hashable(label) or label not in number]
    if unknown:
        raise InvalidInput(
            f"labels: row {unknown[0]} is {labels[unknown[0]]!r}, which is not one of the classes {names[:20]}; "
            "name all classes, in the order of the columns."
        )
    return np.array([number[label] for label in labels], dtype=np.int64)


def as_count(value: Any, name: str, *, least: int = 1) -> int:
    """Return `value` as an int of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InvalidInput(f"{name} is {value!r}; expected a whole number of at least {least}.")
    return int(value)


def as_positive(value: Any, name: str, *, least: float = 0.0) -> float:
    """Return `value` as a finite float that is above zero and at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(float(value)):
        raise InvalidInput(f"{name} is {value!r}; expected a finite number.")
    if float(value) <= 0 or float(value) < least:
        bound = f"at least {least:g}" if least > 0 else "above zero"
        raise InvalidInput(f"{name} is {value!r}; expected a number {bound}.")
    return float(value)


def as_batch_size(value: object, left: int) -> int:
    """Return `value` as the number of items to choose from the `left` that are open."""
    count = as_count(value, "batch_size")
    if count > left:
        raise PoolExhausted(f"asked for {count} items, but only {left} are open; lower batch_size or stop.")
    return count


# Classes of the user, named as "package.module:Name"; those of cusal have plain names.


def is_import_name(name: str) -> bool:
    """Return whether a name is of the form "package.module:Name"."""
    return ":" in name


def import_name(name: str, kind: str) -> Any:
    """Return the object called "package.module:Name"; error messages call it a `kind`.

    Modules are also looked for in the current folder, as with `python -m`.

    >>> import_name("fractions:Fraction", "number")
    <class 'fractions.Fraction'>
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InvalidInput(f"the {kind} {name!r} is not of the form package.module:Name; name a class of a module.")
    found: Any = _import(module, name, kind)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UnknownName(f"{kind} in {module}", attribute, [known for known in dir(found) if known[0] != "_"])
        found = getattr(found, part)
    return found


def _import(module: str, name: str, kind: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not error.name or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module exists; something that it imports is missing
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # for good: checkpoints of the user's classes are unpickled later
            return _import(module, name, kind)
        raise InvalidInput(
            f"the {kind} {name!r} cannot be imported: there is no module {error.name!r}. "
            "Install it, or start in the folder that holds it."
        ) from error
