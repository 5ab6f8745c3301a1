"""The lexicographic order of CUSAL and what decided each pick.

Eq. 12 of Bui et al.: error descending, then confidence ascending. The error is quantised first, so that points
whose errors differ by rounding noise alone are tied, as the order assumes.
"""

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices
from cusal.calibration.dense import iterate_log_mass
from cusal.calibration.estimator import Estimator
from cusal.calibration.kernel import log_kernel
from cusal.calibration.pointwise import error_from_mass


def quantise(error: NDArray[np.float64], tie_tolerance: float) -> NDArray[np.float64]:
    """Return the errors in whole multiples of `tie_tolerance`; 0 leaves them as they are."""
    return error if tie_tolerance == 0 else np.round(error / tie_tolerance)


def decided_by(quantised: NDArray[np.float64], rows: Indices) -> NDArray[np.str_]:
    """Return "calibration" for each of `rows` whose error no other row shares, else "uncertainty"."""
    ordered = np.sort(quantised)
    picked = quantised[rows]
    shared = np.searchsorted(ordered, picked, side="right") - np.searchsorted(ordered, picked, side="left")
    return np.where(shared == 1, "calibration", "uncertainty")


class GrowingEvidence:
    """The error of every pool row while picks join the evidence one by one.

    The label of a pick is not known yet, so its mass is divided among the classes by its own prediction: it says that
    this region will be supported, not what the label will be.
    """

    def __init__(self, pool: Floats, reference: Floats, labels: Indices, estimator: Estimator) -> None:
        self.pool, self.estimator = pool, estimator
        self.log_mass = np.empty(pool.shape)
        for rows, log_mass in iterate_log_mass(pool, reference, labels, bandwidth=estimator.bandwidth):
            self.log_mass[rows] = log_mass

    def error(self) -> NDArray[np.float64]:
        """(m,) the error under the evidence so far."""
        return error_from_mass(self.log_mass, self.pool, self.estimator)

    def add(self, row: int) -> None:
        """Add one pool row to the evidence."""
        own = self.pool[row : row + 1]
        with np.errstate(divide="ignore"):
            share = np.log(own.astype(np.float64))  # (1, classes)
        np.logaddexp(self.log_mass, log_kernel(self.pool, own, self.estimator.bandwidth) + share, out=self.log_mass)
