"""The Dirichlet kernel in log space.

For a point with probabilities q and a reference point with probabilities h, bandwidth b and K classes
(Eq. 10 of Bui et al., "Calibrated Uncertainty Sampling for Active Learning", with alpha = h/b + 1):

    log k(q; h) = c + <h, log q> / b,      c = lgamma(1/b + K) - sum_k lgamma(h_k/b + 1)

With two classes this is the Beta kernel. Taking `exp` first overflows from K = 14 on at b = 0.001, so nothing
here leaves log space.

    q  pool     h  reference     b  bandwidth     c  constants
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from cusal._types import Floats

# log(0) would turn into 0 * -inf = NaN where the reference has an exact zero as well.
SMALLEST = np.finfo(np.float64).tiny


def log_constants(reference: Floats, bandwidth: float) -> NDArray[np.float64]:
    """Return c_i for each reference row, (n,)."""
    scaled = np.asarray(reference, dtype=np.float64) / bandwidth
    scaled += 1
    classes = reference.shape[1]
    return np.asarray(gammaln(1 / bandwidth + classes) - gammaln(scaled, out=scaled).sum(axis=1))


def log_clamped(probs: Floats) -> NDArray[np.float64]:
    """Return log probs in float64, finite even where a probability is zero."""
    return np.asarray(np.log(np.maximum(probs.astype(np.float64), SMALLEST)))


def log_kernel(pool: Floats, reference: Floats, bandwidth: float) -> NDArray[np.float64]:
    """Return log k(q_j; h_i) for every pool row j and reference row i, (pool, reference)."""
    scaled = reference.astype(np.float64) / bandwidth
    return np.asarray(log_clamped(pool) @ scaled.T + log_constants(reference, bandwidth))
