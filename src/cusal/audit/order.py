"""The order in which items are checked: fixed from the start, so that no answer and no look at results can bias it.

    r_i = midrank(c_i) / N      a_i = 1 - clip(c_i, .002, .998)      b_i = (1 - r_i)^2
    u_i = (a_i / mean a + b_i / mean b) / 2
    q_i = .85 + .10 u_i + .05 / (K P_k)    k the predicted class of i, P_k its share, K predicted classes; mean 1
    key_i = E_i / q_i,  E_i ~ Exp(1):  items are checked by increasing key

This is sampling without replacement with unequal probabilities: given what was checked, the next item is i with the
chance q_i / (sum of the q that are left) (Rosen 1997; Efraimidis and Spirakis 2006). Items with little confidence come
earlier, as far as the confidence is trusted (.10 above): where it lies, an order that trusts it by .5 needs up to twice
the checks of a uniform one, this order at most 1.2 times as many.

Two other orders: for a rare class, q = .5 + .15 [called so] / P + .35 s / mean s, s = sqrt(1 - c) of the items that are
called otherwise; to compare judges, q = .5 + .5 [they disagree] / the share of disagreements. Where whole groups are
checked, a group has the mean q of its items, and one key.

| symbol | name |
|---|---|
| c_i | `confidence`, (N,) |
| q_i | `rates`, (N,) |
| E_i | `exponentials`, (N,), a function of the seed and of the item's identity alone |
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from cusal._arguments import as_listed
from cusal._types import Floats, Indices

LOWEST, HIGHEST = 0.002, 0.998
TRUST, BY_CLASS = 0.1, 0.05
Identities = NDArray[np.uint64]


def rank_scores(confidence: Floats) -> NDArray[np.float64]:
    """Return the midrank of each confidence divided by their number, (N,), in (0, 1]."""
    return np.asarray(rankdata(confidence) / len(confidence))


@dataclass(frozen=True)
class Design:
    """The constants of an order of checking, which stay with an audit for good.

    trust: how much of the order goes by the confidence. by_class: how much goes to every predicted class alike.
    seeks: the number of a rare class that the order looks for. disputed: (N,) where judges disagree.
    """

    trust: float = TRUST
    by_class: float = BY_CLASS
    seeks: int | None = None
    disputed: NDArray[np.bool_] | None = None

    def rates(self, predicted: Indices, confidence: Floats) -> NDArray[np.float64]:
        """Return how readily each item is drawn, (N,), of mean 1.

        >>> Design().rates(np.array([0, 0, 1]), np.array([0.5, 0.9, 0.9])).round(3)
        array([1.128, 0.917, 0.955])
        """
        if self.disputed is not None:
            return np.asarray(0.5 + 0.5 * _over_mean(self.disputed.astype(np.float64)))
        if self.seeks is not None:
            called = predicted == self.seeks
            score = np.where(called, 0.0, np.sqrt(1 - np.clip(confidence, LOWEST, HIGHEST)))
            return np.asarray(0.5 + 0.15 * _over_mean(called.astype(np.float64)) + 0.35 * _over_mean(score))
        doubt = 1 - np.clip(confidence, LOWEST, HIGHEST)
        doubt = 0.5 * _over_mean(doubt) + 0.5 * _over_mean((1 - rank_scores(confidence)) ** 2)
        counts = np.bincount(predicted)
        alike = len(predicted) / (np.count_nonzero(counts) * counts[predicted])
        return np.asarray(1 - self.trust - self.by_class + self.trust * doubt + self.by_class * alike)


def _over_mean(values: Floats) -> NDArray[np.float64]:
    mean = values.mean()
    return np.asarray(values / mean if mean > 0 else np.ones(len(values)))  # one item alone has rank 1


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
