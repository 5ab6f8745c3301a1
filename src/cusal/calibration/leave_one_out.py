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
    """Return the canonical calibration error of a labelled set: that of the whole vector of probabilities.

    Each point is compared with the labels of all other points whose predictions are near.

    Parameters
    ----------
    probs : (n, classes) array, or (n,) array
        Predicted probabilities of at least two labelled points, or
        scores of the second of two classes, for which the error of that one column is returned (Beta kernel).
    labels : (n,) array of int
        Class numbers: the columns of `probs`.
    bandwidth : float, default 1e-3
        Bandwidth of the Dirichlet kernel, at least 1e-7.
    p : float, default 1
        The power in the error, 1 or more.

    Returns
    -------
    float
        The leave-one-out mean of sum_k |ratio_k - q_k|^p, without a p-th root.

    Raises
    ------
    InvalidInput
        If there are fewer than two rows, a row is not a probability distribution, a label is not a column, or a setting
        is out of its range.

    Examples
    --------
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
    """Return the marginal calibration error of a labelled set: the mean of the one-against-rest errors of the classes.

    Parameters
    ----------
    probs : (n, classes) array
        Predicted probabilities of at least two labelled points.
    labels : (n,) array of int
        Class numbers: the columns of `probs`.
    bandwidth : float, default 1e-3
        Bandwidth of the Beta kernel, at least 1e-7.
    p : float, default 1
        The power in the error, 1 or more.

    Returns
    -------
    float
        The mean over the classes of the leave-one-out error of (q_k, [y = k]).

    Raises
    ------
    InvalidInput
        If there are fewer than two rows, a row is not a probability distribution, a label is not a column, or a setting
        is out of its range.

    Examples
    --------
    >>> round(marginal_error([[0.9, 0.1], [0.9, 0.1]], [0, 0]), 6)
    0.1
    """
    probs, labels = _checked(probs, labels)
    errors = [_binary_error(column, labels == k, bandwidth, p) for k, column in enumerate(probs.T)]
    return float(np.mean(errors))


def top_label_error(probs: Any, labels: Any, *, bandwidth: float = 1e-3, p: float = 1) -> float:
    """Return the calibration error of the confidence: of the highest probability as the chance of being right.

    Parameters
    ----------
    probs : (n, classes) array
        Predicted probabilities of at least two labelled points.
    labels : (n,) array of int
        Class numbers: the columns of `probs`.
    bandwidth : float, default 1e-3
        Bandwidth of the Beta kernel, at least 1e-7.
    p : float, default 1
        The power in the error, 1 or more.

    Returns
    -------
    float
        The leave-one-out error of (max_k q_k, [y = argmax_k q_k]).

    Raises
    ------
    InvalidInput
        If there are fewer than two rows, a row is not a probability distribution, a label is not a column, or a setting
        is out of its range.

    Examples
    --------
    >>> round(top_label_error([[0.9, 0.1], [0.9, 0.1]], [0, 0]), 6)
    0.1
    """
    probs, labels = _checked(probs, labels)
    return _binary_error(probs.max(axis=1), probs.argmax(axis=1) == labels, bandwidth, p)


def _checked(probs: Any, labels: Any) -> tuple[Floats, Indices]:
    probs = as_probs(probs)
    return probs, as_labels(labels, count=len(probs), classes=probs.shape[1])


def _binary_error(scores: Floats, positive: NDArray[Any], bandwidth: float, p: float) -> float:
    # Both columns of a two-class problem err by the same amount; the error is that of one of them.
    return _leave_one_out(two_columns(scores), positive.astype(np.int64), bandwidth, p) / 2


def _leave_one_out(probs: Floats, labels: Indices, bandwidth: float, p: float) -> float:
    estimator = Estimator(bandwidth, p, density_floor=None)
    if len(probs) < 2:
        raise InvalidInput(f"probs has {len(probs)} rows; leaving one out needs at least two.")
    total = 0.0
    for rows, log_mass in iterate_log_mass(probs, probs, labels, bandwidth=bandwidth, leave_one_out=True):
        total += float(error_from_mass(log_mass, probs[rows], estimator).sum())
    return total / len(probs)
