"""The kernel sum with many classes: three bounds, each finer and more costly, before a product over all classes.

Symbols as in `pruned`. For any set P of classes, the log-sum inequality on the classes of P, each by itself, and the
rest in one cell gives, with R_i the mass of h_i outside P and the mass of q outside P bounded by sum q,

    log k_i <= a_i(P) + sum_{j in P} h_ij log q_j / b + R_i log(sum q) / b,
    a_i(P) = c_i + (sum_{j not in P} h_ij log h_ij - R_i log R_i) / b.

1. P = {t}, the top class of h_i, over a block of points with that top class and similar h_it: max a_i and min h_it;
2. P = {t} for each such point; 3. P = its `FEW` largest classes. What still reaches the cut is computed in full.

The cut is relative to the largest log k met so far, so the blocks of q's two largest classes come first: the nearest
point is mostly there, and it raises the cut for all others.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cusal._checks import Rows
from cusal._types import Floats, Indices
from cusal.calibration.compiled import over_rows
from cusal.calibration.numba_math import PER_UNIT, log_above, log_gamma_1p, log_gamma_1p_small

FEW = 8
BLOCK = 16
Array = NDArray[np.float64]


class Points(NamedTuple):
    """The labelled points in blocks by top class and top weight; a class's last is filled up with a_i = -inf."""

    order: Indices  # (blocks * BLOCK,) position of each in the reference
    labels: Indices
    constant: Array  # c_i
    scale: Array  # b, times the sum of the stored row that h_i is a fraction of
    top_offset: Array  # a_i({t})
    top_weight: Array  # h_it / b
    offset: Array  # a_i of the FEW largest
    weight: Array  # (blocks * BLOCK, FEW) h_ij / b, the largest first
    classes: NDArray[np.int32]  # (blocks * BLOCK, FEW)
    first: Indices  # (classes + 1,) the first block of each top class
    top: Indices  # (blocks,) t
    peak: Array  # (blocks,) max a_i({t})
    low: Array  # (blocks,) min h_it / b


def build(reference: Rows, labels: Indices, sums: Array, bandwidth: float) -> Points:
    """Return the points of a reference (n, K) with its labels (n,) and the sums (n,) of its rows as they are stored."""
    count, classes = reference.shape
    constant, top_offset, offset = (np.empty(count) for _ in range(3))
    weight, chosen = np.empty((count, FEW)), np.empty((count, FEW), dtype=np.int32)

    def describe(where: slice, chunk: Array) -> None:
        by_point = (constant, top_offset, offset, weight)
        _describe(chunk, bandwidth, chosen[where], tuple(part[where] for part in by_point))

    over_rows(reference, describe)
    sizes = np.bincount(chosen[:, 0], minlength=classes)
    blocks = -(-sizes // BLOCK)
    first = np.concatenate([[0], np.cumsum(blocks)])
    order = np.lexsort((weight[:, 0], chosen[:, 0]))
    # a block's empty places repeat its class's last point
    place = np.arange(first[-1] * BLOCK) - np.repeat(first[:-1] * BLOCK, blocks * BLOCK)
    size = np.repeat(sizes, blocks * BLOCK)
    order = order[np.repeat(np.cumsum(sizes) - sizes, blocks * BLOCK) + np.minimum(place, size - 1)]
    empty = place >= size
    top_offset, offset = top_offset[order], offset[order]
    top_offset[empty] = offset[empty] = -np.inf
    return Points(
        order=order,
        labels=labels[order],
        constant=constant[order],
        scale=bandwidth * sums[order],
        top_offset=top_offset,
        top_weight=weight[order, 0],
        offset=offset,
        weight=weight[order],
        classes=chosen[order],
        first=first,
        top=np.repeat(np.arange(classes), blocks),
        peak=top_offset.reshape(-1, BLOCK).max(axis=1),
        low=weight[order, 0].reshape(-1, BLOCK).min(axis=1),
    )


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
) -> int:
    """Fill in, for each pool row, the log of the largest kernel and the kernel mass by class in units of it.

    Return the number of kernels that were computed in full.
    """
    slack, bandwidth = settings
    largest_of, mass_of = into
    near = np.empty(len(points.order), dtype=np.int64)
    value = np.empty(len(points.order))
    bound = np.empty(len(points.peak))
    computed = 0
    for r in range(len(log_q)):
        # the bounds take log(sum q) and, over a block, log q_t for at most zero; where they are not, this is missing,
        # since log q_t <= log(sum q) and h_i sums to less than 1.02
        reach = slack + 1.02 * max(0.0, math.log(probs[r].sum() + 1e-12)) / bandwidth
        for s in range(len(bound)):
            bound[s] = points.peak[s] + points.low[s] * log_q[r, points.top[s]]
        own, second = _two_largest(probs[r])
        if points.first[own] == points.first[own + 1]:  # nobody's top class
            own = points.top[np.argmax(bound)]
        largest, count = -np.inf, 0
        for turn in range(3):  # the points around q's two largest classes raise the cut for all others
            t = own if turn == 0 else second
            blocks = (points.first[t], points.first[t + 1]) if turn < 2 else (0, len(bound))
            end, best = _near(blocks, log_q[r], points, largest - reach, (bound, near, value), count)
            if end > count:
                largest = max(largest, _log_kernel(near[best], log_q[r], points, rows))
            for s in range(count, end):
                if value[s] >= largest - reach:
                    near[count], value[count] = near[s], _log_kernel(near[s], log_q[r], points, rows)
                    largest = max(largest, value[count])
                    count += 1
        computed += count
        mass_of[r] = 0.0
        for s in range(count):
            mass_of[r, points.labels[near[s]]] += math.exp(value[s] - largest)
        largest_of[r] = largest
    return computed


@njit(cache=True, nogil=True)
def _two_largest(q: Array) -> tuple[int, int]:
    own, second = 0, 0
    for j in range(1, len(q)):
        if q[j] > q[own]:
            own, second = j, own
        elif q[j] > q[second] or second == own:
            second = j
    return own, second


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _near(
    blocks: tuple[int, int],
    log_q: Array,
    points: Points,
    cut: float,
    into: tuple[Array, Indices, Array],
    end: int,
) -> tuple[int, int]:
    """Append the points whose bounds all reach the cut, with their finest bound; return the new end and the best."""
    bound, near, value = into
    best = end
    for s in range(blocks[0], blocks[1]):
        if bound[s] < cut or bound[s] == -np.inf:
            continue
        bound[s] = -np.inf  # visited once
        at = log_q[points.top[s]]
        for i in range(s * BLOCK, (s + 1) * BLOCK):
            if points.top_offset[i] + points.top_weight[i] * at < cut:
                continue
            few = _few_largest(i, log_q, points)
            if few >= cut and few > -np.inf:
                near[end], value[end] = i, few
                if few > value[best]:
                    best = end
                end += 1
    return end, best


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _few_largest(i: int, log_q: Array, points: Points) -> float:
    bound: float = points.offset[i]
    for s in range(FEW):
        bound += points.weight[i, s] * log_q[points.classes[i, s]]
    return bound


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _log_kernel(i: int, log_q: Array, points: Points, rows: Floats) -> float:
    row = rows[points.order[i]]
    product = 0.0
    for j in range(len(log_q)):
        product += row[j] * log_q[j]
    return float(points.constant[i] + product / points.scale[i])
