"""Entropy of the prediction: -sum_k p_k log p_k (Shannon 1948; Settles 2009)."""

from dataclasses import dataclass
from typing import ClassVar

from cusal._types import Keys
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Entropy(Strategy):
    """Take the items whose predicted probabilities have the highest entropy. It has no settings.

    Examples
    --------
    >>> import cusal
    >>> probs = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> cusal.query(probs, batch_size=2, strategy="entropy").indices
    array([2, 1])
    """

    for_whom: ClassVar[str] = (
        "two classes, where it equals margin; with many classes and a light model worse than random items"
    )

    @property
    def by_row(self) -> bool:
        return True

    def keys(self, view: View) -> Keys:
        """Return the entropy of each prediction, (n,)."""
        return uncertainty.entropy(view.probs)
