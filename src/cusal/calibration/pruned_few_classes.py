"""The kernel sum with few classes: the labelled points in tiles, only those visited whose bound reaches the cut.

Symbols as in `pruned`. A tile holds `TILE` labelled points with the same top class t and similar h_it. The log-sum
inequality on the two cells {t} and "the rest" gives, with R_i = sum_j h_ij - h_it and Q_t = sum_j q_j - q_t,

    log k_i <= a_i + (h_it log q_t + R_i log Q_t) / b,    a_i = c_i + (sum_{j != t} h_ij log h_ij - R_i log R_i) / b.

Writing R_i = H_i - h_it, this is linear in h_it and H_i, so over a tile it is largest at an end of their ranges:

    bound = max a_i + max_{h in {low, high}} h (log q_t - log Q_t) / b + max_{H in {light, heavy}} H log Q_t / b.

Pool rows are computed `LANES` at a time, side by side in vector instructions. They come with similar rows next to each
other, so that all rows of a group need nearly the same tiles; a tile is visited if one of them does. What a visited
point adds to a row depends on that row alone: below its own cut it adds nothing.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cusal._checks import Rows
from cusal._types import Indices
from cusal.calibration.compiled import over_rows
from cusal.calibration.numba_math import exp_below_zero, log_above, log_gamma_1p

TILE = 16
LANES = 64
FREE = {"contract", "reassoc", "nnan", "nsz"}  # rounding may differ; nothing here is NaN
Array = NDArray[np.float64]


class Tiles(NamedTuple):
    """The labelled points by top class, then by top probability; a class's last tile is filled up with c_i = -inf."""

    constant: Array  # (tiles * TILE,) c_i
    weight: Array  # (tiles * TILE, classes) h_i / b; a column of zeros more if the number of classes is odd
    labels: Indices  # (tiles * TILE,)
    first: Indices  # (classes + 1,) the first tile of each top class
    top: Indices  # (tiles,) t
    peak: Array  # (tiles,) max a_i
    low: Array  # (tiles,) min h_it / b
    high: Array
    light: Array  # (tiles,) min H_i / b
    heavy: Array


def build(reference: Rows, labels: Indices, bandwidth: float) -> Tiles:
    """Return the tiles of a reference (n, K) with its labels (n,); its rows are read twice."""
    count, classes = reference.shape
    top = np.empty(count, dtype=np.int64)
    constant, bound, at_top, total = (np.empty(count) for _ in range(4))

    def describe(where: slice, rows: Array) -> None:
        _describe(rows, bandwidth, top[where], (constant[where], bound[where], at_top[where], total[where]))

    over_rows(reference, describe)
    order = np.lexsort((at_top, top))
    sizes = np.bincount(top, minlength=classes)
    first = np.concatenate([[0], np.cumsum(-(-sizes // TILE))])
    place = np.empty(count, dtype=np.int64)  # of each point among those of all tiles
    place[order] = np.arange(count) + np.repeat(first[:-1] * TILE - (np.cumsum(sizes) - sizes), sizes)

    def spread(values: NDArray[Any], filler: float) -> NDArray[Any]:
        """Return the values in tile order, (tiles, TILE), with `filler` in the places without a point."""
        tiles = np.full(first[-1] * TILE, filler, dtype=values.dtype)
        tiles[place] = values
        return tiles.reshape(-1, TILE)

    weight = np.zeros((first[-1] * TILE, classes + classes % 2))

    def weigh(where: slice, rows: Array) -> None:
        weight[place[where], :classes] = rows / bandwidth

    over_rows(reference, weigh)
    return Tiles(
        constant=spread(constant, -np.inf).ravel(),
        weight=weight,
        labels=spread(labels, 0).ravel(),
        first=first,
        top=np.repeat(np.arange(classes), np.diff(first)),
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


def similar_rows(probs: Array) -> Indices:
    """Return the order in which rows with the same top class and a similar top probability are neighbours."""
    key = np.empty(len(probs), dtype=np.uint16)
    _top_key(probs, key)
    return np.argsort(key, kind="stable")


@njit(cache=True, nogil=True)
def _top_key(probs: Array, key: NDArray[np.uint16]) -> None:
    for r in range(len(probs)):
        t = 0
        for j in range(1, probs.shape[1]):
            if probs[r, j] > probs[r, t]:
                t = j
        key[r] = int(2000 * (t + probs[r, t] / 1.02))  # up to 32 classes, and a checked row holds nothing above 1.01


@njit(cache=True, nogil=True, fastmath=FREE)
def add_up(log_q: Array, q: Array, tiles: Tiles, settings: tuple[float, float], into: tuple[Array, Array]) -> None:
    """Fill in, for each column of q, the log of the largest kernel and the kernel mass by class in units of it."""
    slack, bandwidth = settings
    classes, rows = q.shape
    lanes = min(LANES, rows)
    log_here = np.zeros((classes + classes % 2, lanes))  # of one group, close together in memory
    away, log_rest = np.empty((classes, lanes)), np.empty((classes, lanes))
    values = np.empty((len(tiles.constant), lanes))
    visited = np.empty(len(tiles.peak), dtype=np.int64)
    for start in range(0, rows, lanes):
        begin = min(start, rows - lanes)
        end = begin + lanes
        _enter(log_q, q, begin, (log_here, away, log_rest))
        largest = into[0][begin:end]
        for r in range(lanes):
            largest[r] = -np.inf
        _visit(_nearest(q[:, begin + lanes // 2], tiles, bandwidth), log_here, tiles, values, largest)
        count = 0
        for tile in range(len(visited)):
            t = tiles.top[tile]
            if _reaches(tile, away[t], log_rest[t], tiles, largest, slack):
                _visit(tile, log_here, tiles, values[count * TILE :], largest)
                visited[count] = tile
                count += 1
        _collect(visited[:count], values, tiles, (slack, begin), into)


@njit(cache=True, nogil=True, fastmath=FREE)
def _enter(log_q: Array, q: Array, begin: int, into: tuple[Array, Array, Array]) -> None:
    """Copy log q of a group of rows; fill in log q_t - log Q_t and log Q_t for each class t."""
    classes, lanes = into[1].shape
    total = np.zeros(lanes)
    for j in range(classes):
        one, log_one, log_here = q[j, begin : begin + lanes], log_q[j, begin : begin + lanes], into[0][j]
        for r in range(lanes):
            total[r] += one[r]
            log_here[r] = log_one[r]
    for j in range(classes):
        one, log_here, away, log_rest = q[j, begin : begin + lanes], into[0][j], into[1][j], into[2][j]
        for r in range(lanes):
            # sums in another order may differ by K units in the last place, and the bound must hold
            log_rest[r] = log_above(max(total[r] - one[r], 0.0) + 1e-14)
            away[r] = log_here[r] - log_rest[r]


@njit(cache=True, nogil=True)
def _nearest(q: Array, tiles: Tiles, bandwidth: float) -> int:
    """Return the tile nearest to a row in top class, of those that have tiles, and top probability."""
    own = -1
    for j in range(len(q)):
        if tiles.first[j] < tiles.first[j + 1] and (own < 0 or q[j] > q[own]):
            own = j
    tile = tiles.first[own]
    while tile + 1 < tiles.first[own + 1] and tiles.low[tile + 1] <= q[own] / bandwidth:
        tile += 1
    return int(tile)


@njit(cache=True, nogil=True, fastmath=FREE)
def _reaches(tile: int, away: Array, log_rest: Array, tiles: Tiles, largest: Array, slack: float) -> bool:
    """Return whether the tile's bound reaches the cut of at least one row."""
    low, high, light, heavy = tiles.low[tile], tiles.high[tile], tiles.light[tile], tiles.heavy[tile]
    above = tiles.peak[tile] + slack
    count = 0  # of the rows whose cut it reaches: the compiler turns a count, not a maximum, into vector instructions
    for r in range(len(largest)):
        bound = max(low * away[r], high * away[r]) + max(light * log_rest[r], heavy * log_rest[r])
        count += above + bound >= largest[r]
    return count > 0


@njit(cache=True, nogil=True, fastmath=FREE)
def _visit(tile: int, log_q: Array, tiles: Tiles, values: Array, largest: Array) -> None:
    """Fill in log k of the points in the tile for each row, and raise its largest."""
    for i in range(TILE):
        point = tile * TILE + i
        constant, weight, into = tiles.constant[point], tiles.weight[point], values[i]
        for r in range(len(largest)):
            into[r] = constant
        for j in range(0, len(log_q), 2):
            one, other, log_one, log_other = weight[j], weight[j + 1], log_q[j], log_q[j + 1]
            for r in range(len(largest)):
                into[r] += one * log_one[r] + other * log_other[r]
        for r in range(len(largest)):
            largest[r] = max(largest[r], into[r])


@njit(cache=True, nogil=True, fastmath=FREE)
def _collect(
    visited: Indices, values: Array, tiles: Tiles, settings: tuple[float, int], into: tuple[Array, Array]
) -> None:
    """Fill in the mass by class from the log kernels of the visited tiles."""
    slack, begin = settings
    end = begin + values.shape[1]
    largest = into[0][begin:end]
    for j in range(len(into[1])):
        mass = into[1][j, begin:end]
        for r in range(len(largest)):
            mass[r] = 0.0
    for s in range(len(visited)):
        for i in range(TILE):
            log_k, mass = values[s * TILE + i], into[1][tiles.labels[visited[s] * TILE + i], begin:end]
            for r in range(len(largest)):
                below = log_k[r] - largest[r]
                mass[r] += exp_below_zero(below) * (below >= -slack)
