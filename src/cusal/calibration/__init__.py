"""Calibration error as a number: for each pool point, for a labelled set, and the bounds that hold for it."""

from cusal.calibration.bandwidth import select_bandwidth
from cusal.calibration.bounds import error_bound, estimator_rate
from cusal.calibration.expected import canonical_error, marginal_error, top_label_error
from cusal.calibration.pointwise import PointwiseError, pointwise_error

__all__ = [
    "PointwiseError",
    "canonical_error",
    "error_bound",
    "estimator_rate",
    "marginal_error",
    "pointwise_error",
    "select_bandwidth",
    "top_label_error",
]
