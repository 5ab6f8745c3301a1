"""DDU: the items whose features are least likely under the labelled ones.

Mukhoti et al. (2022), "Deep Deterministic Uncertainty": Gaussian discriminant analysis of the features h,
one Gaussian for each class, and the density of an item under their mixture, lowest first:

    log q(h) = logsumexp_c ( log pi_c + log N(h; mu_c, S_c) )

    pi_c  share of the labels      mu_c  mean of the class      S_c  its covariance      h  view.embeddings

The source fits S_c to each class by itself (`covariance="per_class"`) on a large labelled set. With the few
labels of active learning that matrix is nearly singular, so the default pools the classes (`"shared"`). Either
way `jitter` times the mean variance of the features is added to the diagonal.

The source's network is residual with bounded spectral norms and its probabilities are tempered: `spectral=3.0` of the
residual networks in `cusal.models.networks`, and `TemperatureScaled`. The strategy works on the features of any model.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import logsumexp

from cusal._checks import as_positive
from cusal._spread import row_squares
from cusal._types import Floats, Indices, Keys
from cusal.errors import NotReady, UnknownName
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View

Covariance = Literal["shared", "per_class"]
Matrix = NDArray[np.float64]

TILE_NUMBERS = 2 << 20  # features in one tile: 16 MB of float64


@dataclass(frozen=True)
class Ddu(Strategy):
    """Take the items whose embeddings are least likely under the labelled ones, with one Gaussian for each class.

    It needs labelled items and embeddings.

    Parameters
    ----------
    covariance : {"shared", "per_class"}, default "shared"
        Whether all classes share one covariance, or each has its own.
    jitter : float, default 1e-2
        What is added to the diagonal of the covariance, in units of the mean variance of the labelled embeddings.

    Examples
    --------
    >>> import cusal
    >>> pool, labelled = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]], [[0.95, 0.05], [0.85, 0.15], [0.1, 0.9], [0.2, 0.8]]
    >>> cusal.query(pool, labelled, [0, 0, 1, 1], batch_size=2, strategy="ddu").indices
    array([2, 1])
    """

    for_whom: ClassVar[str] = "finding items unlike anything labelled, with a network made for it"
    needs: ClassVar[frozenset[str]] = frozenset({"embeddings"})

    covariance: Covariance = "shared"
    jitter: float = 1e-2

    def __post_init__(self) -> None:
        if not isinstance(self.covariance, str) or self.covariance not in get_args(Covariance):
            raise UnknownName("covariance", self.covariance, get_args(Covariance))
        as_positive(self.jitter, "jitter")

    def keys(self, view: View) -> Keys:
        """Return minus the log density of each candidate's features, (n,)."""
        labels = view.reference_labels
        if len(labels) == 0:
            raise NotReady("ddu fits a density to labelled items, but none are labelled; label some first.")
        evidence = (view.reference_embeddings, labels)
        return -class_log_density(view.embeddings, evidence, covariance=self.covariance, jitter=self.jitter)


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
