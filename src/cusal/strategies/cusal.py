"""CUSAL: the highest estimated calibration error first, ties by the model's uncertainty.

Bui, Maifeld-Carucci and Liu (2026), "Calibrated Uncertainty Sampling for Active Learning", Alg. 1 and Eq. 12:

    key(x) = ( error(x) quantised,  -max_k p_k(x) )        error: calibration/pointwise.py

Beyond the paper: other tie-breaks, and `batch_aware`, where each pick is added to the evidence before the next
is chosen.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cusal._types import Keys
from cusal.strategies._cusal_order import _CusalOrder
from cusal.strategies._view import View


@dataclass(frozen=True)
class Cusal(_CusalOrder):
    """Take the items of highest estimated calibration error; among equals, the least confident.

    The error of an item compares its prediction with the labels of the labelled items whose predictions are near.

    Parameters
    ----------
    bandwidth : float, default 1e-3
        Bandwidth of the Dirichlet kernel, at least 1e-7. The smaller it is, the closer a labelled prediction must be to
        count as evidence.
    p : float, default 1
        The power in the error, sum_k |ratio_k - q_k|^p; 1 or more.
    density_floor : float or None, default 1e-10
        Items whose kernel density is lower are unsupported. For p = 1 their errors tie. None estimates without a floor.
    tie_tolerance : float, default 1e-6
        Errors are rounded to multiples of it before they are compared; 0 compares them as they are.
    tie_break : {"confidence", "margin", "entropy", "random", "diverse"}
        What decides among items of equal error. The default, "confidence", is the paper's.
    batch_aware : bool, default False
        Whether each pick is added to the evidence before the next one is chosen.

    Examples
    --------
    >>> import cusal
    >>> pool, labelled = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]
    >>> cusal.query(pool, labelled, [0, 1], batch_size=2, strategy="cusal").indices
    array([2, 1])
    >>> cusal.strategies.Cusal(bandwidth=0.01, tie_break="margin").tie_break
    'margin'
    """

    for_whom: ClassVar[str] = "the paper's method on networks; with a light model worse than random items"

    @property
    def by_row(self) -> bool:
        return not self.batch_aware and self.tie_break != "diverse"

    def keys(self, view: View) -> Keys:
        """Return the quantised error and the tie-break of each candidate, (n, 2)."""
        return np.column_stack([self._quantised(view), self._tie_key(view.probs, view.rng)])
