"""The kernel sum with few classes: the labelled points in tiles, only those visited whose bound reaches the cut.

Symbols as in `pruned`. A tile holds `LANES` labelled points with the same top class t and similar h_it. The log-sum
inequality on the two cells {t} and "the rest" gives, with R_i = sum_j h_ij - h_it and Q_t = sum_j q_j - q_t,

    log k_i <= a_i + (h_it log q_t + R_i log Q_t) / b,    a_i = c_i + (sum_{j != t} h_ij log h_ij - R_i log R_i) / b.

Writing R_i = H_i - h_it, this is linear in h_it and H_i, so over a tile it is largest at an end of their ranges:

    bound = max a_i + max_{h in {low, high}} h (log q_t - log Q_t) / b + max_{H in {light, heavy}} H log Q_t / b.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.calibration.chunks import over_rows
from cusal.calibration.numba_math import exp_below_zero, log_gamma_1p

LANES = 16
FREE = {"contract", "reassoc", "nnan", "nsz"}  # rounding may differ; nothing here is NaN
Array = NDArray[np.float64]


class Tiles(NamedTuple):
    """The labelled points by top class, then by top probability; a class's last tile is filled up with c_i = -inf."""

    constant: Array  # (tiles * LANES,) c_i
    weight: Array  # (classes, tiles * LANES) h_i / b; a row of zeros more if the number of classes is odd
    labels: Indices  # (tiles * LANES,)
    label: Indices  # (tiles,) the one label of the tile's points, or -1
    first: Indices  # (classes + 1,) the first tile of each top class
    peak: Array  # (tiles,) max a_i
    low: Array  # (tiles,) min h_it / b
    high: Array
    light: Array  # (tiles,) min H_i / b
    heavy: Array


def build(reference: Floats, labels: Indices, bandwidth: float) -> Tiles:
    """Return the tiles of a reference (n, K) with its labels (n,); its rows are read twice."""
    count, classes = reference.shape
    top = np.empty(count, dtype=np.int64)
    constant, bound, at_top, total = (np.empty(count) for _ in range(4))

    def describe(where: slice, rows: Array) -> None:
        _describe(rows, bandwidth, top[where], (constant[where], bound[where], at_top[where], total[where]))

    over_rows(reference, describe)
    order = np.lexsort((at_top, top))
    sizes = np.bincount(top, minlength=classes)
    first = np.concatenate([[0], np.cumsum(-(-sizes // LANES))])
    place = np.empty(count, dtype=np.int64)  # of each point among the lanes of all tiles
    place[order] = np.arange(count) + np.repeat(first[:-1] * LANES - (np.cumsum(sizes) - sizes), sizes)

    def spread(values: NDArray[Any], filler: float) -> NDArray[Any]:
        """Return the values in tile order, (tiles, LANES), with `filler` in the places without a point."""
        lanes = np.full(first[-1] * LANES, filler, dtype=values.dtype)
        lanes[place] = values
        return lanes.reshape(-1, LANES)

    weight = np.zeros((classes + classes % 2, first[-1] * LANES))

    def weigh(where: slice, rows: Array) -> None:
        weight[:classes, place[where]] = rows.T / bandwidth

    over_rows(reference, weigh)
    by_tile = spread(labels, -1)
    same = (by_tile == by_tile[:, :1]) | (by_tile == -1)
    return Tiles(
        constant=spread(constant, -np.inf).ravel(),
        weight=weight,
        labels=np.maximum(by_tile, 0).ravel(),
        label=np.where(same.all(axis=1), by_tile[:, 0], -1),
        first=first,
        peak=spread(bound, -np.inf).max(axis=1),
        low=spread(at_top, np.inf).min(axis=1),
        high=spread(at_top, -np.inf).max(axis=1),
        light=spread(total, np.inf).min(axis=1),
        heavy=spread(total, -np.inf).max(axis=1),
    )


@njit(cache=True, nogil=True)
def _describe(rows: Array, bandwidth: float, top: Indices, into: tuple[Array, Array, Array, Array]) -> None:
    """Fill in the top class t, c_i, a_i, h_it / b and H_i / b of a chunk of labelled points."""
    constant, bound, at_top, total = into
    classes = rows.shape[1]
    common = math.lgamma(1.0 / bandwidth + classes)
    for i in range(len(rows)):
        top[i] = np.argmax(rows[i])
        gammas, logs, rest = 0.0, 0.0, 0.0
        for j in range(classes):
            h = rows[i, j]
            gammas += log_gamma_1p(h / bandwidth)
            if j != top[i] and h > 0.0:
                logs += h * math.log(h)
                rest += h
        constant[i] = common - gammas
        bound[i] = constant[i] + ((logs - rest * math.log(rest)) / bandwidth if rest > 0.0 else 0.0)
        at_top[i] = rows[i, top[i]] / bandwidth
        total[i] = (rows[i, top[i]] + rest) / bandwidth


@njit(cache=True, nogil=True, fastmath=FREE)
def add_up(log_q: Array, probs: Array, tiles: Tiles, settings: tuple[float, float], into: tuple[Array, Array]) -> int:
    """Fill in, for each pool row, the log of the largest kernel and the kernel mass by class in units of it.

    Return the number of kernels that were computed.
    """
    slack, bandwidth = settings
    largest_of, mass_of = into
    bound = np.empty(len(tiles.peak))
    values = np.empty(len(tiles.constant))
    visited = np.empty(len(bound), dtype=np.int64)
    computed = 0
    for r in range(len(log_q)):
        start = bound_tiles(log_q[r], probs[r], tiles, bandwidth, bound)
        largest = visit(start, start + 1, log_q[r], tiles, values)
        count, tile = 0, 0
        while tile < len(bound):
            end = tile
            while end < len(bound) and bound[end] >= largest - slack:
                visited[count + end - tile] = end
                end += 1
            if end > tile:
                largest = max(largest, visit(tile, end, log_q[r], tiles, values[count * LANES :]))
                count += end - tile
            tile = end + 1
        computed += count * LANES
        for i in range(count * LANES):
            values[i] = exp_below_zero(values[i] - largest)
        mass_of[r] = 0.0
        for s in range(count):
            label = tiles.label[visited[s]]
            if label >= 0:
                mass_of[r, label] += values[s * LANES : (s + 1) * LANES].sum()
            else:
                for i in range(LANES):
                    mass_of[r, tiles.labels[visited[s] * LANES + i]] += values[s * LANES + i]
        largest_of[r] = largest
    return computed


@njit(cache=True, nogil=True, fastmath=FREE)
def bound_tiles(log_q: Array, q: Array, tiles: Tiles, bandwidth: float, bound: Array) -> int:
    """Fill in the bound of each tile; return the one whose top class and probability are nearest to the pool row's."""
    mass = q.sum()
    for t in range(len(q)):
        # sums in another order may differ by K units in the last place, and the bound must hold
        log_rest = math.log(max(mass - q[t], 0.0) + 1e-14)
        away = log_q[t] - log_rest
        start, stop = tiles.first[t], tiles.first[t + 1]
        here, peak = bound[start:stop], tiles.peak[start:stop]
        at_top = tiles.low[start:stop] if away < 0.0 else tiles.high[start:stop]
        total = tiles.light[start:stop] if log_rest < 0.0 else tiles.heavy[start:stop]
        for i in range(stop - start):
            here[i] = peak[i] + at_top[i] * away + total[i] * log_rest
    own = np.argmax(q)
    start, stop = tiles.first[own], tiles.first[own + 1]
    if start == stop:
        return int(np.argmax(bound))
    return int(max(start, start + np.searchsorted(tiles.low[start:stop], q[own] / bandwidth, side="right") - 1))


@njit(cache=True, nogil=True, fastmath=FREE)
def visit(start: int, stop: int, log_q: Array, tiles: Tiles, values: Array) -> float:
    """Fill in log k of the points in the tiles from start to stop, and return the largest."""
    begin, end = start * LANES, stop * LANES
    size = end - begin
    values, constant = values[:size], tiles.constant[begin:end]
    for i in range(size):  # a copy by slices would take seconds to compile
        values[i] = constant[i]
    for j in range(0, len(tiles.weight), 2):
        one, other = tiles.weight[j, begin:end], tiles.weight[j + 1, begin:end]
        log_one = log_q[j]
        log_other = log_q[j + 1] if j + 1 < len(log_q) else 0.0
        for i in range(size):
            values[i] += one[i] * log_one + other[i] * log_other
    largest = -np.inf
    for i in range(size):
        if values[i] > largest:
            largest = values[i]
    return largest
