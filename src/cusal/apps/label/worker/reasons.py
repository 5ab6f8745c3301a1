"""Why each item is asked about, as the pages say it.

between    the two classes that the model takes it for
new        the nearest labelled item is farther away than it is for 90 % of the pool
typical    one of many like it, while there is no model
random     drawn at random, to measure how good the model is
reserve    next in line: what is asked while the model learns
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal import Query, Session
from cusal._types import Floats, Indices
from cusal.errors import MissingMethod

FAR = 0.9  # the quantile of the pool's distances beyond which an item is new
SAMPLE = 1000  # open items whose distances are looked at, and labelled items that they are measured to

Reason = dict[str, Any]


def reasons_of(query: Query, session: Session) -> list[Reason]:
    """Return a reason for each pick; labels of the session are class ids."""
    if query.probs is None:
        kind = "typical" if query.strategy == "cold_start" else "random"
        return [{"kind": kind}] * len(query)
    drawn = np.zeros(len(query), dtype=np.bool_) if query.audit is None else query.audit
    far = _are_new(query.indices, session)
    between = closest_classes(query.probs, session.classes_)
    return [
        {"kind": "random"} if drawn[row] else {"kind": "new"} if far[row] else {"kind": "between", "classes": pair}
        for row, pair in enumerate(between)
    ]


def closest_classes(probs: Floats, classes: NDArray[Any]) -> list[list[int]]:
    """Return the ids of the two most probable classes of each row, the more probable first.

    >>> closest_classes(np.array([[0.1, 0.5, 0.4]]), np.array([7, 8, 9]))
    [[8, 9]]
    """
    order = np.argsort(-probs, axis=1, kind="stable")[:, :2]
    return [[int(classes[column]) for column in row] for row in order]


def _are_new(indices: Indices, session: Session) -> NDArray[np.bool_]:
    """Return whether each item is farther from all labelled items than most of the pool is."""
    rng = np.random.default_rng(0)
    some = _some(session.pool.open, rng)
    labelled = _some(session.pool.labelled, rng)
    try:
        points = session.view.embeddings_of(np.concatenate([indices, some]))
        known = session.embeddings(labelled)
    except MissingMethod:  # of models and items without any
        return np.zeros(len(indices), dtype=np.bool_)
    distances = _nearest(points, known)
    return np.asarray(distances[: len(indices)] > np.quantile(distances[len(indices) :], FAR))


def _some(indices: Indices, rng: np.random.Generator) -> Indices:
    return indices if len(indices) <= SAMPLE else rng.choice(indices, SAMPLE, replace=False)


def _nearest(points: Floats, known: Floats) -> Floats:
    """Return the squared distance from each point to the nearest of the known ones, (n,)."""
    points, known = points.astype(np.float32), known.astype(np.float32)
    squared = np.einsum("ij,ij->i", known, known) - 2 * (points @ known.T)
    return np.asarray(squared.min(axis=1) + np.einsum("ij,ij->i", points, points))


def in_reserve(session: Session, taken: Sequence[int], count: int) -> list[tuple[int, Reason]]:
    """Return the open items that the model is least sure of after those that are taken, with their reasons."""
    if len(session.pool.open) <= len(taken):
        return []
    candidates, probs = session.view.candidates, session.view.probs[:, session.class_columns]
    free = np.flatnonzero(~np.isin(candidates, np.asarray(taken, dtype=np.int64)))
    best = np.partition(probs[free], -2, axis=1)[:, -2:]
    rows = free[np.argsort(best[:, 1] - best[:, 0], kind="stable")[:count]]
    pairs = closest_classes(probs[rows], session.classes_)
    return [(int(candidates[row]), {"kind": "reserve", "classes": pair}) for row, pair in zip(rows, pairs, strict=True)]
