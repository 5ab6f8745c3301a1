"""CUSAL: the highest estimated calibration error first, ties by the model's uncertainty.

Bui, Maifeld-Carucci and Liu (2026), "Calibrated Uncertainty Sampling for Active Learning", Alg. 1 and Eq. 12:

    key(x) = ( error(x) quantised,  -max_k p_k(x) )        error: calibration/pointwise.py

Beyond the paper: other tie-breaks, and `batch_aware`, where each pick joins the evidence before the next is
chosen.
"""

from dataclasses import dataclass

import numpy as np

from cusal._types import Keys
from cusal.strategies._cusal_order import _CusalOrder
from cusal.strategies._view import View


@dataclass(frozen=True)
class Cusal(_CusalOrder):
    """The items whose calibration error is estimated highest; among equals, the least sure.

    Parameters
    ----------
    bandwidth : float, default 1e-3
        Of the Dirichlet kernel, at least 1e-7.
    p : float, default 1
        The power of the error.
    density_floor : float or None, default 1e-10
        Points of lower density are unsupported and tie. None: no floor, and hardly any tie.
    tie_tolerance : float, default 1e-6
        Errors are rounded to multiples of it before they are compared; 0 compares them as they are.
    tie_break : {"confidence", "margin", "entropy", "random", "diverse"}
        What decides among equal errors; the paper's is the confidence.
    batch_aware : bool, default False
        Whether each pick joins the evidence before the next is chosen.

    Examples
    --------
    >>> Cusal(bandwidth=0.01).bandwidth
    0.01
    """

    @property
    def by_row(self) -> bool:
        return not self.batch_aware and self.tie_break != "diverse"

    def keys(self, view: View) -> Keys:
        """Return the quantised error and the tie-break of each candidate, (n, 2)."""
        return np.column_stack([self._quantised(view), self._tie_key(view.probs, view.rng)])
