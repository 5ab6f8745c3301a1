"""The errors of the highest pool points: what provably stays below them is not computed in full.

Symbols as in `pruned` and `pruned_few_classes`; t is the top class of the pool point q, and r_t the share of the
kernel mass with label t. If the point is supported, its ratio sums to one, and whatever the other classes do,

    sum_k |ratio_k - q_k| <= (1 - r_t) + (sum q - q_t) + |r_t - q_t| <= 1 + sum q - 2 min(r_t, q_t),

and sum_k |.|^p is at most 1.01^(p-1) times that. A lower bound of r_t is cheap where labels agree with predictions: the
mass with label t in the nearest tile against the mass with other labels, computed in the tiles whose bound comes near
the largest log k and bounded by LANES exp(bound) elsewhere. Tiles in which every label is t, most of those around q,
are not visited: they could only raise r_t.

A point whose bound lies below the count-th highest error found so far is not among the `count` highest, nor tied with
one of them. Its bound is returned in place of its error: the order, the ties and what decided each pick are the same.
"""

import math
import threading

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.calibration import pruned_few_classes as few
from cusal.calibration.chunks import over_rows
from cusal.calibration.estimator import Estimator
from cusal.calibration.kernel import log_clamped
from cusal.calibration.pointwise import TOLERANCE
from cusal.calibration.pruned import FEW_CLASSES, pointwise, scorer

NEAR = 5.0  # tiles with other labels are computed if their bound is so near to the largest log k, else bounded
FAR = 60.0  # what is so far below adds less than n exp(-60)
ENOUGH = 2000  # with fewer labelled points, or with many classes, the full sum is as cheap as the bound
CHUNK_ROWS = 1024  # the cut is known after the first
Array = NDArray[np.float64]


def top(
    pool: Floats,
    reference: Floats,
    labels: Indices,
    count: int,
    estimator: Estimator,
    *,
    tie_tolerance: float,
) -> tuple[Array, NDArray[np.bool_]]:
    """Return (error, computed), each (m,): what was not computed is an upper bound that lies below the top `count`.

    "Below" leaves room for ties: no such bound rounds to the same multiple of `tie_tolerance` as an error of the top.
    """
    if len(reference) < ENOUGH or reference.shape[1] > FEW_CLASSES:
        error, _ = pointwise(pool, reference, labels, estimator, tolerance=TOLERANCE)
        return error, np.ones(len(pool), dtype=bool)
    score = scorer(reference, labels, estimator, tolerance=TOLERANCE)
    tiles = few.build(reference, labels, estimator.bandwidth)
    floor = estimator.density_floor
    settings = estimator.bandwidth, float(estimator.p), -np.inf if floor is None else math.log(floor)
    error, computed = np.empty(len(pool)), np.ones(len(pool), dtype=bool)
    highest = np.full(count, -np.inf)
    lock = threading.Lock()

    def work(where: slice, probs: Array) -> None:
        nonlocal highest
        cut = highest[0] - 2 * tie_tolerance - 2 * TOLERANCE
        bounds = np.full(len(probs), np.inf)
        if cut > 0:
            bound_errors(probs, log_clamped(probs), tiles, settings, bounds)
        open_rows = bounds >= cut
        bounds[open_rows], _ = score(probs[open_rows])
        error[where], computed[where] = bounds, open_rows
        with lock:
            found = np.concatenate([highest, bounds[open_rows]])
            highest = np.sort(np.partition(found, len(found) - count)[-count:])

    over_rows(pool, work, most=CHUNK_ROWS)
    return error, computed


@njit(cache=True, nogil=True)
def bound_errors(
    probs: Array, log_q: Array, tiles: few.Tiles, settings: tuple[float, float, float], bounds: Array
) -> None:
    """Fill in an upper bound of each pool row's error; infinity where the row is not known to be supported."""
    bandwidth, p, log_floor = settings
    bound = np.empty(len(tiles.peak))
    values = np.empty(few.LANES)
    for r in range(len(probs)):
        own = np.argmax(probs[r])
        best = few.bound_tiles(log_q[r], probs[r], tiles, bandwidth, bound)
        largest = few.visit(best, best + 1, log_q[r], tiles, values)
        same, other = _split(best, own, largest, tiles, values)
        if same == 0.0 or largest + math.log(same) < log_floor:
            bounds[r] = np.inf
            continue
        for tile in range(len(bound)):
            if bound[tile] < largest - FAR or tiles.label[tile] == own or tile == best:
                continue
            if bound[tile] < largest - NEAR:
                other += few.LANES * math.exp(bound[tile] - largest)
            else:
                few.visit(tile, tile + 1, log_q[r], tiles, values)
                more_same, more_other = _split(tile, own, largest, tiles, values)
                same += more_same
                other += more_other
        other += len(values) * len(bound) * math.exp(-FAR)
        share = same / (same + other)
        bounds[r] = (1.0 + probs[r].sum() - 2.0 * min(share, probs[r, own])) * 1.01 ** (p - 1.0)


@njit(cache=True, nogil=True)
def _split(tile: int, own: int, largest: float, tiles: few.Tiles, values: Array) -> tuple[float, float]:
    """Return the mass of a tile with the label `own` and with other labels, in units of the largest kernel."""
    same, other = 0.0, 0.0
    for i in range(few.LANES):
        share = math.exp(values[i] - largest)
        if tiles.labels[tile * few.LANES + i] == own:
            same += share
        else:
            other += share
    return same, other
