"""Entropy of the prediction: -sum_k p_k log p_k (Shannon 1948; Settles 2009)."""

from dataclasses import dataclass

from cusal._types import Keys
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Entropy(Strategy):
    """The items whose prediction is spread most evenly."""

    @property
    def by_row(self) -> bool:
        return True

    def keys(self, view: View) -> Keys:
        """Return the entropy of each prediction, (n,)."""
        return uncertainty.entropy(view.probs)
