"""BALD: the items whose labels carry the most information about the model.

Houlsby et al. (2011); Gal et al. (2017) with Monte-Carlo dropout:

    I(y; w | x) = H(E_w p(y | x, w)) - E_w H(p(y | x, w))

    p(y | x, w)  the sampled predictions of the view, one model w for each sample
"""

from dataclasses import dataclass
from typing import ClassVar

from cusal._checks import as_count
from cusal._types import Keys
from cusal.strategies._information import mutual_information
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Bald(Strategy):
    """Take the items on which models drawn from the posterior disagree, although each is confident.

    It needs a model with `sample_proba`, such as a network with dropout, or an ensemble, such as a random forest.

    Parameters
    ----------
    samples : int, default 10
        Number of models to draw, at least 2.

    Examples
    --------
    >>> import numpy as np
    >>> sampled = np.array([[[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]]])  # (items, samples, classes)
    >>> view = View.of_arrays(
    ...     np.arange(2), np.random.default_rng(0), probs=sampled.mean(axis=1), sampled_probs=sampled
    ... )
    >>> Bald(samples=2).query(view, 1).indices
    array([0])
    """

    for_whom: ClassVar[str] = "networks with dropout and ensembles whose members disagree"
    needs: ClassVar[frozenset[str]] = frozenset({"samples"})

    samples: int = 10

    def __post_init__(self) -> None:
        as_count(self.samples, "samples", least=2)

    def keys(self, view: View) -> Keys:
        """Return the mutual information of each candidate's label with the model, (n,)."""
        return view.from_samples(self.samples, mutual_information)
