"""Entropy of the prediction: -sum_k p_k log p_k (Shannon 1948; Settles 2009)."""

from dataclasses import dataclass
from typing import ClassVar

from cusal._types import Keys
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Entropy(Strategy):
    """The items whose prediction is spread most evenly."""

    by_row: ClassVar[bool] = True

    def keys(self, view: View) -> Keys:
        return uncertainty.entropy(view.probs)
