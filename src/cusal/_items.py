"""The items of a data set in any container that people use, and subsets of them in containers that models accept.

| container | what a model is given |
|---|---|
| NumPy array, torch tensor, list, tuple | the same kind |
| scipy sparse | rows in CSR form |
| pandas, polars | a frame or series of the rows |
| torch data set, Hugging Face data set, anything that takes one integer | an array, a tensor or a list of its items |
| items with a true attribute `lazy` | a `Subset` that reads batches from disk |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices
from cusal.errors import InvalidInput

READ_TWICE = 8  # items of a data set, to see whether it transforms at random
UNKNOWN_COLUMNS = 1000  # of items of any other kind
LABEL_NAMES = ("label", "labels", "target", "y")


def as_items(items: Any) -> Any:
    """Return the items in a form that has a length and that `take` can index.

    Raises
    ------
    InvalidInput
        If they have no length or cannot be indexed, are ragged or masked, or are records of several fields.
    """
    if isinstance(items, str | bytes | Mapping) or not (hasattr(items, "__getitem__") or is_sparse(items)):
        raise InvalidInput(
            f"items is a {type(items).__name__}; expected something with a length that integers can index, such as an "
            "array, a list, a data frame or a torch data set."
        )
    if is_sparse(items):
        return items.tocsr()
    if isinstance(items, np.ma.MaskedArray):
        if np.ma.is_masked(items):
            raise InvalidInput("items has masked values; fill or drop them first.")
        return items.data
    if isinstance(items, list | tuple):
        return _as_array_of_numbers(items)
    if _takes_arrays(items):
        return items
    if not hasattr(items, "__len__"):
        raise InvalidInput(f"items is a {type(items).__name__} without a length; give a data set that has one.")
    return OneByOne(items)


def refuse_random(items: "OneByOne") -> None:
    """Raise `InvalidInput` if an item of a data set differs when it is read again: its transform draws at random."""
    for row in np.unique(np.linspace(0, len(items) - 1, READ_TWICE).astype(np.int64)) if len(items) else ():
        first, again = (_without_label(items.data[int(row)]) for _ in range(2))
        if not _are_same(first, again):
            raise InvalidInput(
                f"item {row} differs when it is read twice: the data set transforms at random. Give a data set whose "
                "transform is fixed, and augment while training alone: cusal.models.TorchClassifier(module, "
                "objective=cusal.models.objectives.Augmented(...))."
            )


def _are_same(first: Any, again: Any) -> bool:
    if hasattr(first, "shape") or hasattr(first, "tobytes"):
        return bool(
            np.array_equal(np.asarray(first), np.asarray(again), equal_nan=np.asarray(first).dtype.kind in "fc")
        )
    return bool(first == again) or not isinstance(first, str | int | float | tuple | list)


def count_items(items: Any) -> int:
    """Return how many items there are; a sparse matrix has no `len`, and a text is one item."""
    if isinstance(items, str | bytes):
        raise InvalidInput(f"items is one text ({items[:30]!r}); give a list of items.")
    try:
        return int(items.shape[0]) if is_sparse(items) else len(items)
    except TypeError as error:
        raise InvalidInput(f"items is a {type(items).__name__} ({error}); give an array or a list of items.") from error


def count_columns(items: Any) -> int:
    """Return how many numbers an item holds, in the mean; `UNKNOWN_COLUMNS` where that cannot be told.

    Of sparse rows those that are not zero count, of texts the words.

    >>> count_columns(np.zeros((5, 8, 8))), count_columns(["two words", "one"])
    (64, 2)
    """
    if is_sparse(items):
        return max(1, round(float(items.nnz) / max(1, int(items.shape[0]))))
    if is_frame(items):
        return max(1, len(items.columns))
    if are_texts(items):
        return max(1, round(float(np.mean([len(str(text).split()) for text in items[:100]]))))
    shape = getattr(items, "shape", None)
    return max(1, int(np.prod(shape[1:]))) if shape else UNKNOWN_COLUMNS


def with_columns_of(items: Any, known: Any) -> Any:
    """Return a data frame with the columns of another, in their order; anything else as it is.

    Raises
    ------
    InvalidInput
        If a column is missing.
    """
    if not (is_frame(items) and is_frame(known)):
        return items
    names, given = list(known.columns), set(items.columns)
    missing = [name for name in names if name not in given]
    if missing:
        raise InvalidInput(
            f"the new items have no column {missing[0]!r}; expected the columns {', '.join(map(str, names[:20]))}, in "
            "any order."
        )
    return items if names == list(items.columns) else items[names]


def take(items: Any, indices: Indices | slice) -> Any:
    """Return some of the items, in a container that models accept.

    Items with a true attribute `lazy` are on disk and are not read here: a model that trains on them reads batches.
    """
    if getattr(items, "lazy", False):
        return Subset(items, np.arange(len(items))[indices])
    if hasattr(items, "iloc"):
        return items.iloc[indices]
    if isinstance(items, list | tuple):
        return items[indices] if isinstance(indices, slice) else [items[i] for i in indices]
    return items[indices]


@dataclass(frozen=True)
class Subset:
    """Some of the items, without a copy, indexed like the whole."""

    items: Any
    rows: Indices

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array that this stands for."""
        return (len(self.rows), *self.items.shape[1:])

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lazy(self) -> bool:
        """Whether the items are read from disk when they are indexed."""
        return bool(getattr(self.items, "lazy", False))

    def __getitem__(self, key: Any) -> Any:
        return self.items[self.rows[key]] if self.lazy else take(self.items, self.rows[key])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return all of them as an array, for models that need one."""
        return np.asarray(self[:], dtype=dtype)


@dataclass(frozen=True)
class OneByOne:
    """A data set that takes one integer at a time, for instance torch's or Hugging Face's, indexed by arrays.

    If an item is a pair, as in torch data sets, its first part is used. If it is a record, the one field that is not a
    label is used.

    >>> OneByOne([(np.zeros(2), 1), (np.ones(2), 0)])[np.array([1])]
    array([[1., 1.]])
    """

    data: Any

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, key: Indices | slice) -> Any:
        rows = range(len(self.data))[key] if isinstance(key, slice) else key
        return _stacked([_without_label(self.data[int(row)]) for row in rows])


def _without_label(item: Any) -> Any:
    if isinstance(item, Mapping):
        fields = [name for name in item if name not in LABEL_NAMES]
        if len(fields) != 1:
            raise InvalidInput(
                f"items are records of the fields {', '.join(map(str, item))}; expected one field besides the label. "
                f"Give that column alone, for instance data[{fields[0] if fields else 'text'!r}]."
            )
        return item[fields[0]]
    return item[0] if isinstance(item, tuple) and len(item) else item


def _stacked(items: list[Any]) -> Any:
    first = items[0] if items else None
    if type(first).__module__.startswith("torch") and hasattr(first, "detach"):
        import torch

        return torch.stack(items)
    return np.stack(items) if isinstance(first, np.ndarray | np.number | float | int) else items


def _as_array_of_numbers(items: Sequence[Any]) -> Any:
    """Return nested lists of numbers, or equal arrays, as one array; other lists as they are."""
    first = items[0] if len(items) else None
    if not isinstance(first, list | tuple | np.ndarray | int | float | np.number):
        return items
    try:
        array = np.asarray(items)
    except ValueError as error:
        raise InvalidInput(f"items are ragged: they differ in length ({error}); pad or cut them to one.") from None
    return items if array.dtype.kind in "OUS" else array


def _takes_arrays(items: Any) -> bool:
    """Return whether an integer array indexes the items; a Hugging Face data set has a shape too, but does not."""
    if isinstance(items, Subset) or getattr(items, "lazy", False) or hasattr(items, "iloc"):
        return True
    return hasattr(items, "shape") and (hasattr(items, "dtype") or hasattr(items, "to_numpy"))


def are_texts(items: Any) -> bool:
    """Return whether the items are texts: a list, an array or a series of them, of which the first hundred are read."""
    if isinstance(items, list | tuple):
        return len(items) > 0 and all(isinstance(item, str) for item in items[:100])
    if getattr(items, "ndim", 0) != 1 and not (hasattr(items, "to_numpy") and not is_frame(items)):
        return False
    return are_texts(list(items[:100]))


def is_frame(items: Any) -> bool:
    """Return whether the items are a data frame, of pandas or polars."""
    return hasattr(items, "columns") and hasattr(items, "dtypes")


def is_sparse(items: Any) -> bool:
    """Return whether the items are a sparse matrix of SciPy's."""
    return hasattr(items, "tocsr") and hasattr(items, "nnz")
