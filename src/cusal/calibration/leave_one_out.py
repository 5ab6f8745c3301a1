"""The calibration error of a labelled set: leave-one-out means of the kernel estimate.

After Popordanoska, Sayer and Blaschko (2022), "A Consistent and Differentiable Lp Canonical Calibration Error
Estimator", without the p-th root and without a density floor:

    canonical   mean_j sum_k |ratio_k(j) - q_jk|^p,   ratio(j) from all points but j, Dirichlet kernel
    marginal    mean over classes of the same for (q_jk, [y_j = k]), Beta kernel
    top label   the same for (max_k q_jk, [y_j = argmax_k q_jk]), Beta kernel
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_array, as_labels, as_probs, as_scores
from cusal._types import Floats, Indices
from cusal.calibration.dense import iterate_log_mass
from cusal.calibration.estimator import Estimator
from cusal.calibration.pointwise import error_from_mass, two_columns
from cusal.errors import InvalidInput


def canonical_error(probs: Any, labels: Any, *, bandwidth: float = 1e-3, p: float = 1) -> float:
    """Give the canonical calibration error of a labelled set.

    `probs` is (n, classes), or (n,) scores of the second of two classes, for which the error of that one column
    is given (Beta kernel).

    >>> round(canonical_error([[0.9, 0.1], [0.9, 0.1]], [0, 0]), 6)
    0.2
    """
    probs = as_array(probs)
    if probs.ndim == 1 or probs.shape[1:] == (1,):
        scores = as_scores(probs, "probs")
        return _binary_error(scores, as_labels(labels, count=len(scores), classes=2), bandwidth, p)
    probs, labels = _checked(probs, labels)
    return _leave_one_out(probs, labels, bandwidth, p)


def marginal_error(probs: Any, labels: Any, *, bandwidth: float = 1e-3, p: float = 1) -> float:
    """Give the mean over the classes of each class's one-against-rest calibration error."""
    probs, labels = _checked(probs, labels)
    errors = [_binary_error(column, labels == k, bandwidth, p) for k, column in enumerate(probs.T)]
    return float(np.mean(errors))


def top_label_error(probs: Any, labels: Any, *, bandwidth: float = 1e-3, p: float = 1) -> float:
    """Give the calibration error of the confidence: the highest probability against being right."""
    probs, labels = _checked(probs, labels)
    return _binary_error(probs.max(axis=1), probs.argmax(axis=1) == labels, bandwidth, p)


def _checked(probs: Any, labels: Any) -> tuple[Floats, Indices]:
    probs = as_probs(probs)
    return probs, as_labels(labels, count=len(probs), classes=probs.shape[1])


def _binary_error(scores: Floats, positive: NDArray[Any], bandwidth: float, p: float) -> float:
    # Both columns of a two-class problem err by the same amount; one of them is asked for.
    return _leave_one_out(two_columns(scores), positive.astype(np.int64), bandwidth, p) / 2


def _leave_one_out(probs: Floats, labels: Indices, bandwidth: float, p: float) -> float:
    estimator = Estimator(bandwidth, p, density_floor=None)
    if len(probs) < 2:
        raise InvalidInput(f"probs has {len(probs)} rows; leaving one out needs at least two.")
    total = 0.0
    for rows, log_mass in iterate_log_mass(probs, probs, labels, bandwidth=bandwidth, leave_one_out=True):
        total += float(error_from_mass(log_mass, probs[rows], estimator).sum())
    return total / len(probs)
