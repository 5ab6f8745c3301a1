"""The density of features under one Gaussian for each class (Gaussian discriminant analysis).

log q(h) = logsumexp_c ( log pi_c + log N(h; mu_c, S_c) )
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from cusal.checks import Floats, Indices

Covariance = Literal["shared", "per_class"]
Matrix = NDArray[np.float64]

TILE_NUMBERS = 2 << 20  # features in one tile: 16 MB of float64


def class_log_density(
    points: Floats, evidence: tuple[Floats, Indices], *, covariance: Covariance, jitter: float
) -> NDArray[np.float64]:
    """Give the log density of each row of `points`, (n,), under the Gaussians of the classes in `evidence`.

    evidence: the features (m, d) and the class (m,) of each labelled item.
    covariance: one for each class, or one that all share.
    jitter: added to the diagonal, in units of the mean variance of the labelled features.
    """
    features, labels = evidence[0].astype(np.float64), evidence[1]
    classes, numbers = np.unique(labels, return_inverse=True)
    means = np.stack([features[numbers == c].mean(axis=0) for c in range(len(classes))])
    ridge = jitter * (float(features.var(axis=0).mean()) or 1.0)
    residuals = features - means[numbers]
    shared = _factor(residuals, ridge) if covariance == "shared" else None
    density = np.full(len(points), -np.inf)
    for c, mean in enumerate(means):
        own = residuals[numbers == c]
        factor = _factor(own, ridge) if shared is None else shared
        np.logaddexp(density, np.log(len(own) / len(labels)) + _log_normal(points, mean, factor), out=density)
    return density


def _factor(residuals: Matrix, ridge: float) -> Matrix:
    """Give the lower Cholesky factor of the covariance with `ridge` on its diagonal, (d, d)."""
    matrix = residuals.T @ residuals / len(residuals)
    matrix[np.diag_indices_from(matrix)] += ridge
    return np.asarray(cholesky(matrix, lower=True))


def _log_normal(points: Floats, mean: Matrix, factor: Matrix) -> NDArray[np.float64]:
    log_density = np.empty(len(points))
    constant = np.log(np.diag(factor)).sum() + len(mean) / 2 * np.log(2 * np.pi)
    step = max(1, TILE_NUMBERS // len(mean))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        white = solve_triangular(factor, (points[rows] - mean).T, lower=True)  # (d, tile)
        log_density[rows] = -0.5 * np.einsum("dn,dn->n", white, white) - constant
    return log_density
