"""The calibration error of each pool point, estimated from the labelled points.

Eq. 9 of Bui et al., "Calibrated Uncertainty Sampling for Active Learning", with the density floor of its listing:

    density  = sum_i k(q; h_i)        ratio = sum_i k(q; h_i) onehot(y_i) / max(density, floor)
    error    = sum_k |ratio_k - q_k|^p

    q  pool_probs     h_i  labelled_probs     y_i  labels     k  kernel.py

Below the floor there is no labelled evidence near the prediction: the ratio vanishes and, for p = 1, the error is 1.
These points are *unsupported*, and they are the ones that tie in the order of `query`.
"""

import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from cusal._checks import Rows, UnitRows, as_array, as_labels, as_positive, as_probs, as_scores, as_unchecked_probs
from cusal._types import Floats, Indices
from cusal.calibration.dense import iterate_log_mass
from cusal.calibration.estimator import Estimator
from cusal.errors import InvalidInput

TOLERANCE = 1e-9  # how far the pruned sum may be from the dense one
# Up to this much work, the dense sum takes less time (70 ms) than loading the compiled code of the pruned one does.
SMALL = 4_000_000
FEW_CLASSES = 32  # up to this many, a product over all classes costs the pruned sum no more than a finer bound
# As measured: so few rows, or with many classes labelled numbers, do not pay for bounds, and a wide kernel has no use
# for them.
FEW_ROWS, FEW_NUMBERS, WIDE = 32, 64_000, 0.3
PATIENCE = 5  # seconds of the dense sum, after which installing numba is advised

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PointwiseError:
    """The estimated calibration error of each pool point, as `pointwise_error` returns it.

    Attributes
    ----------
    error : (m,) array
        Estimated calibration error, sum_k |ratio_k - q_k|^p.
    log_density : (m,) array
        Log of the kernel density of the labelled predictions at the point.
    supported : (m,) array of bool
        Whether the density reaches the floor: whether there is labelled evidence near the prediction.

    Examples
    --------
    >>> estimate = pointwise_error([[0.9, 0.1], [0.5, 0.5]], [[0.9, 0.1]], [0])
    >>> estimate.supported
    array([ True, False])
    """

    error: NDArray[np.float64]
    log_density: NDArray[np.float64]
    supported: NDArray[np.bool_]


def pointwise_error(
    pool_probs: Any,
    labelled_probs: Any,
    labels: Any,
    *,
    bandwidth: float = 1e-3,
    p: float = 1,
    density_floor: float | None = 1e-10,
    tolerance: float = TOLERANCE,
) -> PointwiseError:
    """Return the estimated calibration error of each pool point.

    The estimate compares a point's probabilities with the labels of the labelled points whose predictions are near.

    Parameters
    ----------
    pool_probs : (m, classes) array or tensor, or (m,) array
        Probabilities of the pool points; or scores of the second of two classes, for which the error is that of the one
        column (Beta kernel).
    labelled_probs : (n, classes) array or tensor, or (n,) array
        Probabilities, or scores, of the labelled points.
    labels : (n,) array of int
        Their class numbers: the columns of the probabilities.
    bandwidth : float, default 1e-3
        Bandwidth of the kernel, at least 1e-7. The smaller it is, the closer a labelled prediction must be to count as
        evidence.
    p : float, default 1
        The power in the error, 1 or more.
    density_floor : float or None, default 1e-10
        A point of lower density is unsupported. None estimates without a floor.
    tolerance : float, default 1e-9
        How far the error may be from the sum over all pairs of points; 0 computes that sum itself.

    Returns
    -------
    PointwiseError
        `error`, `log_density` and `supported`, each (m,).

    Raises
    ------
    InvalidInput
        If a row is not a probability distribution, a label is not a column, a setting is out of its range, or there is
        neither a labelled point nor a density floor.

    Examples
    --------
    >>> import numpy as np
    >>> estimate = pointwise_error([[0.9, 0.1], [0.5, 0.5]], [[0.9, 0.1]], [0])
    >>> np.round(estimate.error, 3), estimate.supported
    (array([0.2, 1. ]), array([ True, False]))
    """
    pool, reference, one_column = as_prediction_pair(pool_probs, labelled_probs)
    labels = as_labels(labels, count=len(reference), classes=reference.shape[1])
    estimator = Estimator(bandwidth, p, density_floor)
    if density_floor is None and len(reference) == 0:
        raise InvalidInput("there are no labelled points; without a density floor the error needs at least one.")
    if tolerance != 0:
        tolerance = as_positive(tolerance, "tolerance")
    if one_column or _dense_is_faster(len(pool), reference, bandwidth):
        tolerance = 0
    estimate = estimate_errors(pool, reference, labels, estimator, tolerance=tolerance)
    # Both columns of a two-class problem err by the same amount.
    return replace(estimate, error=estimate.error / 2) if one_column else estimate


def estimate_errors(
    pool: Floats, reference: Rows, labels: Indices, estimator: Estimator, *, tolerance: float = TOLERANCE
) -> PointwiseError:
    """Return the estimate for checked probabilities; a tolerance of 0, or no labelled points, takes the dense sum."""
    return Evidence(reference, labels, estimator, tolerance=tolerance).errors(pool)


class Evidence:
    """Checked labelled points, prepared once for any number of pools; see `estimate_errors`."""

    def __init__(self, reference: Rows, labels: Indices, estimator: Estimator, *, tolerance: float = TOLERANCE) -> None:
        self.reference, self.labels, self.estimator, self.tolerance = reference, labels, estimator, tolerance
        self._rows = 0  # predictions that were summed without numba

    def errors(self, pool: Floats) -> PointwiseError:
        """Return the estimate for each row of a pool of checked probabilities."""
        if self.tolerance == 0 or len(self.reference) == 0:
            error, log_density = dense(pool, self.reference, self.labels, self.estimator)
        elif not has_numba():
            self._advise(len(pool))
            error, log_density = dense_in_parts(pool, self.reference, self.labels, self.estimator)
        else:
            from cusal.calibration.compiled import kernels  # numba loads when it is first needed

            with kernels():
                error, log_density = self._pruned(pool)
        floor = self.estimator.density_floor
        supported = np.ones(len(pool), dtype=bool) if floor is None else log_density >= np.log(floor)
        return PointwiseError(error, log_density, supported)

    def _advise(self, rows: int) -> None:
        """Log, once, what numba would change where the dense sums so far take more than some seconds."""
        million = 1e6 * len(self.reference) * (15e-9 + 15e-11 * self.reference.shape[1]) / count_threads()  # measured
        before, self._rows = self._rows, self._rows + rows
        if before * million / 1e6 <= PATIENCE < self._rows * million / 1e6:
            _log.warning(
                "%d labelled points without numba: about %.0f s for a million predictions; pip install 'cusal[fast]'",
                *(len(self.reference), million),
            )

    @cached_property
    def _pruned(self) -> Callable[[Floats], tuple[NDArray[np.float64], NDArray[np.float64]]]:
        from cusal.calibration.pruned import Pruned

        return Pruned(self.reference, self.labels, self.estimator, self.tolerance)


@cache
def has_numba() -> bool:
    """Return whether numba, which the extra `fast` installs, can be imported."""
    try:
        import numba  # noqa: F401 - what lies there may be broken
    except ImportError:
        return False
    return True


def _dense_is_faster(rows: int, reference: Floats, bandwidth: float) -> bool:
    """Return whether the dense sum takes no longer for few pool rows than bounds of the labelled points."""
    if reference.shape[1] <= FEW_CLASSES:
        return rows <= (8 * FEW_ROWS if bandwidth >= WIDE else FEW_ROWS)
    # with fewer than 8 rows the pruned sum draws no sample
    return (bandwidth >= WIDE and 8 <= rows <= 8 * FEW_ROWS) or (reference.size <= FEW_NUMBERS and rows <= 2 * FEW_ROWS)


def is_small(pool: Floats, reference: Floats) -> bool:
    """Return whether the dense sum is so quick that compiled code need not be loaded for it."""
    return len(pool) * (len(reference) + 4 * int(reference.shape[1])) <= SMALL


def as_prediction_pair(pool_probs: Any, labelled_probs: Any) -> tuple[Any, NDArray[np.float64], bool]:
    """Return both as checked (rows, classes), and whether they came as one column of scores."""
    pool_probs, labelled_probs = as_array(pool_probs, "pool_probs"), as_array(labelled_probs, "labelled_probs")
    if pool_probs.ndim == 1 or pool_probs.shape[1:] == (1,):
        if labelled_probs.ndim == 2 and labelled_probs.shape[1] > 1:
            raise InvalidInput(
                f"pool_probs has shape {pool_probs.shape} and labelled_probs {labelled_probs.shape}; expected a column "
                "for each class in both. For a single item, give a table with one row."
            )
        scores, reference = as_scores(pool_probs, "pool_probs"), as_scores(labelled_probs, "labelled_probs")
        return two_columns(scores), two_columns(reference), True
    pool = UnitRows(as_unchecked_probs(pool_probs, "pool_probs"), "pool_probs")
    return pool, as_probs(labelled_probs, "labelled_probs", classes=pool.shape[1]), False


def two_columns(scores: Floats) -> NDArray[np.float64]:
    """Return the probabilities of both classes from the scores of the second."""
    second = scores.astype(np.float64)
    return np.stack([1 - second, second], axis=1)


def dense(
    pool: Floats, reference: Rows, labels: Indices, estimator: Estimator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (error, log density) from the sum over all pairs, against which the pruned form is tested."""
    error, log_density = np.empty(len(pool)), np.empty(len(pool))
    for rows, log_mass in iterate_log_mass(pool, reference, labels, bandwidth=estimator.bandwidth):
        with np.errstate(divide="ignore"):
            log_density[rows] = logsumexp(log_mass, axis=1)
        error[rows] = error_from_mass(log_mass, pool[rows], estimator, log_density[rows])
    return error, log_density


def dense_in_parts(
    pool: Floats, reference: Rows, labels: Indices, estimator: Estimator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the dense sum, a part of the pool on each thread.

    The products run on one thread each: threads of theirs would wait for each other busily where processors are shared.
    """
    threads = count_threads()
    step = max(1024, -(-len(pool) // threads))  # each part computes the constants of all labelled points
    parts: list[Any] = [_Part(pool, start, min(start + step, len(pool))) for start in range(0, len(pool) or 1, step)]
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as workers:
        results = list(workers.map(lambda part: dense(part, reference, labels, estimator), parts))
    error, log_density = (np.concatenate(both) for both in zip(*results, strict=True))
    return error, log_density


def count_threads() -> int:
    """Return how many threads sum kernels: NUMBA_NUM_THREADS, with numba or without, or one for each processor."""
    named = os.environ.get("NUMBA_NUM_THREADS", "")
    if named.isdecimal() and int(named) > 0:
        return int(named)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Part:
    """Rows start to stop of a pool that are only read tile by tile: the pool is never copied."""

    def __init__(self, rows: Floats, start: int, stop: int) -> None:
        self.rows, self.start, self.stop = rows, start, stop

    def __len__(self) -> int:
        return self.stop - self.start

    def __getitem__(self, where: slice) -> Floats:
        return self.rows[self.start + where.start : self.start + where.stop]


def error_from_mass(
    log_mass: NDArray[np.float64], probs: Floats, estimator: Estimator, log_density: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return sum_k |ratio_k - q_k|^p from the log mass by class, (rows, classes), and its sum if that is known."""
    if log_density is None:
        with np.errstate(divide="ignore"):
            log_density = logsumexp(log_mass, axis=1)
    divisor = log_density[:, None]
    if estimator.density_floor is not None:
        divisor = np.maximum(divisor, np.log(estimator.density_floor))
    difference = np.abs(np.exp(log_mass - divisor) - probs)
    return np.asarray((difference if estimator.p == 1 else difference**estimator.p).sum(axis=1))
