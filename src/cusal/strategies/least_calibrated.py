"""Least calibrated: the highest estimated calibration error first, and nothing else.

The ablation of Bui, Maifeld-Carucci and Liu (2026) that leaves the uncertainty out of CUSAL's order:

    key(x) = error(x) quantised        error: calibration/pointwise.py

Items of equal error are equally likely: an order by index would favour whatever the data set puts first,
and most unsupported items share one error.
"""

from dataclasses import dataclass

import numpy as np

from cusal._checks import as_positive
from cusal._types import Keys
from cusal.calibration.ties import quantise
from cusal.strategies._calibration_strategy import _CalibrationStrategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class LeastCalibrated(_CalibrationStrategy):
    """The items whose calibration error is estimated highest; equals at random."""

    tie_tolerance: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tie_tolerance != 0:
            as_positive(self.tie_tolerance, "tie_tolerance")

    def keys(self, view: View) -> Keys:
        """Return the quantised error of each candidate and a random number, (n, 2)."""
        error = self.estimate(view).error
        return np.column_stack([quantise(error, self.tie_tolerance), view.rng.random(len(error))])
