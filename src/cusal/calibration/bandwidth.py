"""The kernel bandwidth by leave-one-out likelihood.

    log likelihood(b) = sum_j log( 1 / (n - 1) sum_{i != j} k_b(q_j; q_i) )

The usual criterion for a kernel density estimate; it needs no labels.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cusal._checks import as_array, as_positive, as_probs, as_scores
from cusal._types import Floats
from cusal.calibration.dense import iterate_log_mass
from cusal.calibration.estimator import SMALLEST_BANDWIDTH
from cusal.calibration.pointwise import two_columns
from cusal.errors import InvalidInput

GRID = (*np.logspace(-5, -1, 15).tolist(), 0.2, 0.4, 0.6, 0.8, 1.0)


def select_bandwidth(probs: Any, grid: ArrayLike = GRID) -> float:
    """Return the bandwidth under which a set of predictions is most likely, by leave-one-out likelihood.

    Labels are not needed. The cost is one kernel sum over all pairs of rows for each bandwidth of the grid.

    Parameters
    ----------
    probs : (n, classes) array, or (n,) array
        Predicted probabilities, at least two rows; or scores of the second of two classes.
    grid : sequence of float, optional
        The bandwidths to compare, each at least 1e-7. By default 20 values from 1e-5 to 1.

    Returns
    -------
    float
        The best bandwidth of the grid; the earlier one if two are equally good.

    Raises
    ------
    InvalidInput
        If there are fewer than two rows, a row is not a probability distribution, or the grid is empty or holds a
        bandwidth that is too small.

    Examples
    --------
    >>> import numpy as np
    >>> select_bandwidth(np.random.default_rng(0).dirichlet(np.ones(3), size=200)) > 1e-3
    True
    """
    probs = as_array(probs)
    one_column = probs.ndim == 1 or probs.shape[1:] == (1,)
    probs = two_columns(as_scores(probs, "probs")) if one_column else as_probs(probs)
    if len(probs) < 2:
        raise InvalidInput(f"probs has {len(probs)} rows; leaving one out needs at least two.")
    values = np.atleast_1d(as_array(grid, "grid"))
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise InvalidInput(f"grid is {values.dtype} of shape {values.shape}; expected a list of bandwidths.")
    bandwidths = [as_positive(float(b), "grid", least=SMALLEST_BANDWIDTH) for b in values]
    if not bandwidths:
        raise InvalidInput("grid is empty; expected at least one bandwidth.")
    return float(bandwidths[int(np.argmax([log_likelihood(probs, b) for b in bandwidths]))])


def log_likelihood(probs: Floats, bandwidth: float) -> float:
    """Return the leave-one-out log likelihood of `probs` under one bandwidth."""
    unlabelled = np.zeros(len(probs), dtype=np.int64)
    masses = iterate_log_mass(probs, probs, unlabelled, bandwidth=bandwidth, leave_one_out=True)
    total = sum(float(log_mass[:, 0].sum()) for _, log_mass in masses)
    return total - len(probs) * float(np.log(len(probs) - 1))
