"""Strategies that cannot be told apart: they have the same numbers in every round."""

from collections.abc import Sequence

import numpy as np

from cusal.apps.bench.report.curves import CARRIED, Curves

_SAME = 1e-9


def coincidences(curves: Curves) -> tuple[str, ...]:
    """Return a sentence for each group of strategies whose scores are the same in every round and seed."""
    return tuple(
        f"{' = '.join(group)} in every round: their scores are the same, and their curves lie on one another."
        for group in coinciding(curves)
    )


def coinciding(curves: Curves) -> list[tuple[str, ...]]:
    """Return the groups of strategies whose scores on the test set and the pool are the same.

    Compared are the rounds after the first choice that both have: before it, all strategies have chosen nothing.
    """
    scores = [values[:, :, 1:] for key, values in sorted(curves.values.items()) if key[0] in CARRIED]
    if not scores:
        return []
    every = np.stack(scores, axis=1)  # (strategies, scores, seeds, rounds)
    groups: list[list[int]] = []
    for row in range(len(every)):
        own = next((group for group in groups if _same(every[group[0]], every[row])), None)
        if own is None:
            groups.append([row])
        else:
            own.append(row)
    return [tuple(curves.strategies[row] for row in group) for group in groups if len(group) > 1]


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    both = np.isfinite(one) & np.isfinite(other)
    return bool(both.any()) and bool((np.abs(one[both] - other[both]) <= _SAME).all())


def in_words(names: Sequence[str]) -> str:
    """Return names as one phrase.

    >>> in_words(["badge", "bald", "margin"])
    'badge, bald and margin'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
