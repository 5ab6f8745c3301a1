"""One temperature that makes probabilities honest (Guo et al. 2017).

    softmax(z / T),   T = exp(s) minimising  sum_i -log softmax(z_i / T)[y_i] + (strength / 2) s^2,   s in [-1.5, 3]

    z  logits or log probabilities     s  log temperature     strength  of the prior that draws T to 1
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from cusal.checks import Floats, Indices

LOWEST, HIGHEST = -1.5, 3.0
SMALLEST = float(np.log(np.finfo(np.float64).tiny))


def fit_temperature(log_probs: Floats, labels: Indices, *, strength: float = 5.0) -> float:
    """Give the temperature under which the labels are most likely; 1 without labels."""
    if len(labels) == 0:
        return 1.0
    logits = np.maximum(log_probs, SMALLEST)
    rows = np.arange(len(labels))

    def loss(s: float) -> float:
        return float(-log_softmax(logits / np.exp(s), axis=1)[rows, labels].sum() + strength / 2 * s * s)

    return float(np.exp(minimize_scalar(loss, bounds=(LOWEST, HIGHEST), method="bounded").x))


def apply_temperature(probs: Floats, temperature: float) -> NDArray[np.float64]:
    """Give the probabilities under another temperature; zeros stay zero."""
    if temperature == 1:
        return np.asarray(probs, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(softmax(np.log(probs.astype(np.float64)) / temperature, axis=1))
