"""How good the estimate of the pool's calibration error is, and whether the bounds of the paper's Theorem 2 hold.

The paper compares the estimate with the error that knows the labels (its figure of the two estimators on MNIST). Its
Theorem 2 says: if the mean error of the queried points is at most epsilon, so is that of the pool, and that of unseen
data is at most epsilon + sqrt(L^2 log(2 / delta) / (2 (labelled + pool))).
"""

from typing import Any

import numpy as np

from cusal import calibration
from cusal._items import take
from cusal._types import Indices
from cusal.session import Session

SAMPLE = 2000
DENSE = 10_000  # labelled items


def measure_errors(
    session: Session, labels: Indices, test: tuple[Any, Indices], *, bandwidth: float, p: float
) -> dict[str, float]:
    """Return mean calibration errors by the kernel estimator; of pool and test set, of at most 2000 items each.

    labels: of all items of the session, also of those that it does not know yet; test: unseen items and their labels.

    estimated_pool_error: of the open items, with the labelled items as evidence, as the strategy sees it.
    known_pool_error: of the same ones, leave-one-out with their labels known (Popordanoska et al. 2022).
    labelled_error: of the labelled items, leave-one-out: the theorem's epsilon, which bounds the pool's error.
    known_test_error: of the test items, leave-one-out with their labels known.
    bound: the theorem's bound on the error of unseen data.
    """
    view = session.view
    rows = view.positions(_sample(session))
    settings: dict[str, Any] = {"bandwidth": bandwidth, "p": p}
    probs, evidence = view.probs[rows], (view.reference_probs, view.reference_labels)
    tolerance = 0 if len(evidence[0]) <= DENSE else 1e-9  # what is small needs no compiled code
    estimate = calibration.pointwise_error(probs, *evidence, bandwidth=bandwidth, p=p, tolerance=tolerance)
    measured = {"estimated_pool_error": float(estimate.error.mean())}
    if len(rows) > 1:
        measured["known_pool_error"] = calibration.canonical_error(probs, labels[view.candidates[rows]], **settings)
    epsilon = calibration.canonical_error(*evidence, **settings)
    unseen, truth = test
    some = np.random.default_rng([session.seed, 0, 5]).permutation(len(truth))[:SAMPLE]
    some.sort()
    predicted = session.predict_proba(take(unseen, some), raw=True)
    sizes = {"labelled": len(session.labels), "pool": len(view.candidates)}
    return measured | {
        "labelled_error": epsilon,
        "known_test_error": calibration.canonical_error(predicted, truth[some], **settings),
        "bound": calibration.error_bound(epsilon, **sizes),
    }


def _sample(session: Session) -> Indices:
    """The open items that come first in an order drawn once for each seed: the sample hardly changes over rounds."""
    order = np.random.default_rng([session.seed, 0, 4]).permutation(len(session.pool))
    opened = np.zeros(len(session.pool), dtype=bool)
    opened[session.view.candidates] = True
    return np.sort(order[opened[order]][:SAMPLE])
