"""Least confidence: 1 - max_k p_k (Lewis and Gale 1994; Roy and McCallum 2001)."""

from dataclasses import dataclass

from cusal import uncertainty
from cusal.strategy import Keys, Strategy
from cusal.view import View


@dataclass(frozen=True)
class LeastConfidence(Strategy):
    """The items whose highest probability is lowest."""

    def keys(self, view: View) -> Keys:
        return uncertainty.least_confidence(view.probs)
