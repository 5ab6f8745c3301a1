"""BALD: the items whose label would tell most about the model.

Houlsby et al. (2011); Gal et al. (2017) with Monte-Carlo dropout:

    I(y; w | x) = H(E_w p(y | x, w)) - E_w H(p(y | x, w))

    p(y | x, w)  the sampled predictions of the view, one model w for each sample
"""

from dataclasses import dataclass

from cusal._checks import as_count
from cusal._types import Keys
from cusal.strategies._information import mutual_information
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Bald(Strategy):
    """The items that models drawn from the posterior disagree on, each being sure."""

    samples: int = 10

    def __post_init__(self) -> None:
        as_count(self.samples, "samples", least=2)

    def keys(self, view: View) -> Keys:
        """Return the mutual information of each candidate's label with the model, (n,)."""
        return view.from_samples(self.samples, mutual_information)
