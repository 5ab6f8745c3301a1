"""The best rows of some part of a pool: small, and two of them merge into those of both parts.

The order is that of `Strategy`: keys column by column, highest first, then the row's number. It has no ties, so the
merge has the same rows in whatever order and grouping parts arrive. Whether the first key alone decided a pick is a
fact about the whole pool; therefore the number of rows that share a first key is kept too, from the lowest first key
among the best upwards: at most one number for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices, Keys


@dataclass(frozen=True)
class Candidates:
    """The best rows, best first, and how many rows of the part share each of their first keys."""

    keys: Keys  # (count, columns)
    rows: Indices  # (count,) numbers in the whole pool
    ids: NDArray[np.str_]  # (count,)
    confidence: NDArray[np.float64]  # (count,)
    error: NDArray[np.float64]  # (count,), NaN where the strategy does not estimate it
    supported: NDArray[np.bool_]  # (count,)
    shared_key: NDArray[np.float64]  # (distinct,) the first keys, ascending
    shared_count: Indices  # (distinct,) the rows that have it, also those that are no candidates

    @property
    def alone(self) -> NDArray[np.bool_]:
        """(count,) whether no other row has this first key."""
        return np.equal(self.shared_count[np.searchsorted(self.shared_key, self.keys[:, 0])], 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return every field by its name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def merge(cls, candidates: Sequence[Self], count: int) -> Self:
        """Return the best `count` rows of all of them."""
        joined = {
            field.name: np.concatenate([getattr(each, field.name) for each in candidates]) for field in fields(cls)
        }
        keys, counts = joined.pop("shared_key"), joined.pop("shared_count")
        order = rank(joined["keys"], joined["rows"])[:count]
        kept = {name: values[order] for name, values in joined.items()}
        shared_key, place = np.unique(keys, return_inverse=True)
        shared_count = np.zeros(len(shared_key), dtype=np.int64)
        np.add.at(shared_count, place, counts)
        return cls(**kept, **from_cut(kept["keys"], shared_key, shared_count))


def rank(keys: Keys, rows: Indices) -> Indices:
    """Return the positions of all rows, best first."""
    return np.lexsort((rows, *(-keys[:, j] for j in reversed(range(keys.shape[1])))))


def from_cut(best: Keys, shared_key: NDArray[np.float64], shared_count: Indices) -> dict[str, NDArray[Any]]:
    """Return the counts of the first keys that are not below the last of the best."""
    above = shared_key >= best[-1, 0]
    return {"shared_key": shared_key[above], "shared_count": shared_count[above]}
