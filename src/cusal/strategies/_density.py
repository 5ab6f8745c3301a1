"""The density of features under one Gaussian for each class (Gaussian discriminant analysis).

log q(h) = logsumexp_c ( log pi_c + log N(h; mu_c, S_c) )
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import logsumexp

from cusal._spread import row_squares
from cusal._types import Floats, Indices

Covariance = Literal["shared", "per_class"]
Matrix = NDArray[np.float64]

TILE_NUMBERS = 2 << 20  # features in one tile: 16 MB of float64


def class_log_density(
    points: Floats, evidence: tuple[Floats, Indices], *, covariance: Covariance, jitter: float
) -> NDArray[np.float64]:
    """Return the log density of each row of `points`, (n,), under the Gaussians of the classes in `evidence`.

    evidence: the features (m, d) and the class (m,) of each labelled item.
    covariance: one for each class, or one that all share.
    jitter: added to the diagonal, in units of the mean variance of the labelled features.
    """
    features, labels = evidence[0].astype(np.float64), evidence[1]
    classes, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    means = np.stack([features[numbers == c].mean(axis=0) for c in range(len(classes))])  # (classes, d)
    shares = np.log(sizes / len(labels))
    ridge = jitter * (float(features.var(axis=0).mean()) or 1.0)
    residuals = features - means[numbers]
    if covariance == "shared":
        return _log_mixture(points, means, _factor(residuals, ridge), shares)
    density = np.full(len(points), -np.inf)
    for c in range(len(classes)):
        own = slice(c, c + 1)
        factor = _factor(residuals[numbers == c], ridge)
        np.logaddexp(density, _log_mixture(points, means[own], factor, shares[own]), out=density)
    return density


def _factor(residuals: Matrix, ridge: float) -> Matrix:
    """Return the lower Cholesky factor of the covariance with `ridge` on its diagonal, (d, d)."""
    matrix = residuals.T @ residuals / len(residuals)
    matrix[np.diag_indices_from(matrix)] += ridge
    return np.asarray(cholesky(matrix, lower=True))


def _log_mixture(points: Floats, means: Matrix, factor: Matrix, shares: Matrix) -> NDArray[np.float64]:
    """Return log sum_c exp(shares_c) N(point; means_c, factor factor^T) of each point, (n,), tile by tile."""
    log_density = np.empty(len(points))
    origin = means.mean(axis=0)  # near the data, so that the squares below cancel little
    white_means = solve_triangular(factor, (means - origin).T, lower=True).T  # (classes, d)
    constant = np.log(np.diag(factor)).sum() + means.shape[1] / 2 * np.log(2 * np.pi)
    step = max(1, TILE_NUMBERS // (means.shape[1] + len(means)))
    for start in range(0, len(points), step):
        rows = slice(start, start + step)
        white = solve_triangular(factor, (points[rows] - origin).T, lower=True).T  # (tile, d)
        squares = row_squares(white)[:, None] - 2 * white @ white_means.T + row_squares(white_means)
        log_density[rows] = logsumexp(shares - squares / 2, axis=1) - constant
    return log_density
