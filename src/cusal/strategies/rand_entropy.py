"""Rand-Entropy: the highest entropy among items drawn at random.

The two-stage baseline of Bui, Maifeld-Carucci and Liu (2026): k_m = factor * batch_size items drawn
uniformly, then those of highest entropy -sum_k p_k log p_k. Only the drawn items are predicted where the
view can predict some.
"""

from dataclasses import dataclass

from cusal._checks import as_count
from cusal._types import Indices
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy, top_rows
from cusal.strategies._view import View


@dataclass(frozen=True)
class RandEntropy(Strategy):
    """The items whose prediction is spread most evenly, among some drawn at random."""

    factor: int = 10

    def __post_init__(self) -> None:
        as_count(self.factor, "factor")

    def select(self, view: View, batch_size: int) -> Indices:
        drawn = min(self.factor * batch_size, len(view.candidates))
        shortlist = view.rng.choice(view.candidates, drawn, replace=False, shuffle=False)
        return shortlist[top_rows(uncertainty.entropy(view.probs_of(shortlist)), batch_size)]
