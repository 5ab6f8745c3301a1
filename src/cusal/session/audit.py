"""Audit picks: a share of each batch that is drawn uniformly at random from the open items.

A strategy's picks say little about the items that it leaves. Items drawn at random are like all others, so that what
happens on them holds for the pool: they make `Session.estimate_accuracy` sharp.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.errors import InvalidInput
from cusal.strategies._query_result import Query


def as_share(audit: float) -> float:
    """Return the share if it is one, or raise `InvalidInput`."""
    if isinstance(audit, bool) or not isinstance(audit, int | float | np.number) or not 0 <= audit <= 1:
        raise InvalidInput(f"audit is {audit!r}; expected the share of a batch that is drawn at random, from 0 to 1.")
    return float(audit)


def draw(open_items: Indices, count: int, share: float, rng: np.random.Generator) -> Indices:
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
