"""Weighted CUSAL: a weighted mean of calibration error and uncertainty in place of the lexicographic order.

The three combinations that Bui, Maifeld-Carucci and Liu (2026) compare with their order:

    uniform    (c + u) / 2
    adaptive   alpha c + (1 - alpha) u
    scaled     (k alpha c + u) / (k alpha + 1)        alpha = mean of c over the pool

    c      error / 2: the error lies in [0, 2] for every p >= 1, the paper wants alpha in [0, 1]
    u      1 - max_k p_k
    k      `scale`; the paper tries 2 and 3
"""

from dataclasses import dataclass
from typing import Literal, get_args

from cusal._checks import as_positive
from cusal._types import Keys
from cusal.errors import UnknownName
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._calibration_strategy import _CalibrationStrategy
from cusal.strategies._view import View

Combination = Literal["uniform", "adaptive", "scaled"]


@dataclass(frozen=True)
class WeightedCusal(_CalibrationStrategy):
    """The items with the highest weighted mean of estimated calibration error and uncertainty."""

    combination: Combination = "scaled"
    scale: float = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.combination not in get_args(Combination):
            raise UnknownName("combination", self.combination, get_args(Combination))
        as_positive(self.scale, "scale")

    def keys(self, view: View) -> Keys:
        """Return the weighted mean of error and uncertainty of each candidate, (n,)."""
        calibration = self.estimate(view).error / 2
        alpha = float(calibration.mean()) if len(calibration) else 0.0
        match self.combination:
            case "uniform":
                weight = 0.5
            case "adaptive":
                weight = alpha
            case "scaled":
                weight = self.scale * alpha / (self.scale * alpha + 1)
        return weight * calibration + (1 - weight) * uncertainty.least_confidence(view.probs)
