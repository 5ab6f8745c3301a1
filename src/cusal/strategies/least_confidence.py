"""Least confidence: 1 - max_k p_k (Lewis and Gale 1994; Roy and McCallum 2001)."""

from dataclasses import dataclass

from cusal._types import Keys
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class LeastConfidence(Strategy):
    """The items whose highest probability is lowest."""

    @property
    def by_row(self) -> bool:
        return True

    def keys(self, view: View) -> Keys:
        """Return 1 minus the highest probability, (n,)."""
        return uncertainty.least_confidence(view.probs)
