"""The kernel mass around each pool row, split by the labels of the reference rows, tile by tile.

    log_mass[j, k] = log sum_{i: y_i = k} k(q_j; h_i)

Only a tile of the (pool, reference) block exists at a time, and the sum over reference tiles carries its own
maximum, so the extra memory is bounded and no finite input overflows.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cusal._checks import Rows
from cusal._types import Floats, Indices
from cusal.calibration.kernel import log_clamped, log_constants

TILE_NUMBERS = 1 << 18  # float64 numbers in one tile: 2 MB


def iterate_log_mass(
    pool: Floats, reference: Rows, labels: Indices, *, bandwidth: float, leave_one_out: bool = False
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield (rows, log mass by class of these pool rows); with `leave_one_out` pool row j skips reference row j."""
    small = labels.astype(np.min_scalar_type(reference.shape[1]))  # numbers of few bits are sorted in one go
    order = np.argsort(small, kind="stable")
    across = max(1, min(len(reference), TILE_NUMBERS // max(64, reference.shape[1])))
    parts = [order[begin : begin + across] for begin in range(0, len(order), across)]
    constants: list[NDArray[np.float64]] = []  # the same for every pool tile
    down = max(1, TILE_NUMBERS // max(across, reference.shape[1]))
    for start in range(0, len(pool), down):
        rows = slice(start, min(start + down, len(pool)))
        tile = _Tile(pool[rows], bandwidth)
        for number, part in enumerate(parts):
            points = np.asarray(reference[part], dtype=np.float64)
            if start == 0:
                constants.append(log_constants(points, bandwidth))
            tile.add(points, constants[number], labels[part], skip=part - start if leave_one_out else None)
        yield rows, tile.log_mass()


class _Tile:
    """The running log-sum-exp of one tile of pool rows."""

    def __init__(self, pool: Floats, bandwidth: float) -> None:
        self.scaled_log = log_clamped(pool) / bandwidth
        self.highest = np.full((len(pool), 1), -np.inf)
        self.mass = np.zeros(pool.shape)

    def add(
        self, reference: NDArray[np.float64], constant: NDArray[np.float64], labels: Indices, *, skip: Indices | None
    ) -> None:
        """Add reference rows that are sorted by label; column i leaves out the pool row `skip[i]`, if it is here."""
        block = self.scaled_log @ reference.T  # (pool, reference)
        block += constant
        if skip is not None:
            here = np.flatnonzero((skip >= 0) & (skip < len(block)))
            block[skip[here], here] = -np.inf
        highest = np.maximum(self.highest, block.max(axis=1, keepdims=True))
        shift = np.where(np.isfinite(highest), highest, 0.0)
        self.mass *= np.exp(self.highest - shift)
        block -= shift
        np.exp(block, out=block)
        present, starts = np.unique(labels, return_index=True)
        self.mass[:, present] += np.add.reduceat(block, starts, axis=1)
        self.highest = highest

    def log_mass(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.mass) + np.where(np.isfinite(self.highest), self.highest, 0.0))
