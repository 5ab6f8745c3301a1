"""Whether the best of several strategies is better than every other by more than chance.

    d_s = value of the best - value of the other, for every seed s that both have
    t   = mean(d) / (sd(d) / sqrt(n)),   two-sided p from Student's t with n - 1 degrees of freedom

The p values of all comparisons are corrected by Holm (1979): sorted ascending, the i-th (from 0) of m is multiplied
by m - i, and none may be smaller than the one before it. The best is marked when every corrected p is below `LEVEL`.
"""

import numpy as np
from scipy import special

from cusal.apps.bench.report.curves import Values, mean

LEVEL = 0.05
LEAST_SEEDS = 3


def best(values: Values, *, higher: bool) -> int | None:
    """Return the row of (strategies, seeds) with the best mean over its own seeds; None where all is NaN."""
    means = mean(values, axis=1)
    if not np.isfinite(means).any():
        return None
    return int(np.nanargmax(means) if higher else np.nanargmin(means))


def significant_best(values: Values, *, higher: bool) -> int | None:
    """Return the best row of (strategies, seeds) if it is significantly better than every other, else None.

    Rows without any number are left out. Fewer than `LEAST_SEEDS` common seeds with any other: None.
    """
    row = best(values, higher=higher)
    others = [i for i in range(len(values)) if i != row and np.isfinite(values[i]).any()]
    if row is None or not others:
        return None
    differences = [values[row] - values[other] for other in others]
    differences = [d[np.isfinite(d)] * (1 if higher else -1) for d in differences]
    if any(len(d) < LEAST_SEEDS or d.mean() <= 0 for d in differences):
        return None
    return row if holm([paired_p(d) for d in differences]).max() < LEVEL else None


def paired_p(differences: Values) -> float:
    """Return the two-sided p value of the paired t-test; differences that are all alike have p 1 at zero, else 0."""
    spread = float(np.std(differences, ddof=1))
    centre = float(np.mean(differences))
    # Differences that agree to the last digits have no spread but that of rounding.
    if spread <= 1e-12 * max(abs(centre), 1e-300):
        return 0.0 if centre else 1.0
    t = centre / (spread / np.sqrt(len(differences)))
    return float(2 * special.stdtr(len(differences) - 1, -abs(t)))


def holm(p_values: list[float]) -> Values:
    """Return the p values corrected for their number.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.minimum(1.0, np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p)))))
    corrected = np.empty_like(stepped)
    corrected[order] = stepped
    return corrected
