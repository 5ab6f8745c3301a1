"""The two theorems of Bui et al. as numbers.

Thm 1 (rate)    E|estimate - truth|^2  <=  O( 1 / (n b^((K-1)/2)) + b^2 )
Thm 2 (bound)   E error <= epsilon + sqrt( L^2 log(2/delta) / (2 (m + n)) )   with probability 1 - delta

n  labelled     m  pool     K  classes     b  bandwidth     L  largest     epsilon  mean_error
"""

import math

from cusal._arguments import as_share, is_real
from cusal._checks import as_count, as_positive
from cusal.errors import InvalidInput

LARGEST = 1e100  # what can be squared without overflowing


def estimator_rate(labelled: int, classes: int, *, bandwidth: float = 1e-3) -> float:
    """Return the rate of Theorem 1 without its constant: how fast the estimate converges to the true error.

    Only ratios of rates are meaningful, for instance between two bandwidths or two numbers of labels.

    Parameters
    ----------
    labelled : int
        Number of labelled points, n.
    classes : int
        Number of classes, K, at least 2.
    bandwidth : float, default 1e-3
        Bandwidth of the kernel, b.

    Returns
    -------
    float
        1 / (n b^((K-1)/2)) + b^2; infinity where the first term overflows.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    Examples
    --------
    >>> estimator_rate(400, 2) / estimator_rate(100, 2) < 0.3
    True
    """
    labelled, classes = as_count(labelled, "labelled"), as_count(classes, "classes", least=2)
    bandwidth = as_positive(bandwidth, "bandwidth")
    log_variance = -math.log(labelled) - (classes - 1) / 2 * math.log(bandwidth)
    variance = math.exp(log_variance) if log_variance < 700 else math.inf
    return variance + bandwidth**2


def error_bound(mean_error: float, *, labelled: int, pool: int, delta: float = 0.05, largest: float = 2.0) -> float:
    """Return the bound of Theorem 2 on the expected calibration error on unseen data.

    The theorem assumes that the estimate of the error is unbiased.

    Parameters
    ----------
    mean_error : float
        Mean calibration error of the queried points after training: the theorem's epsilon.
    labelled, pool : int
        Number of labelled points and of pool points; one of them may be 0.
    delta : float, default 0.05
        The bound holds with probability 1 - delta.
    largest : float, default 2
        The largest error that one point can have: 2 for p = 1.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    Examples
    --------
    >>> round(error_bound(0.1, labelled=100, pool=900), 3)
    0.186
    """
    labelled, pool = as_count(labelled, "labelled", least=0), as_count(pool, "pool", least=0)
    largest = as_positive(largest, "largest")
    if largest > LARGEST:
        raise InvalidInput(f"largest is {largest!r}; expected the largest error that a point can have, such as 2.")
    if labelled + pool == 0:
        raise InvalidInput("labelled and pool are both 0; the bound needs at least one point.")
    delta = as_share(delta, "delta")
    if not is_real(mean_error) or not (math.isfinite(mean_error) and mean_error >= 0):
        raise InvalidInput(f"mean_error is {mean_error!r}; expected a calibration error, 0 or more.")
    return mean_error + math.sqrt(largest**2 * math.log(2 / delta) / (2 * (labelled + pool)))
