"""Margin: the difference of the two highest probabilities, smallest first (Scheffer et al. 2001)."""

from dataclasses import dataclass
from typing import ClassVar

from cusal._types import Keys
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Margin(Strategy):
    """The items that the model can hardly decide between two classes."""

    by_row: ClassVar[bool] = True

    def keys(self, view: View) -> Keys:
        return uncertainty.margin(view.probs)
