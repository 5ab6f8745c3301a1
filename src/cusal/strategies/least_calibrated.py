"""Least calibrated: the highest estimated calibration error first, and nothing else.

The ablation of Bui, Maifeld-Carucci and Liu (2026) that leaves the uncertainty out of CUSAL's order:

    key(x) = error(x) quantised        error: calibration/pointwise.py

Items of equal error are taken in random order: an order by index would favour whatever the data set puts first,
and most unsupported items share one error.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cusal._checks import as_positive
from cusal._types import Keys
from cusal.calibration.ties import quantise
from cusal.strategies._calibration_strategy import _CalibrationStrategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class LeastCalibrated(_CalibrationStrategy):
    """Take the items of highest estimated calibration error; among equals, at random.

    Parameters
    ----------
    bandwidth : float, default 1e-3
        Bandwidth of the Dirichlet kernel, at least 1e-7. The smaller it is, the closer a labelled prediction must be to
        count as evidence.
    p : float, default 1
        The power in the error, sum_k |ratio_k - q_k|^p; 1 or more.
    density_floor : float or None, default 1e-10
        Items whose kernel density is lower are unsupported. For p = 1 their errors tie. None estimates without a floor.
    tie_tolerance : float, default 1e-6
        Errors are rounded to multiples of it before they are compared; 0 compares them as they are.

    Examples
    --------
    >>> import cusal
    >>> pool, labelled = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]
    >>> cusal.query(pool, labelled, [0, 1], batch_size=2, strategy="least_calibrated").indices
    array([1, 2])
    """

    for_whom: ClassVar[str] = "ablations of cusal"

    tie_tolerance: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tie_tolerance != 0:
            as_positive(self.tie_tolerance, "tie_tolerance")

    def keys(self, view: View) -> Keys:
        """Return the quantised error of each candidate and a random number, (n, 2)."""
        error = self.estimate(view).error
        return np.column_stack([quantise(error, self.tie_tolerance), view.rng.random(len(error))])
