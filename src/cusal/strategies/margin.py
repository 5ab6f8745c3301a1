"""Margin: the difference of the two highest probabilities, smallest first (Scheffer et al. 2001)."""

from dataclasses import dataclass

from cusal._types import Keys
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Margin(Strategy):
    """The items that the model can hardly decide between two classes."""

    @property
    def by_row(self) -> bool:
        return True

    def keys(self, view: View) -> Keys:
        """Return 1 minus the difference of the two highest probabilities, (n,)."""
        return uncertainty.margin(view.probs)
