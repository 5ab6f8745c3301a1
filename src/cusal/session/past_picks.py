"""What a session remembers of the items that it asked for: what was predicted, when, and whether chance drew them.

When the label of an item arrives, the prediction from before and the label are a pair that the model was not fitted to:
evidence at no cost. Items drawn at random are like the pool; picks are not. Estimates for the open items rest on the
difference. The cold start and labels that nobody asked for count as picks.

Audit picks are a share of each batch that is drawn uniformly from the open items. A strategy's picks say little about
the items that it leaves; what happens on items drawn at random holds for the pool, and makes
`Session.estimate_accuracy` sharp.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.errors import InvalidInput
from cusal.strategies._query_result import Query


@dataclass
class PastPicks:
    """The items that were asked for, by position in the data set.

    predictions: what the model said before the label was known. rounds: the round of the asking. at_random: whether
    the item was drawn at random.

    >>> picks = PastPicks()
    >>> picks.remember(np.array([4, 2]), np.array([False, True]), round_number=3)
    >>> picks.drawn(np.array([2, 4, 5])), picks.age(np.array([2, 5]), 5)
    (array([ True, False, False]), array([2, 0]))
    """

    predictions: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    rounds: dict[int, int] = field(default_factory=dict)
    at_random: dict[int, bool] = field(default_factory=dict)

    def remember(self, indices: Indices, drawn: NDArray[np.bool_], round_number: int) -> None:
        """Keep where items come from; an item asked for again is what it was asked for as last."""
        for index, random in zip(indices.tolist(), drawn.tolist(), strict=True):
            self.rounds[index], self.at_random[index] = round_number, random

    def remember_query(self, query: Query, round_number: int, probs: Floats | None = None) -> None:
        """Keep where the items of a query come from and, if a model chose them, its predictions (k, classes)."""
        drawn = np.zeros(len(query), dtype=np.bool_) if query.audit is None else query.audit
        self.remember(query.indices, drawn | (query.strategy == "random"), round_number)
        if probs is not None:
            for index, row in zip(query.indices.tolist(), probs, strict=True):
                self.predictions[index] = np.array(row, dtype=np.float64)

    def forget(self, indices: Indices) -> None:
        """Drop items whose label or turn was taken back, if they are there."""
        for index in indices.tolist():
            for known in (self.predictions, self.rounds, self.at_random):
                known.pop(index, None)

    def drawn(self, indices: Indices) -> NDArray[np.bool_]:
        """Return whether each item was drawn at random, (k,)."""
        return np.array([self.at_random.get(index, False) for index in indices.tolist()], dtype=np.bool_)

    def age(self, indices: Indices, round_number: int) -> Indices:
        """Return how many rounds ago each item was asked for, (k,); 0 where that is not known."""
        return np.array([round_number - self.rounds.get(i, round_number) for i in indices.tolist()], dtype=np.int64)

    def pairs(self, labels: dict[int, int], classes: int) -> tuple[Indices, NDArray[np.float64], Indices]:
        """Return (indices, probs, labels) of all picks with a prediction and a label.

        Classes that were met later have probability zero.
        """
        known = [index for index in self.predictions if index in labels]
        probs = np.zeros((len(known), classes))
        for row, index in enumerate(known):
            prediction = self.predictions[index]
            probs[row, : len(prediction)] = prediction
        numbers = np.array([labels[index] for index in known], dtype=np.int64)
        return np.array(known, dtype=np.int64), probs, numbers


def as_audit_share(audit: float) -> float:
    """Return the share if it is one, or raise `InvalidInput`."""
    if isinstance(audit, bool) or not isinstance(audit, int | float | np.number) or not 0 <= audit <= 1:
        raise InvalidInput(f"audit is {audit!r}; expected the share of a batch that is drawn at random, from 0 to 1.")
    return float(audit)


def draw_audit(open_items: Indices, count: int, share: float, rng: np.random.Generator) -> Indices:
    """Return the audit items of a batch of `count`: the share of it, at least one.

    A batch of a single item is an audit item with the chance `share`: otherwise nothing but audit would be left.
    """
    if count == 1:
        return rng.permutation(open_items)[: int(rng.random() < share)]
    return rng.permutation(open_items)[: min(count, max(1, round(share * count)))]


def with_audit(query: Query, drawn: Indices, probs_of: Callable[[Indices], Floats]) -> Query:
    """Return a query whose last picks make room for the audit items, whose predictions are `probs_of(drawn)`.

    An item that was both drawn and picked is an audit item: the draw did not depend on the pick.
    """
    kept = np.flatnonzero(~np.isin(query.indices, drawn))[: len(query) - len(drawn)]
    audit = np.concatenate([np.zeros(len(kept), dtype=np.bool_), np.ones(len(drawn), dtype=np.bool_)])
    return replace(
        query,
        indices=np.concatenate([query.indices[kept], drawn]),
        probs=None if query.probs is None else np.concatenate([query.probs[kept], probs_of(drawn)]),
        error=_joined(query.error, kept, np.full(len(drawn), np.nan)),
        decided_by=_joined(query.decided_by, kept, np.full(len(drawn), "audit")),
        audit=audit,
    )


def _joined(values: NDArray[Any] | None, kept: Indices, more: NDArray[Any]) -> NDArray[Any] | None:
    return None if values is None else np.concatenate([values[kept], more])
