"""The order in which items are checked: fixed from the start, so that no answer and no look at results can bias it.

    r_i = midrank(c_i) / N      a_i = 1 - clip(c_i, .002, .998)      b_i = (1 - r_i)^2
    u_i = (a_i / mean a + b_i / mean b) / 2                          q_i = .5 u_i + .5
    key_i = E_i / q_i,  E_i ~ Exp(1):  items are checked by increasing key

This is sampling without replacement with unequal probabilities: given what was checked, the next item is i with the
chance q_i / (sum of the q that are left) (Rosen 1997; Efraimidis and Spirakis 2006). Items with little confidence come
earlier, and every item has at least half of an equal share.

| symbol | name |
|---|---|
| c_i | `confidence`, (N,) |
| q_i | `rates`, (N,) |
| E_i | `exponentials`, (N,), a function of the seed and of the item's identity alone |
"""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from cusal._arguments import as_listed
from cusal._types import Floats, Indices

LOWEST, HIGHEST = 0.002, 0.998
Identities = NDArray[np.uint64]


def rank_scores(confidence: Floats) -> NDArray[np.float64]:
    """Return the midrank of each confidence divided by their number, (N,), in (0, 1]."""
    return np.asarray(rankdata(confidence) / len(confidence))


def rates(confidence: Floats) -> NDArray[np.float64]:
    """Return how readily each item is drawn, (N,), of mean 1.

    >>> rates(np.array([0.5, 0.9, 0.9])).round(3)
    array([1.702, 0.649, 0.649])
    """
    doubt = 1 - np.clip(confidence, LOWEST, HIGHEST)
    low_rank = (1 - rank_scores(confidence)) ** 2
    return np.asarray(0.25 * doubt / doubt.mean() + 0.25 * _over_mean(low_rank) + 0.5)


def _over_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    mean = values.mean()
    return values / mean if mean > 0 else np.ones_like(values)  # one item alone has rank 1


def identities(count: int, ids: Iterable[object] | None = None) -> Identities:
    """Return a number for each item, by its id or, without ids, by its position."""
    if ids is None:
        return np.arange(count, dtype=np.uint64)
    digests = (
        blake2b(str(one).encode("utf-8", "surrogatepass"), digest_size=8).digest() for one in as_listed(ids, "ids")
    )
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def exponentials(items: Identities, seed: int, stream: int) -> NDArray[np.float64]:
    """Return a standard exponential number for each item, (N,): a hash of the item, the seed and the stream.

    The order of the rows plays no part, and no generator has to be kept: a file whose rows were sorted in the
    meantime is checked in the same order.
    """
    start = np.uint64((seed * 2 + stream) & (1 << 64) - 1)
    with np.errstate(over="ignore"):
        mixed = _mix(_mix(items + np.uint64(0x9E3779B97F4A7C15)) ^ _mix(np.array([start]))[0])
    uniform = ((mixed >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53  # never 0, never 1
    return np.asarray(-np.log(uniform))


def _mix(values: Identities) -> Identities:
    """Return the values scrambled: the finaliser of splitmix64 (Steele, Lea and Flood 2014)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


class Order:
    """Items by increasing key, sorted as far as somebody looked.

    >>> order = Order(np.array([0.3, 0.1, 0.2]))
    >>> order.first(2), order.next_key(2), order.next_key(3)
    (array([1, 2]), 0.3, inf)
    """

    def __init__(self, keys: NDArray[np.float64]) -> None:
        self.keys = keys
        self._sorted: Indices = np.empty(0, dtype=np.int64)

    def first(self, count: int) -> Indices:
        """Return the first `count` items in order, or all if there are fewer."""
        count = min(count, len(self.keys))
        if count > len(self._sorted):
            wanted = min(len(self.keys), max(1024, 2 * count))
            rows = np.arange(len(self.keys))
            if wanted < len(self.keys):  # a partition, since of millions only the first are ever needed
                rows = np.argpartition(self.keys, wanted)[:wanted]
            self._sorted = rows[np.lexsort((rows, self.keys[rows]))]
        return self._sorted[:count]

    def next_key(self, count: int) -> float:
        """Return the key of the item after the first `count`; infinity after the last."""
        return float("inf") if count >= len(self.keys) else float(self.keys[self.first(count + 1)[-1]])
