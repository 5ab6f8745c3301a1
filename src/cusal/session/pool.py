"""The state of each item of a data set: labelled, skipped or open."""

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_count
from cusal._types import Indices
from cusal.errors import InvalidInput

LARGEST = 2**31  # items; a byte is kept for each

OPEN, LABELLED, SKIPPED = np.int8(0), np.int8(1), np.int8(2)


class Pool:
    """The state of each item of a data set: open, labelled or skipped.

    A session keeps one, `session.pool`, and changes it as labels arrive; read it to see what is left.

    Parameters
    ----------
    size : int
        Number of items; all are open at first.

    Attributes
    ----------
    open, labelled, skipped : int64 array
        Positions of the items in each state, ascending.

    Examples
    --------
    >>> pool = Pool(3)
    >>> pool.mark(np.array([1]), LABELLED)
    >>> pool.open
    array([0, 2])
    >>> pool
    Pool(3 items: 1 labelled, 2 open)
    """

    def __init__(self, size: int) -> None:
        self.state: NDArray[np.int8] = np.zeros(_as_size(size), dtype=np.int8)

    def __len__(self) -> int:
        return len(self.state)

    def __repr__(self) -> str:
        return f"Pool({self.describe()})"

    def describe(self) -> str:
        """Return the number of items in each state as text, such as "3 items: 1 labelled, 2 open"."""
        skipped = len(self.skipped)
        set_aside = f", {skipped:,} skipped" if skipped else ""
        return f"{len(self):,} items: {len(self.labelled):,} labelled{set_aside}, {len(self.open):,} open"

    def extended(self, size: int) -> "Pool":
        """Return a pool of `size` items: these, and open ones after them."""
        pool = Pool(size)
        pool.state[: len(self)] = self.state
        return pool

    def mark(self, indices: Indices, state: np.int8) -> None:
        """Set the state of items: OPEN, LABELLED or SKIPPED."""
        self.state[indices] = state

    @property
    def open(self) -> Indices:
        """The items that may be asked for, ascending."""
        return np.flatnonzero(self.state == OPEN)

    @property
    def labelled(self) -> Indices:
        """The items that have a label, ascending."""
        return np.flatnonzero(self.state == LABELLED)

    @property
    def skipped(self) -> Indices:
        """The items that were set aside, ascending."""
        return np.flatnonzero(self.state == SKIPPED)


def _as_size(size: int) -> int:
    size = as_count(size, "size", least=0)
    if size > LARGEST:
        raise InvalidInput(f"size is {size:,}; a pool in memory has at most {LARGEST:,} items: see cusal.score_files.")
    return size
