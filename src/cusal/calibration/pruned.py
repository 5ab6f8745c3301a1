"""The pointwise error from only those labelled points that can matter, within a proven distance of the dense sum.

For a pool point q and labelled points h_i with labels y_i (Eq. 9 and 10 of Bui et al., as in `pointwise`):

    log k_i = c_i + <h_i, log q> / b        density = sum_i k_i
    ratio   = sum_i k_i onehot(y_i) / max(density, floor)        error = sum_k |ratio_k - q_k|^p

A point i is left out when an upper bound of log k_i (see `pruned_few_classes`, `pruned_many_classes`) lies below
M - slack, M the largest log k met so far. Let S be the sum that is kept, D the sum that is left out, A_k and D_k
their parts with label k. Then D <= n exp(M - slack) <= delta S for delta = n exp(-slack), and

- the log density moves by log(S + D) - log S <= D / S <= delta;
- the ratio moves, with N = max(S + D, floor) and N' = max(S, floor), so that N - N' <= D and S <= N' <= N, by
  sum_k |(A_k + D_k) / N - A_k / N'| <= D / N + S (N - N') / (N N') <= 2 D / N' <= 2 delta;
- the error moves by at most 2 delta p 1.01^(p-1), for |x^p - y^p| <= p max(x, y)^(p-1) |x - y| if p >= 1, and
  |ratio_k - q_k| <= 1.01 (a checked row holds nothing above 1.01).

slack = log(n p 1.01^(p-1) / tolerance) + 1 makes the last bound (2 / e) tolerance: both results lie within
`tolerance`, for points supported or not, with or without floor. The remaining factor e / 2 covers the rounding of the
bounds, which is below 1e-5 in log k for b >= 1e-5 and 1000 classes. The rounding of the log kernels themselves,
about 1e-16 / b, is the same in the dense form.

A wide kernel leaves little out. With many classes a sample of the pairs tells what share of them is computed; if it is
large, the dense sum does the same work faster and is taken instead.

| symbol | name |
|---|---|
| q, h_i, y_i, b | `pool`, `reference`, `labels`, `bandwidth` |
| c_i, h_i / b | `constant`, `weight` |
| M, A_k exp(-M) | `largest`, `mass` |
"""

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cusal._checks import Rows, UnitRows
from cusal._types import Floats, Indices
from cusal.calibration import pruned_few_classes, pruned_many_classes
from cusal.calibration.compiled import over_rows
from cusal.calibration.estimator import Estimator
from cusal.calibration.kernel import log_clamped
from cusal.calibration.pointwise import FEW_CLASSES, dense_in_parts

SAMPLE, SAMPLE_LABELLED = 32, 512  # rows of the pool and of the reference that tell how many pairs matter
DENSE_FROM = 0.25  # the share of pairs from which on all of them in one matrix product are faster, as measured
Array = NDArray[np.float64]
Adder = Callable[[Array, Array, tuple[Array, Array]], int]
Score = Callable[[Array], tuple[Array, Array]]


def pointwise(
    pool: Floats,
    reference: Rows,
    labels: Indices,
    estimator: Estimator,
    *,
    tolerance: float,
) -> tuple[Array, Array]:
    """Return (error, log density), each (m,) and within `tolerance` of the dense sum up to its rounding."""
    return Pruned(reference, labels, estimator, tolerance)(pool)


class Pruned:
    """Labelled points, prepared when they are first needed and once for all pools that are held against them."""

    def __init__(self, reference: Rows, labels: Indices, estimator: Estimator, tolerance: float) -> None:
        self._reference, self._labels, self._estimator = reference, labels, estimator
        self._settings = _slack(reference, estimator, tolerance), float(estimator.bandwidth)

    def __call__(self, pool: Floats) -> tuple[Array, Array]:
        """Return (error, log density) of each row of a pool."""
        few = self._reference.shape[1] <= FEW_CLASSES
        if not few and _share_computed(pool, self._reference, self._labels, self._settings) > DENSE_FROM:
            return dense_in_parts(pool, self._reference, self._labels, self._estimator)
        error, log_density = np.empty(len(pool)), np.empty(len(pool))
        score = self._score

        def work(where: slice, probs: Array) -> None:
            error[where], log_density[where] = score(probs)

        over_rows(pool, work)
        return error, log_density

    @cached_property
    def _score(self) -> Score:
        if self._reference.shape[1] <= FEW_CLASSES:
            return _few_classes(self._reference, self._labels, self._estimator, self._settings)
        return _by_rows(_many_classes(self._reference, self._labels, self._settings), self._estimator)


def _slack(reference: Rows, estimator: Estimator, tolerance: float) -> float:
    p = estimator.p
    return math.log(len(reference) * p * 1.01 ** (p - 1) / tolerance) + 1


def _few_classes(reference: Rows, labels: Indices, estimator: Estimator, settings: tuple[float, float]) -> Score:
    """Return the function that returns (error, log density) of a chunk of pool rows, float64."""
    tiles = pruned_few_classes.build(reference, labels, settings[1])

    def score(probs: Array) -> tuple[Array, Array]:
        order = pruned_few_classes.similar_rows(probs)
        q = np.ascontiguousarray(probs.take(order, axis=0).T)
        largest, mass = np.empty(len(probs)), np.empty(q.shape)
        pruned_few_classes.add_up(log_clamped(q), q, tiles, settings, (largest, mass))
        # one class after the other: numpy's own sum rounds differently if there is a single row
        log_density = largest + np.log(sum(mass, start=np.zeros(1)))
        error = sum(_differences(largest, mass, log_density, q, estimator), start=np.zeros(1))
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return error[back], log_density[back]

    return score


def _by_rows(add_up: Adder, estimator: Estimator) -> Score:
    """Return the function that returns (error, log density) of a chunk of pool rows, float64."""

    def score(probs: Array) -> tuple[Array, Array]:
        largest, mass = np.empty(len(probs)), np.empty(probs.shape)
        add_up(log_clamped(probs), probs, (largest, mass))
        log_density = largest + np.log(mass.sum(axis=1))
        return _differences(largest, mass.T, log_density, probs.T, estimator).sum(axis=0), log_density

    return score


def _differences(largest: Array, mass: Array, log_density: Array, q: Array, estimator: Estimator) -> Array:
    """Return |ratio_k - q_k|^p, (classes, rows)."""
    floor = estimator.density_floor
    log_floor = -np.inf if floor is None else math.log(floor)
    difference = np.abs(mass * np.exp(largest - np.maximum(log_density, log_floor)) - q)
    return difference if estimator.p == 1 else np.asarray(difference**estimator.p)


def _share_computed(pool: Floats, reference: Rows, labels: Indices, settings: tuple[float, float]) -> float:
    """Return the share of pairs that the pruned sum would compute in full, from a sample of both sets, evenly apart."""
    size = min(SAMPLE, len(pool) // 8)
    if size == 0:
        return 0.0
    probs = np.ascontiguousarray(pool[:: len(pool) // size][:size], dtype=np.float64)
    every = max(1, len(reference) // SAMPLE_LABELLED)
    add_up = _many_classes(_every(every, reference), labels[::every], settings)
    computed = add_up(log_clamped(probs), probs, (np.empty(size), np.empty(probs.shape)))
    return computed / (size * len(labels[::every]))


def _every(step: int, rows: Rows) -> Rows:
    """Return every n-th row, stored as all of them are: compiled code has one form for both."""
    if isinstance(rows, UnitRows):
        return UnitRows(np.ascontiguousarray(rows.rows[::step]), "labelled_probs")
    return np.ascontiguousarray(rows[::step])


def _many_classes(reference: Rows, labels: Indices, settings: tuple[float, float]) -> Adder:
    """Return the function that fills in (largest log k, mass by class in units of it) for a chunk of pool rows.

    It returns the number of kernels that it computed.
    """
    if isinstance(reference, UnitRows):
        stored, sums = reference.rows, reference.sums()
    else:
        stored, sums = reference, np.ones(len(labels))
    points = pruned_many_classes.build(reference, labels, sums, settings[1])
    # float16 is copied, because compiled code cannot read it; nothing else is
    rows = np.asarray(stored, dtype=np.float64 if stored.dtype == np.float64 else np.float32).view()
    rows.flags.writeable = False  # one compiled form for arrays and read-only memory maps
    return lambda log_q, q, into: pruned_many_classes.add_up(log_q, q, points, rows, settings, into)
