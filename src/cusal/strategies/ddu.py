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
from typing import ClassVar, get_args

from cusal._checks import as_positive
from cusal._types import Keys
from cusal.errors import NotReady, UnknownName
from cusal.strategies._density import Covariance, class_log_density
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


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
