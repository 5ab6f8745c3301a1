"""Rand-Entropy: the highest entropy among items drawn at random.

The two-stage baseline of Bui, Maifeld-Carucci and Liu (2026): k_m = factor * batch_size items drawn
uniformly, then those of highest entropy -sum_k p_k log p_k. Where the view can predict some items without
the others, only the drawn ones are predicted.
"""

from dataclasses import dataclass
from typing import ClassVar

from cusal._checks import as_count
from cusal._types import Indices
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy, top_rows
from cusal.strategies._view import View


@dataclass(frozen=True)
class RandEntropy(Strategy):
    """Take the items of highest entropy from a random sample of the pool.

    Parameters
    ----------
    factor : int, default 10
        The sample holds `factor` * batch_size items.

    Examples
    --------
    >>> import cusal
    >>> probs = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> cusal.query(probs, batch_size=2, strategy="rand_entropy").indices
    array([2, 1])
    """

    for_whom: ClassVar[str] = "pools too large to predict whole"

    factor: int = 10

    def __post_init__(self) -> None:
        as_count(self.factor, "factor")

    def select(self, view: View, batch_size: int) -> Indices:
        drawn = min(self.factor * batch_size, len(view.candidates))
        shortlist = view.rng.choice(view.candidates, drawn, replace=False, shuffle=False)
        return shortlist[top_rows(uncertainty.entropy(view.probs_of(shortlist)), batch_size)]
