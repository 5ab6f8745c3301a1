"""Mini-batches for training: items in memory are one tensor, items on disk are read a batch ahead.

Items with a true attribute `lazy` (a folder of images, some rows of one) are on disk: they have `shape`, `len` and give
an array for an array of positions. Of them, no more than a few batches are ever in memory.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cusal._items import take
from cusal._prefetch import read_ahead
from cusal._types import Indices
from cusal.errors import InvalidInput

Stored = Any  # a tensor on the training device, or lazy items


def is_lazy(X: Any) -> bool:
    """Return whether items lie on disk until they are indexed."""
    return bool(getattr(X, "lazy", False))


def as_values(X: Any, name: str = "X") -> Any:
    """Return items as one array or tensor, or as they are if they lie on disk; errors call the items `name`."""
    if isinstance(X, Tensor) or is_lazy(X):
        return X
    rows = X if isinstance(X, list | tuple) else ()
    if np.ma.is_masked(X) or any(np.ma.is_masked(row) for row in rows if isinstance(row, np.ma.MaskedArray)):
        raise InvalidInput(f"{name} holds masked values; fill them with .filled(...), or drop their rows.")
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InvalidInput(f"{name} is a sparse matrix; expected dense items. Give {name}.toarray().")
    try:
        if rows and all(isinstance(row, Tensor) for row in rows):
            return torch.stack(list(rows))
        values = np.asarray(X)
        if values.dtype == object and values.ndim == 1 and all(np.ndim(row) for row in values):
            values = np.stack([np.asarray(row) for row in values])  # one object for each item
    except (ValueError, RuntimeError) as error:
        raise InvalidInput(f"{name} is ragged: {_odd_row(X)}. Pad, crop or resize the items to one shape.") from error
    return values


def as_items(X: Any, device: torch.device) -> Stored:
    """Return items to train on: checked and on the device, or as they are if they lie on disk."""
    values = as_values(X)
    if len(values.shape) < 2 or 0 in values.shape:
        raise InvalidInput(f"X has shape {tuple(values.shape)}; expected one or more items, (n, ...).")
    return values if is_lazy(X) else _as_tensor(values, device)


def rows_of(items: Any, rows: slice | Indices, device: torch.device, *, name: str = "X") -> Tensor:
    """Return some rows of an array, a tensor or lazy items as a finite float32 tensor; errors call the items `name`."""
    return _as_tensor(take(items, rows), device, rows=rows, name=name)


def check_shape(unlabelled: Tensor, item_shape: tuple[int, ...]) -> None:
    """Raise `InvalidInput` for unlabelled items that are not of the shape of the labelled ones."""
    if tuple(unlabelled.shape[1:]) != item_shape:
        raise InvalidInput(
            f"unlabelled items have shape {tuple(unlabelled.shape[1:])}; expected {item_shape}, as those of X."
        )


def mini_batches(items: Stored, batch_size: int, device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
    """Return (rows, items) of each mini-batch of one epoch, in an order drawn from torch's generator."""
    batches = list(torch.randperm(len(items)).split(batch_size))
    if len(batches) > 1 and len(batches[-1]) == 1:  # batch normalisation cannot train on a single row
        batches[-2:] = [torch.cat(batches[-2:])]
    if is_lazy(items):
        return read_ahead((rows.to(device), rows_of(items, rows.numpy(), device)) for rows in batches)
    return ((rows, items[rows]) for rows in (batch.to(device) for batch in batches))


def _as_tensor(values: Any, device: torch.device, *, rows: slice | Indices = slice(0, None), name: str = "X") -> Tensor:
    """Return values as a finite float32 tensor, without a copy where they are one; `rows` are their positions."""
    if is_lazy(values):
        values = np.asarray(values)
    values = as_values(values, name)
    if not isinstance(values, Tensor):
        if values.dtype.kind not in "fiub":
            raise InvalidInput(f"{name} holds {values.dtype}; expected numbers. Encode other values as numbers first.")
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinity and is reported below
            array = np.ascontiguousarray(values, dtype=np.float32)
        values = torch.from_numpy(array if array.flags.writeable else array.copy())  # torch may write to it
    given = values.detach().to(device, torch.float32)
    if not torch.isfinite(given.sum()):  # one number to look at; a finite sum has only finite terms
        bad = ~torch.isfinite(given).flatten(1).all(1)
        if bad.any():
            place = int(bad.int().argmax())
            row = rows.start + place if isinstance(rows, slice) else int(rows[place])
            raise InvalidInput(f"{name}: row {row} holds NaN or a number beyond float32; fill or drop it first.")
    return given


def _odd_row(X: Any) -> str:
    """Return which row of a ragged list differs from the first, in words."""
    try:
        shapes = [np.shape(row) for row in X]
    except ValueError:  # a row is itself ragged
        return "its rows are lists of different lengths"
    row = next((number for number, shape in enumerate(shapes) if shape != shapes[0]), 0)
    return f"row {row} has shape {shapes[row]}, row 0 {shapes[0]}"
