from .bandwidth import select_bandwidth
from .bounds import error_bound, estimator_rate
from .estimator import Estimator
from .leave_one_out import canonical_error, marginal_error, top_label_error
from .pointwise import PointwiseError, pointwise_error

__all__ = [
    "Estimator",
    "PointwiseError",
    "canonical_error",
    "error_bound",
    "estimator_rate",
    "marginal_error",
    "pointwise_error",
    "select_bandwidth",
    "top_label_error",
]
