"""Some of the items of a data set, whatever container they come in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices


def take(items: Any, indices: Indices | slice) -> Any:
    """Give some of the items, in the container that the model was given the others in.

    Items with a true attribute `lazy` lie on disk and are not read here: a model that trains on them reads batches.
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
    """Some of the items, not copied, indexed like the whole."""

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
        """Give them all as an array, for models that need them so."""
        return np.asarray(self[:], dtype=dtype)
