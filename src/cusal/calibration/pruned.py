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

| symbol | name |
|---|---|
| q, h_i, y_i, b | `pool`, `reference`, `labels`, `bandwidth` |
| c_i, h_i / b | `constant`, `weight` |
| M, A_k exp(-M) | `largest`, `mass` |
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.calibration import pruned_few_classes, pruned_many_classes
from cusal.calibration.chunks import over_rows
from cusal.calibration.estimator import Estimator
from cusal.calibration.kernel import log_clamped

FEW_CLASSES = 32  # up to this many, a product over all classes costs no more than a finer bound
Array = NDArray[np.float64]


def pointwise(
    pool: Floats,
    reference: Floats,
    labels: Indices,
    estimator: Estimator,
    *,
    tolerance: float,
) -> tuple[Array, Array]:
    """Return (error, log density), each (m,) and within `tolerance` of the dense sum up to its rounding."""
    score = scorer(reference, labels, estimator, tolerance=tolerance)
    error, log_density = np.empty(len(pool)), np.empty(len(pool))

    def work(where: slice, probs: Array) -> None:
        error[where], log_density[where] = score(probs)

    over_rows(pool, work)
    return error, log_density


def scorer(
    reference: Floats, labels: Indices, estimator: Estimator, *, tolerance: float
) -> Callable[[Array], tuple[Array, Array]]:
    """Return the function that returns (error, log density) of a chunk of pool rows, float64."""
    p, floor = estimator.p, estimator.density_floor
    slack = math.log(len(reference) * p * 1.01 ** (p - 1) / tolerance) + 1
    log_floor = -np.inf if floor is None else math.log(floor)
    add_up = _adder(reference, labels, bandwidth=estimator.bandwidth, slack=slack)

    def score(probs: Array) -> tuple[Array, Array]:
        largest, mass = np.empty(len(probs)), np.empty(probs.shape)
        add_up(log_clamped(probs), probs, (largest, mass))
        log_density = largest + np.log(mass.sum(axis=1))
        ratio = mass * np.exp(largest - np.maximum(log_density, log_floor))[:, None]
        difference = np.abs(ratio - probs)
        return (difference if p == 1 else difference**p).sum(axis=1), log_density

    return score


def _adder(
    reference: Floats, labels: Indices, *, bandwidth: float, slack: float
) -> Callable[[Array, Array, tuple[Array, Array]], None]:
    """Return the function that fills in (largest log k, mass by class in units of it) for a chunk of pool rows."""
    if reference.shape[1] <= FEW_CLASSES:
        tiles = pruned_few_classes.build(reference, labels, bandwidth)
        return lambda log_q, q, into: pruned_few_classes.add_up(log_q, q, tiles, (slack, bandwidth), into)
    points = pruned_many_classes.build(reference, labels, bandwidth)
    # float16 is copied, because compiled code cannot read it; nothing else is
    rows = np.asarray(reference, dtype=np.float64 if reference.dtype == np.float64 else np.float32).view()
    rows.flags.writeable = False  # one compiled form for arrays and read-only memory maps
    return lambda log_q, q, into: pruned_many_classes.add_up(log_q, q, points, rows, (slack, bandwidth), into)
