"""Least confidence: 1 - max_k p_k (Lewis and Gale 1994; Roy and McCallum 2001)."""

from dataclasses import dataclass
from typing import ClassVar

from cusal._types import Keys
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class LeastConfidence(Strategy):
    """The items whose highest probability is lowest."""

    by_row: ClassVar[bool] = True

    def keys(self, view: View) -> Keys:
        return uncertainty.least_confidence(view.probs)
