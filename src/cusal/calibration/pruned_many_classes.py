"""The kernel sum with many classes: three bounds, each finer and more costly, before a product over all classes.

Symbols as in `pruned`. For any set P of classes, the log-sum inequality on the classes of P, each by itself, and the
rest in one cell gives, with R_i the mass of h_i outside P and the mass of q outside P bounded by sum q,

    log k_i <= a_i(P) + sum_{j in P} h_ij log q_j / b + R_i log(sum q) / b,
    a_i(P) = c_i + (sum_{j not in P} h_ij log h_ij - R_i log R_i) / b.

1. P = {t}, the top class of h_i, over all points with that top class at once: max a_i and min h_it;
2. P = {t} for each such point; 3. P = its `FEW` largest classes. What still reaches the cut is computed in full.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.calibration.chunks import over_rows
from cusal.calibration.numba_math import PER_UNIT, log_above, log_gamma_1p, log_gamma_1p_small

FEW = 8
Array = NDArray[np.float64]


class Points(NamedTuple):
    """The labelled points, sorted by top class."""

    order: Indices  # (n,) position of each in the reference
    labels: Indices  # (n,)
    constant: Array  # (n,) c_i
    first: Indices  # (classes + 1,) the first point of each top class
    peak: Array  # (classes,) max a_i({t}); -inf for a class that is nobody's top
    low: Array  # (classes,) min h_it / b
    high: Array
    top_offset: Array  # (n,) a_i({t})
    offset: Array  # (n,) a_i of the FEW largest
    weight: Array  # (n, FEW) h_ij / b, the largest first
    classes: NDArray[np.int32]  # (n, FEW)


def build(reference: Floats, labels: Indices, bandwidth: float) -> Points:
    """Return the points of a reference (n, K) with its labels (n,); each row is read once."""
    count, classes = reference.shape
    points = Points(
        order=np.arange(count),
        labels=labels,
        constant=np.empty(count),
        first=np.zeros(classes + 1, dtype=np.int64),
        peak=np.full(classes, -np.inf),
        low=np.full(classes, np.inf),
        high=np.full(classes, -np.inf),
        top_offset=np.empty(count),
        offset=np.empty(count),
        weight=np.empty((count, FEW)),
        classes=np.empty((count, FEW), dtype=np.int32),
    )

    def describe(where: slice, chunk: Array) -> None:
        by_point = (points.constant, points.top_offset, points.offset, points.weight)
        _describe(chunk, bandwidth, points.classes[where], tuple(part[where] for part in by_point))

    over_rows(reference, describe)
    top = points.classes[:, 0]
    np.cumsum(np.bincount(top, minlength=classes), out=points.first[1:])
    np.maximum.at(points.peak, top, points.top_offset)
    np.minimum.at(points.low, top, points.weight[:, 0])
    np.maximum.at(points.high, top, points.weight[:, 0])
    order = np.argsort(top, kind="stable")
    names = ("order", "labels", "constant", "top_offset", "offset", "weight", "classes")
    return points._replace(**{name: getattr(points, name)[order] for name in names})


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _describe(
    rows: Array, bandwidth: float, chosen: NDArray[np.int32], into: tuple[Array, Array, Array, Array]
) -> None:
    """Fill in c_i, both offsets, the largest classes and their weights for a chunk of labelled points."""
    constant, top_offset, offset, weight = into
    classes = rows.shape[1]
    common = math.lgamma(1.0 / bandwidth + classes)
    small = bandwidth / PER_UNIT
    for i in range(len(rows)):
        row = rows[i]
        gammas, logs, total = 0.0, 0.0, 0.0
        for j in range(classes):
            total += row[j]
            logs += row[j] * log_above(row[j])  # at most 0.01 above in log k: the bounds stay bounds
            gammas += log_gamma_1p_small(row[j] / bandwidth) if row[j] < small else 0.0
        weight[i] = -1.0
        for j in range(classes):
            h = row[j]
            if h >= small:
                gammas += log_gamma_1p(h / bandwidth)
            if h > weight[i, FEW - 1]:
                s = FEW - 1
                while s > 0 and weight[i, s - 1] < h:
                    weight[i, s], chosen[i, s] = weight[i, s - 1], chosen[i, s - 1]
                    s -= 1
                weight[i, s], chosen[i, s] = h, j
        constant[i] = common - gammas
        for s in range(FEW):
            h = weight[i, s]
            logs -= h * math.log(h) if h > 0.0 else 0.0
            total -= h
            rest = max(total, 0.0) + 1e-15  # the log stays finite
            offset[i] = constant[i] + (logs - rest * math.log(rest)) / bandwidth
            if s == 0:
                top_offset[i] = offset[i]
            weight[i, s] = h / bandwidth


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def add_up(
    log_q: Array, probs: Array, points: Points, rows: Floats, settings: tuple[float, float], into: tuple[Array, Array]
) -> None:
    """Fill in, for each pool row, the log of the largest kernel and the kernel mass by class in units of it."""
    slack, bandwidth = settings
    largest_of, mass_of = into
    near = np.empty(len(points.order), dtype=np.int64)
    value = np.empty(len(points.order))
    for r in range(len(log_q)):
        # the bounds leave out R_i log(sum q) / b, above zero where the pool row sums to more than one; R_i < 1.02
        reach = slack + 1.02 * max(0.0, math.log(probs[r].sum() + 1e-12)) / bandwidth
        own = np.argmax(probs[r])
        largest = -np.inf
        best, best_bound = -1, -np.inf
        for i in range(points.first[own], points.first[own + 1]):
            bound = _few_largest(i, log_q[r], points)
            if bound > best_bound:
                best, best_bound = i, bound
        if best >= 0:
            largest = _log_kernel(best, log_q[r], points, rows, bandwidth)
        count, best = _near(log_q[r], points, largest - reach, near, value)
        largest = max(largest, _log_kernel(near[best], log_q[r], points, rows, bandwidth))
        kept = 0
        for s in range(count):
            if value[s] >= largest - reach:
                exact = _log_kernel(near[s], log_q[r], points, rows, bandwidth)
                largest = max(largest, exact)
                near[kept], value[kept] = near[s], exact
                kept += 1
        mass_of[r] = 0.0
        for s in range(kept):
            mass_of[r, points.labels[near[s]]] += math.exp(value[s] - largest)
        largest_of[r] = largest


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _near(log_q: Array, points: Points, cut: float, near: Indices, value: Array) -> tuple[int, int]:
    """Fill in the points whose bounds all reach the cut, and their finest bound; return their number and the best."""
    count, best = 0, 0
    for t in range(len(log_q)):
        at = log_q[t]
        if points.peak[t] + max(points.low[t] * at, points.high[t] * at) < cut:
            continue
        for i in range(points.first[t], points.first[t + 1]):
            if points.top_offset[i] + points.weight[i, 0] * at >= cut:
                bound = _few_largest(i, log_q, points)
                if bound >= cut:
                    near[count], value[count] = i, bound
                    if bound > value[best]:
                        best = count
                    count += 1
    return count, best


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _few_largest(i: int, log_q: Array, points: Points) -> float:
    bound: float = points.offset[i]
    for s in range(FEW):
        bound += points.weight[i, s] * log_q[points.classes[i, s]]
    return bound


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _log_kernel(i: int, log_q: Array, points: Points, rows: Floats, bandwidth: float) -> float:
    row = rows[points.order[i]]
    product = 0.0
    for j in range(len(log_q)):
        product += row[j] * log_q[j]
    return float(points.constant[i] + product / bandwidth)
