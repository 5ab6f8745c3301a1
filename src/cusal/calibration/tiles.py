"""The labelled points, sorted into tiles of similar predictions, each with an upper bound of its kernels.

Symbols as in `fast`: labelled point h_i, pool point q, bandwidth b, c_i the kernel's constant. A tile holds `LANES` points that
are neighbours in a tree over the simplex and `width` classes P: all classes if there are at most `WHOLE`, else those
with most mass in the tile. The log-sum inequality, applied to the classes outside P as one cell, gives for each point

    log k_i(q) <= a_i + sum_{j in P} (h_ij / b) log q_j,    a_i = c_i + (sum_{j not in P} h_ij log h_ij - R_i log R_i) / b,

R_i the mass of h_i outside P and q with sum <= 1; with all classes in P it is log k_i(q) itself. For the whole tile, with any
anchor r and lo <= h <= hi over its points,

    log k_i(q) <= peak + sum_j max(lo_j (log q_j - r_j), hi_j (log q_j - r_j)) / b,    peak = max_i a_i + <h_i, r> / b.

| symbol | name |
|---|---|
| a_i, h_ij / b | `offset`, `weight` |
| lo / b, hi / b, r, peak | `low`, `high`, `anchor`, `peak` |
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numba
import numpy as np
from numba import njit
from numpy.typing import NDArray

from cusal.checks import Floats, Indices

LANES = 16  # points of a tile: four AVX2 registers of float64
WHOLE = 32  # up to so many classes a tile holds all of them
FEW = 16  # else so many
CHUNK_BYTES = 2 << 20

Array = NDArray[np.float64]


class Tiles(NamedTuple):
    """The labelled points in tile order; the last tile is filled up with points of offset -inf."""

    order: Indices  # (points,) position of each point in the reference
    labels: Indices  # (points,)
    constant: Array  # (points,) c_i
    offset: Array  # (tiles, LANES)
    weight: Array  # (tiles, width, LANES)
    classes: Indices  # (width, tiles); no rows if each tile holds all classes
    low: Array  # (width, tiles)
    high: Array  # (width, tiles)
    anchor: Array  # (width, tiles)
    peak: Array  # (tiles,)


def build(reference: Floats, labels: Indices, bandwidth: float) -> Tiles:
    """Give the tiles of a reference (n, K) with its labels (n,); the rows are read twice, chunk by chunk."""
    count, classes = reference.shape
    constant, entropy = np.empty(count), np.empty(count)
    cells = np.zeros((count, min(classes, WHOLE)))

    def describe(start: int, stop: int) -> None:
        rows = as_rows(reference[start:stop])
        _describe(rows, bandwidth, constant[start:stop], entropy[start:stop], cells[start:stop])

    in_chunks(describe, count, CHUNK_BYTES // (8 * classes))
    order = np.arange(count)
    _sort(cells, order, bandwidth / 8)

    number = -(-count // LANES)
    width = classes if classes <= WHOLE else FEW
    filled = Tiles(
        order=order,
        labels=labels[order],
        constant=constant[order],
        offset=np.full((number, LANES), -np.inf),
        weight=np.zeros((number, width + width % 2, LANES)),
        classes=np.empty((0 if classes <= WHOLE else width, number), dtype=np.int64),
        low=np.empty((width, number)),
        high=np.empty((width, number)),
        anchor=np.empty((width, number)),
        peak=np.empty(number),
    )

    def fill(start: int, stop: int) -> None:
        points = order[start * LANES : stop * LANES]
        _fill(as_rows(reference[points]), entropy[points], bandwidth, start, filled)

    in_chunks(fill, number, CHUNK_BYTES // (8 * classes * LANES))
    return filled


def as_rows(rows: Floats) -> Array:
    """Give a chunk of rows in the one form that the compiled code takes."""
    return np.ascontiguousarray(rows, dtype=np.float64)


def in_chunks(work: Callable[[int, int], None], count: int, step: int) -> None:
    """Call `work(start, stop)` for consecutive chunks of `range(count)`, on as many threads as numba may use."""
    # Threads, not numba's own: they can be started from any thread and after a fork, and read the next rows of a
    # memory-mapped pool while others compute.
    threads = numba.config.NUMBA_NUM_THREADS
    step = max(1, min(step, -(-count // (4 * threads))))
    starts = range(0, count, step)
    if threads == 1 or len(starts) == 1:
        for start in starts:
            work(start, min(start + step, count))
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, start, min(start + step, count)) for start in starts]:
            done.result()


@njit(cache=True, nogil=True)
def _log_gamma_1p(x: float) -> float:
    """lgamma(1 + x), x >= 0; most classes of a prediction are nearly zero, where the power series is exact and cheap."""
    if x > 0.01:
        return math.lgamma(1.0 + x)
    # (-1)^k zeta(k) / k, with Euler's constant for k = 1; the next term is below 2e-17
    tail = x * (-0.2073855510286740 + x * (0.1695571769974082 + x * -0.1440498967688461))
    tail = x * (-0.4006856343865314 + x * (0.2705808084277845 + tail))
    return x * (-0.5772156649015329 + x * (0.8224670334241132 + tail))


@njit(cache=True, nogil=True)
def _describe(rows: Array, bandwidth: float, constant: Array, entropy: Array, cells: Array) -> None:
    """Fill in c_i, sum_j h_ij log h_ij and the masses by which the points are sorted (classes j, j + WHOLE, ...)."""
    classes = rows.shape[1]
    top = math.lgamma(1.0 / bandwidth + classes)
    # leaving out tiny classes raises the sum, and so the bound, by less than 0.05 b
    tiny = 1e-3 * bandwidth / classes
    for i in range(len(rows)):
        gammas = 0.0
        logs = 0.0
        for j in range(classes):
            h = rows[i, j]
            gammas += _log_gamma_1p(h / bandwidth)
            if h > tiny:
                logs += h * math.log(h)
            cells[i, j % cells.shape[1]] += h
        constant[i] = top - gammas
        entropy[i] = logs


@njit(cache=True, nogil=True)
def _sort(cells: Array, order: Indices, narrow: float) -> None:
    """Sort `order` in place so that neighbours are alike: halve the widest cell's range until a tile is left."""
    stack = [(0, len(order))]
    while len(stack) > 0:
        start, stop = stack.pop()
        if stop - start <= LANES:
            continue
        widest, middle, width = 0, 0.0, 0.0
        for j in range(cells.shape[1]):
            low = high = cells[order[start], j]
            for s in range(start + 1, stop):
                low = min(low, cells[order[s], j])
                high = max(high, cells[order[s], j])
            if high - low > width:
                widest, middle, width = j, 0.5 * (low + high), high - low
        if width < narrow:
            continue
        left, right = start, stop - 1
        while left <= right:
            if cells[order[left], widest] < middle:
                left += 1
            else:
                order[left], order[right] = order[right], order[left]
                right -= 1
        if left > start and left < stop:
            stack.append((start, left))
            stack.append((left, stop))


@njit(cache=True, nogil=True)
def _fill(rows: Array, entropy: Array, bandwidth: float, first: int, tiles: Tiles) -> None:
    """Fill in the tiles from `first` on; rows and entropy are of their points, in tile order."""
    classes = rows.shape[1]
    width = len(tiles.low)
    chosen = np.arange(width)
    for start in range(0, len(rows), LANES):
        tile = first + start // LANES
        size = min(LANES, len(rows) - start)
        if width < classes:
            mass = np.zeros(classes)
            for i in range(start, start + size):
                for j in range(classes):
                    mass[j] += rows[i, j]
            for w in range(width):
                chosen[w] = np.argmax(mass)
                mass[chosen[w]] = -1.0
                tiles.classes[w, tile] = chosen[w]
        for w in range(width):
            column = rows[start : start + size, chosen[w]]
            tiles.low[w, tile] = column.min() / bandwidth
            tiles.high[w, tile] = column.max() / bandwidth
            tiles.anchor[w, tile] = math.log(max(column.mean(), 1e-9))
        peak = -np.inf
        for i in range(size):
            offset = tiles.constant[tile * LANES + i]
            at_anchor = 0.0
            if width < classes:
                inside, logs = 0.0, 0.0
                for w in range(width):
                    h = rows[start + i, chosen[w]]
                    inside += h
                    if h > 0.0:
                        logs += h * math.log(h)
                outside = max(rows[start + i].sum() - inside, 0.0)
                if outside > 0.0:
                    offset += (entropy[start + i] - logs - outside * math.log(outside)) / bandwidth
            for w in range(width):
                tiles.weight[tile, w, i] = rows[start + i, chosen[w]] / bandwidth
                at_anchor += tiles.weight[tile, w, i] * tiles.anchor[w, tile]
            tiles.offset[tile, i] = offset
            peak = max(peak, offset + at_anchor)
        tiles.peak[tile] = peak
