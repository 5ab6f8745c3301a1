"""Least calibrated: the highest estimated calibration error first, and nothing else.

The ablation of Bui, Maifeld-Carucci and Liu (2026) that leaves the uncertainty out of CUSAL's order:

    key(x) = error(x) quantised        error: calibration/pointwise.py

Items of equal error are equally likely: an order by index would favour whatever the data set puts first,
and most unsupported items share one error.
"""

from dataclasses import dataclass

import numpy as np

from cusal._checks import as_positive
from cusal._types import Indices, Keys
from cusal.calibration.ties import quantise
from cusal.strategies._query_result import Query
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class LeastCalibrated(Strategy):
    """The items whose calibration error is estimated highest; equals at random."""

    bandwidth: float = 1e-3
    p: float = 1
    density_floor: float | None = 1e-10
    tie_tolerance: float = 1e-6

    def __post_init__(self) -> None:
        if self.tie_tolerance != 0:
            as_positive(self.tie_tolerance, "tie_tolerance")

    def keys(self, view: View) -> Keys:
        error = view.estimate(self.bandwidth, self.p, self.density_floor).error
        return np.column_stack([quantise(error, self.tie_tolerance), view.rng.random(len(error))])

    def explain(self, view: View, indices: Indices) -> Query:
        error = view.estimate(self.bandwidth, self.p, self.density_floor).error
        return Query(indices, view.probs_of(indices), error[view.positions(indices)])
