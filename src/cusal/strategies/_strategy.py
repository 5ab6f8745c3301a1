"""The base of every strategy, and the order of its keys."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cusal._checks import as_batch_size
from cusal._types import Indices, Keys
from cusal.strategies._query_result import Query
from cusal.strategies._view import View


@dataclass(frozen=True)
class Strategy(ABC):
    """Decides which items to label next.

    `keys` gives each candidate (n,) or (n, j) numbers that are compared column by column, highest first. A strategy
    that builds its batch jointly overrides `select`. One that never looks at the model says so with `needs_model`.
    """

    needs_model: ClassVar[bool] = True

    @abstractmethod
    def keys(self, view: View) -> Keys:
        """Give the keys of the candidates: the highest is labelled first."""

    def select(self, view: View, batch_size: int) -> Indices:
        """Give the positions in the whole data set of the next `batch_size` items, best first."""
        return view.candidates[best(self.keys(view), batch_size)]

    def explain(self, view: View, indices: Indices) -> Query:
        """Give the chosen items together with what is known about each."""
        return Query(indices, probs=view.probs_of(indices))


def best(keys: Keys, count: int) -> Indices:
    """Give the rows of the `count` highest keys, highest first; equal keys go by their row."""
    count = as_batch_size(count, len(keys))
    columns = keys[:, None] if keys.ndim == 1 else keys
    first = columns[:, 0]
    rows = np.arange(len(first))
    if count < len(first) // 4:
        cut = np.partition(first, len(first) - count)[len(first) - count]
        rows = np.flatnonzero(first >= cut)
    order = np.lexsort((rows, *(-columns[rows, j] for j in reversed(range(columns.shape[1])))))
    return rows[order[:count]].astype(np.int64)
