"""Features that are learned from a whole pool, once for all rounds of a session and all copies of its model."""

import sys
from typing import Any, Self
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cusal._items import Subset, are_texts, count_items, take


class LearnedFeatures:
    """Features that were learned from a pool, and those of its items; copies of a model share them.

    features: the fitted transformer. pool, rows: the items and their features; a pickle has neither.
    """

    def __init__(self, features: Any, pool: Any) -> None:
        self.settings = repr(features)
        # Not fit_transform, which may round otherwise: a text of the pool has the same features wherever it comes from.
        self.features = clone(features).fit(pool)
        self.rows = self.features.transform(pool)
        self.pool: Any = pool
        self.places = {text: row for row, text in enumerate(pool)} if are_texts(pool) else {}

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # it never changes

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: not the items, which a session's checkpoint leaves out."""
        return vars(self) | {"pool": None, "rows": None, "places": {}}

    def rows_of(self, X: Any) -> Any:
        """Return the features of items; texts of the pool are looked up, which is faster than counting their words."""
        if self.places:
            found = [self.places.get(item, -1) if isinstance(item, str) else -1 for item in X]
            if min(found, default=-1) >= 0:
                return self.rows[found]
        return self.features.transform(X)


def whole_pool(X: Any, unlabelled: Any) -> tuple[Any, NDArray[np.int64] | None]:
    """Return all items, the whole data set where a session gives part of one, and the positions of unlabelled ones."""
    if unlabelled is None or not count_items(unlabelled):
        return X, None
    if isinstance(unlabelled, Subset):
        whole = unlabelled.items
        plain = isinstance(whole, list | tuple | np.ndarray) or hasattr(whole, "columns") or hasattr(whole, "iloc")
        return whole if plain else take(whole, slice(None)), unlabelled.rows
    labelled, others = count_items(X), count_items(unlabelled)
    return _joined(X, unlabelled), np.arange(labelled, labelled + others)


def _joined(X: Any, others: Any) -> Any:
    if hasattr(X, "to_numpy"):  # a frame or series: pandas and polars have the same function for it
        return sys.modules[type(X).__module__.partition(".")[0]].concat([X, others])
    return np.concatenate([X, others]) if isinstance(X, np.ndarray) else [*X, *others]


# A session fits copies of a model in every round and for every fold; the features of its items are learned once.
_LEARNED: WeakSet[LearnedFeatures] = WeakSet()


def learned_features(features: Any, pool: Any, *, shared: bool) -> LearnedFeatures:
    """Return features learned from the pool; from memory if `shared` and a living model has those of the same items."""
    if shared:
        for known in list(_LEARNED):
            if known.pool is pool and known.settings == repr(features):
                return known
    made = LearnedFeatures(features, pool)
    if shared:
        _LEARNED.add(made)
    return made
