"""One query from probabilities alone, for users with their own model and loop."""

from typing import Any

import numpy as np

from cusal import strategies
from cusal._checks import as_count, as_labels, as_probs
from cusal._types import Floats, Indices
from cusal.errors import InvalidInput
from cusal.strategies._calibration_strategy import _CalibrationStrategy
from cusal.strategies._query_result import Query
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

COUNTS = {"n", "k", "count", "size", "n_instances", "n_samples"}  # what others call the batch size


def query(
    pool_probs: Any,
    labelled_probs: Any = None,
    labels: Any = None,
    batch_size: int = 10,
    *,
    strategy: str | Strategy = "margin",
    seed: int = 0,
    **settings: Any,
) -> Query:
    """Return the pool points to label next, from a model's probabilities.

    Use it in a loop of your own, with any model. `cusal.Session` runs the loop for you.

    Parameters
    ----------
    pool_probs : (m, classes) array
        The model's probabilities for the pool, a NumPy array or a torch tensor. Rows are divided by their sums.
    labelled_probs : (n, classes) array, optional
        Its probabilities for the labelled points. Strategies that estimate the calibration error need them.
    labels : (n,) integers, optional
        Their class numbers: the columns of the probabilities.
    batch_size : int, default 10
        Number of points to choose.
    strategy : str or Strategy, default "margin"
        A name, or an object such as `cusal.strategies.Cusal(bandwidth=0.01)`. "margin", "entropy" and others need no
        labels; "cusal", the paper's method, compares with the labelled points. Strategies that need embeddings use the
        square roots of the probabilities (Hellinger distance).
    seed : int, default 0
        Seed of every random choice of the strategy.
    **settings
        Settings of a strategy given by name, such as `bandwidth=0.01`.

    Returns
    -------
    Query
        `indices` (positions in the pool, best first), `error`, `confidence` and `decided_by`.

    Raises
    ------
    CusalError
        If probabilities, labels or settings are not valid, or fewer than `batch_size` points are in the pool.

    Examples
    --------
    >>> pool = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> query(pool, batch_size=1)
    Query(1 items by margin: [2], confidence 0.50 to 0.50)
    >>> q = query(pool, [[0.9, 0.1], [0.1, 0.9]], [0, 1], batch_size=2, strategy="cusal")
    >>> q.indices, q.decided_by
    (array([2, 1]), array(['uncertainty', 'uncertainty'], dtype='<U11'))
    """
    if labels is None and isinstance(labelled_probs, int | np.integer):
        raise InvalidInput(
            f"labelled_probs is the number {labelled_probs}; expected probabilities. For the size of the batch write "
            f"cusal.query(pool_probs, batch_size={labelled_probs})."
        )
    for name in COUNTS & set(settings):
        raise InvalidInput(f"query got {name}={settings[name]!r}; the number of items to choose is batch_size.")
    chosen = strategies.make(strategy, **settings)
    pool = as_probs(pool_probs, "pool_probs")
    reference, numbers = _as_reference(labelled_probs, labels, pool.shape[1], chosen)
    view = View.of_arrays(
        np.arange(len(pool)),
        np.random.default_rng(as_count(seed, "seed", least=0)),
        probs=pool,
        reference=(reference, numbers),
        embeddings=np.sqrt(pool),
        reference_embeddings=np.sqrt(reference),
    )
    return chosen.query(view, batch_size)


def _as_reference(probs: Any, labels: Any, classes: int, strategy: Strategy) -> tuple[Floats, Indices]:
    if (probs is None) != (labels is None):
        given, missing = ("labels", "labelled_probs") if probs is None else ("labelled_probs", "labels")
        raise InvalidInput(f"{given} was given without {missing}; give both, or neither.")
    if probs is None:
        if isinstance(strategy, _CalibrationStrategy) or strategy.name == "cusal_listing":
            raise InvalidInput(
                f"the strategy {strategy.name} compares the pool with labelled points, and none were given; give "
                "labelled_probs and labels, or a strategy such as 'margin'."
            )
        return np.empty((0, classes)), np.empty(0, dtype=np.int64)
    reference = as_probs(probs, "labelled_probs", classes=classes)
    return reference, as_labels(labels, count=len(reference), classes=classes)
