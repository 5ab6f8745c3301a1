"""How good the estimate of the pool's calibration error is: the paper's Figure 4 and the bound of its Theorem 2."""

from typing import Any

import numpy as np

from cusal import calibration
from cusal.checks import Indices
from cusal.session import Session

SAMPLE = 2000


def estimate_pool_error(session: Session, labels: Indices, *, bandwidth: float, p: float) -> dict[str, float]:
    """Give three numbers about the open items, from a sample of at most 2000 of them.

    estimated_pool_error: mean pointwise error with the labelled items as evidence, as the strategy sees it.
    known_pool_error: leave-one-out mean on the same sample with its labels known (Popordanoska et al. 2022).
    bound: Theorem 2's bound on the error of unseen data, from the leave-one-out error of the labelled items.
    """
    view = session.view
    rows = view.positions(_sample(session))
    settings: dict[str, Any] = {"bandwidth": bandwidth, "p": p}
    probs, evidence = view.probs[rows], (view.reference_probs, view.reference_labels)
    estimated = calibration.pointwise_error(probs, *evidence, **settings).error.mean()
    sizes = {"labelled": len(session.labels), "pool": len(view.candidates)}
    measured = {"estimated_pool_error": float(estimated)}
    if len(rows) > 1:
        measured["known_pool_error"] = calibration.canonical_error(probs, labels[view.candidates[rows]], **settings)
    measured["bound"] = calibration.error_bound(calibration.canonical_error(*evidence, **settings), **sizes)
    return measured


def _sample(session: Session) -> Indices:
    """The open items that come first in an order drawn once for each seed: the sample hardly changes over rounds."""
    order = np.random.default_rng([session.seed, 0, 4]).permutation(len(session.pool))
    opened = np.zeros(len(session.pool), dtype=bool)
    opened[session.view.candidates] = True
    return np.sort(order[opened[order]][:SAMPLE])
