"""One query from probabilities alone, for whoever has a model and a loop of their own."""

from typing import Any

import numpy as np

from cusal._checks import as_labels, as_probs
from cusal.strategies._query_result import Query
from cusal.strategies._view import View
from cusal.strategies.cusal import Cusal


def query(
    pool_probs: Any, labelled_probs: Any, labels: Any, batch_size: int = 10, *, seed: int = 0, **settings: Any
) -> Query:
    """Give the pool points to label next: the highest estimated calibration error first, ties by uncertainty.

    Parameters
    ----------
    pool_probs: (m, classes) the model's probabilities for the pool, NumPy or torch.
    labelled_probs: (n, classes) its probabilities for the labelled points.
    labels: (n,) their class numbers.
    batch_size: how many points are wanted.
    seed: for `tie_break="random"` alone.
    settings: of the strategy `cusal`: bandwidth, p, density_floor, tie_tolerance, tie_break, batch_aware.

    The result has `indices` (positions in the pool, best first), `error`, `confidence` and `decided_by`.

    >>> q = query([[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]], [0, 1], batch_size=2)
    >>> q.indices, q.decided_by
    (array([2, 1]), array(['uncertainty', 'uncertainty'], dtype='<U11'))
    """
    strategy = Cusal(**settings)
    pool = as_probs(pool_probs, "pool_probs")
    reference = as_probs(labelled_probs, "labelled_probs", classes=pool.shape[1])
    numbers = as_labels(labels, count=len(reference), classes=pool.shape[1])
    # Where nothing but probabilities is known, their square roots are the embedding: Hellinger distance.
    view = View(
        np.arange(len(pool)),
        np.random.default_rng(seed),
        probs=pool,
        reference=(reference, numbers),
        embeddings=lambda: np.sqrt(pool),
    )
    return strategy.explain(view, strategy.select(view, batch_size))
