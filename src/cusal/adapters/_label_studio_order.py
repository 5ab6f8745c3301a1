"""The order in which a session would ask, as scores that Label Studio sorts by: the lowest is served first.

    s_n = c_n,   s_i = min(c_i, the number below s_(i+1))

c_i is the confidence of the item at place i. So scores ascend strictly, and none is above its confidence. Where there
is no model, scores are places: i / n.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cusal._items import take
from cusal._types import Floats, Indices
from cusal.errors import CusalWarning
from cusal.session.session import Session
from cusal.strategies._uncertainty import margin


@dataclass(frozen=True)
class Ranking:
    """Open items in the order of asking: positions, scores, and where there is a model labels and confidences, (n,)."""

    indices: Indices
    scores: Floats
    labels: NDArray | None = None
    confidence: Floats | None = None

    def first(self, count: int) -> "Ranking":
        """Return the first items alone."""
        parts = (self.indices, self.scores, self.labels, self.confidence)
        return Ranking(*(None if part is None else part[:count] for part in parts))  # type: ignore[arg-type]


def rank_open_items(session: Session, batch_size: int) -> Ranking:
    """Return all open items, those that the session asks next first.

    A strategy that ranks gives the whole order. One that builds its batch jointly gives the first `batch_size`; the
    others follow by their margin, or at random where there is no model.
    """
    ready = has_model(session)
    count = len(session.pool.open)
    whole = ready and hasattr(session.strategy, "keys")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CusalWarning)  # labels of one class only: the caller says so
        first = session.ask(count if whole else min(batch_size, count)).indices
    rest = np.setdiff1d(session.pool.open, first)
    if not ready:
        order = np.concatenate([first, np.random.default_rng([session.seed, len(rest)]).permutation(rest)])
        return Ranking(order, np.arange(count) / count)
    if len(rest):
        rest = rest[np.argsort(-margin(session.view.probs_of(rest)), kind="stable")]
    order = np.concatenate([first, rest])
    probs = session.predict_proba(take(session.items, order))
    confidence = np.clip(probs.max(axis=1), 0.0, 1.0)
    return Ranking(order, ascending(confidence), session.classes_[probs.argmax(axis=1)], confidence)


def has_model(session: Session) -> bool:
    """Return whether there are labels of two classes."""
    return len(set(session.labels.values())) >= 2


def ascending(confidence: Floats) -> Floats:
    """Return scores that ascend strictly, each as high as the confidence at its place allows.

    >>> ascending(np.array([0.6, 0.5, 0.9, 0.8])).round(3)
    array([0.5, 0.5, 0.8, 0.8])
    """
    scores = np.array(confidence, dtype=np.float64)
    for place in range(len(scores) - 2, -1, -1):
        scores[place] = min(scores[place], np.nextafter(scores[place + 1], 0.0))
    return scores
