"""Uncertainty of predictions: from probabilities (rows, classes) to values (rows,), higher if less certain."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from cusal._types import Floats


def least_confidence(probs: Floats) -> NDArray[np.float64]:
    """Return 1 - max_k p_k."""
    return np.asarray(1 - probs.max(axis=1).astype(np.float64))


def margin(probs: Floats) -> NDArray[np.float64]:
    """Return 1 - (p_(1) - p_(2)): high where the two highest probabilities are close together."""
    highest = np.partition(probs.astype(np.float64), probs.shape[1] - 2, axis=1)
    return 1 - (highest[:, -1] - highest[:, -2])


def entropy(probs: Floats) -> NDArray[np.float64]:
    """Return -sum_k p_k log p_k, with 0 log 0 = 0."""
    return np.asarray(entr(probs.astype(np.float64)).sum(axis=1))
