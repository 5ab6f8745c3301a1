"""The pointwise error from only those labelled points that can matter, within a proven distance of the dense sum.

For a pool point q and labelled points h_i with labels y_i (DESIGN: the mathematics; Eq. 9 and 10 of Bui et al.):

    log k_i = c_i + <h_i, log q> / b        density = sum_i k_i
    ratio   = sum_i k_i onehot(y_i) / max(density, floor)        error = sum_k |ratio_k - q_k|^p

A point i is left out when an upper bound of log k_i (see `tiles`) lies below `M - slack`, M the largest log k met so far and
slack = log(n / delta) + 1. With S the sum that is kept and D <= n exp(M - slack) <= (delta / e) S the sum that is left out:

- log density: log(S + D) - log S <= D / S <= delta.
- ratio: with A_k the kept mass of class k, D_k the mass left out, N = max(S + D, floor) and N' = max(S, floor),
  sum_k |(A_k + D_k) / N - A_k / N'| <= D / N + S (N - N') / (N N') <= 2 D / N' <= 2 delta / e, for N - N' <= D and S <= N'.
- error: |x^p - y^p| <= p max(x, y)^(p-1) |x - y| for p >= 1, and |ratio_k - q_k| <= 1.01 (rows may sum to 1 within 1e-2),
  so the error moves by at most 2 p 1.01^(p-1) delta / e.

delta = tolerance / (p 1.01^(p-1)) thus keeps both the log density and the error within `tolerance`, for every point, supported
or not, and with or without floor. The nat that the slack has to spare (the e above is used once, 1 - 2/e remains) covers the
rounding of the bounds, which is below 1e-5 for b >= 1e-5 and 1000 classes.

| symbol | name |
|---|---|
| c_i, h_i / b | `Tiles.constant`, `Tiles.weight` |
| M, M - slack | `largest`, `cut` |
| A_k exp(-M), S exp(-M) | `mass`, `total` |
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cusal.calibration.kernel import log_clamped
from cusal.calibration.tiles import CHUNK_BYTES, LANES, WHOLE, Tiles, as_rows, build, in_chunks
from cusal.checks import Floats, Indices

Array = NDArray[np.float64]


def pointwise(
    pool: Floats,
    reference: Floats,
    labels: Indices,
    *,
    bandwidth: float,
    p: float,
    density_floor: float | None,
    tolerance: float,
) -> tuple[Array, Array]:
    """Give (error, log density), each (m,) and within `tolerance` of the dense sum up to its rounding."""
    tiles = build(reference, labels, bandwidth)
    rows = _readable(reference)
    slack = math.log(len(reference) * p * 1.01 ** (p - 1) / tolerance) + 1
    log_floor = -np.inf if density_floor is None else math.log(density_floor)
    error, log_density = np.empty(len(pool)), np.empty(len(pool))

    def score(start: int, stop: int) -> None:
        probs = as_rows(pool[start:stop])
        into = (error[start:stop], log_density[start:stop])
        _score(probs, log_clamped(probs), tiles, rows, (bandwidth, p, slack, log_floor), into)

    in_chunks(score, len(pool), CHUNK_BYTES // (8 * pool.shape[1]))
    return error, log_density


def _readable(reference: Floats) -> Floats:
    """Give the rows as the compiled code reads them: as they are, but float16, which it cannot read, as float32."""
    if reference.shape[1] <= WHOLE:
        return _readable(np.empty((0, WHOLE + 1)))  # the tiles hold all there is to know
    rows = np.asarray(reference, dtype=np.float64 if reference.dtype == np.float64 else np.float32).view()
    rows.flags.writeable = False  # one compiled form for arrays and read-only memory maps
    return rows


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _score(
    probs: Array,
    logs: Array,
    tiles: Tiles,
    rows: Floats,
    settings: tuple[float, float, float, float],
    into: tuple[Array, Array],
) -> None:
    """Fill in the error and the log density of a chunk of pool rows."""
    bandwidth, p, slack, log_floor = settings
    error, log_density = into
    bound = np.empty(len(tiles.peak))
    near = np.empty(tiles.weight.shape[1])
    lanes = np.empty(LANES)
    kept = np.empty(tiles.offset.size)
    kept_label = np.empty(tiles.offset.size, dtype=np.int64)
    mass = np.empty(probs.shape[1])
    for r in range(len(probs)):
        reach = slack
        if len(rows) > 0:  # the bound supposes that q sums to at most one
            reach += 1.02 * max(0.0, math.log(probs[r].sum() + 1e-300)) / bandwidth
        best = _bound_tiles(logs[r], tiles, bound)
        largest, count = -np.inf, 0
        largest, count = _visit(best, logs[r], tiles, rows, bandwidth, reach, near, lanes, kept, kept_label, largest, count)
        for tile in range(len(bound)):
            if bound[tile] >= largest - reach and tile != best:
                largest, count = _visit(
                    tile, logs[r], tiles, rows, bandwidth, reach, near, lanes, kept, kept_label, largest, count
                )
        mass[:] = 0.0
        total = 0.0
        for s in range(count):
            if kept[s] >= largest - slack:
                share = math.exp(kept[s] - largest)
                mass[kept_label[s]] += share
                total += share
        log_density[r] = largest + math.log(total)
        error[r] = _error(mass, probs[r], math.exp(largest - max(log_density[r], log_floor)), p)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _bound_tiles(log_q: Array, tiles: Tiles, bound: Array) -> int:
    """Fill in the upper bound of log k over each tile; give the tile with the largest."""
    bound[:] = tiles.peak
    for w in range(len(tiles.low)):
        low, high, anchor = tiles.low[w], tiles.high[w], tiles.anchor[w]
        if len(tiles.classes) == 0:
            at = log_q[w]
            for t in range(len(bound)):
                away = at - anchor[t]
                bound[t] += max(low[t] * away, high[t] * away)
        else:
            classes = tiles.classes[w]
            for t in range(len(bound)):
                away = log_q[classes[t]] - anchor[t]
                bound[t] += max(low[t] * away, high[t] * away)
    best = 0
    for t in range(len(bound)):
        if bound[t] > bound[best]:
            best = t
    return best


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _visit(tile, log_q, tiles, rows, bandwidth, reach, near, lanes, kept, kept_label, largest, count):
    width = len(tiles.low)
    for w in range(width):
        near[w] = log_q[w] if len(tiles.classes) == 0 else log_q[tiles.classes[w, tile]]
    if width % 2 == 1:
        near[width] = 0.0
    weight = tiles.weight[tile]
    for i in range(LANES):
        lanes[i] = tiles.offset[tile, i]
    for w in range(0, len(near), 2):
        first, second = near[w], near[w + 1]
        for i in range(LANES):
            lanes[i] += weight[w, i] * first + weight[w + 1, i] * second
    if len(tiles.classes) == 0:
        for i in range(LANES):
            largest = max(largest, lanes[i])
        for i in range(LANES):
            if lanes[i] >= largest - reach:
                kept[count] = lanes[i]
                kept_label[count] = tiles.labels[tile * LANES + i]
                count += 1
        return largest, count
    for _ in range(LANES):
        i = np.argmax(lanes)
        if lanes[i] < largest - reach or lanes[i] == -np.inf:
            break
        lanes[i] = -np.inf
        point = tile * LANES + i
        row = rows[tiles.order[point]]
        value = 0.0
        for j in range(len(log_q)):
            value += row[j] * log_q[j]
        value = tiles.constant[point] + value / bandwidth
        if value >= largest - reach:
            largest = max(largest, value)
            kept[count] = value
            kept_label[count] = tiles.labels[point]
            count += 1
    return largest, count


@njit(cache=True, nogil=True)
def _error(mass: Array, q: Array, scale: float, p: float) -> float:
    """sum_k |mass_k scale - q_k|^p."""
    error = 0.0
    for k in range(len(q)):
        difference = abs(mass[k] * scale - q[k])
        error += difference if p == 1.0 else difference**p
    return error
