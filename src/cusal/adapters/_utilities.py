"""The utilities of a strategy: one number for each candidate, highest for what is labelled first.

Other libraries ask for them next to the picks. A strategy that ranks by one key has it as its utility. One that ranks
by several has the place of the item in the order, from 1 for the first down to 0 for the last, equal for ties. One
that builds its batch jointly has no utilities of single items: its picks get 1 for the first down to 1 / batch size
for the last, and all others 0.
"""

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_batch_size
from cusal._types import Indices, Keys
from cusal.errors import MissingMethod
from cusal.strategies._strategy import Strategy, top_rows
from cusal.strategies._view import View


def ranked(strategy: Strategy, view: View, batch_size: int) -> tuple[Indices, NDArray[np.float64]]:
    """Return the picks (batch_size,), best first, and the utilities (candidates,)."""
    count = as_batch_size(batch_size, len(view.candidates))
    if not _ranks(strategy):
        return with_places(strategy.query(view, count).indices, view)
    try:
        keys = strategy._checked_keys(strategy.keys(view), len(view.candidates))  # type: ignore[attr-defined]
    except MissingMethod as error:
        raise MissingMethod(f"strategy {strategy.name}: {error}") from error
    return view.candidates[top_rows(keys, count)], as_one_column(keys)


def with_places(picks: Indices, view: View) -> tuple[Indices, NDArray[np.float64]]:
    """Return the picks and the utilities (candidates,) that follow from their places."""
    utilities = np.zeros(len(view.candidates))
    utilities[view.positions(picks)] = np.arange(len(picks), 0, -1) / len(picks)
    return picks, utilities


def _ranks(strategy: Strategy) -> bool:
    """Return whether keys alone decide; `select` of a strategy by rows is but a faster way to the same picks."""
    return hasattr(strategy, "keys") and (type(strategy).select is Strategy.select or strategy.by_row)


def as_one_column(keys: Keys) -> NDArray[np.float64]:
    """Return one utility for each row of keys, in the same order.

    >>> as_one_column(np.array([[1.0, 0.0], [2.0, 5.0], [2.0, 6.0]]))
    array([0. , 0.5, 1. ])
    """
    if keys.ndim == 1:
        return keys
    if keys.shape[1] == 1:
        return keys[:, 0]
    _, places = np.unique(keys, axis=0, return_inverse=True)  # rows in lexicographic order
    places = places.reshape(len(keys))  # NumPy 2.0.0 returns a column
    return places / max(int(places.max(initial=0)), 1)
