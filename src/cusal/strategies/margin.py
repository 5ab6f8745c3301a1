"""Margin: the difference of the two highest probabilities, smallest first (Scheffer et al. 2001)."""

from dataclasses import dataclass

from cusal import uncertainty
from cusal.strategy import Keys, Strategy
from cusal.view import View


@dataclass(frozen=True)
class Margin(Strategy):
    """The items that the model can hardly decide between two classes."""

    def keys(self, view: View) -> Keys:
        return uncertainty.margin(view.probs)
