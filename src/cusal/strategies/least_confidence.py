"""Least confidence: 1 - max_k p_k (Lewis and Gale 1994; Roy and McCallum 2001)."""

from dataclasses import dataclass
from typing import ClassVar

from cusal._types import Keys
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class LeastConfidence(Strategy):
    """Take the items whose highest probability is lowest. It has no settings.

    Examples
    --------
    >>> import cusal
    >>> probs = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> cusal.query(probs, batch_size=2, strategy="least_confidence").indices
    array([2, 1])
    """

    for_whom: ClassVar[str] = "two classes, where it equals margin; with more classes margin is better"

    @property
    def by_row(self) -> bool:
        return True

    def keys(self, view: View) -> Keys:
        """Return 1 minus the highest probability, (n,)."""
        return uncertainty.least_confidence(view.probs)
