"""Margin: the difference between the two highest probabilities, smallest first (Scheffer et al. 2001)."""

from dataclasses import dataclass
from typing import ClassVar

from cusal._types import Keys
from cusal.strategies import _uncertainty as uncertainty
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Margin(Strategy):
    """Take the items whose two highest probabilities are closest together. It has no settings.

    Examples
    --------
    >>> import cusal
    >>> probs = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> cusal.query(probs, batch_size=2, strategy="margin").indices
    array([2, 1])
    """

    for_whom: ClassVar[str] = (
        "single picks, pools in files and models without embeddings: simple, fast and hard to beat"
    )

    @property
    def by_row(self) -> bool:
        return True

    def keys(self, view: View) -> Keys:
        """Return 1 minus the difference between the two highest probabilities, (n,)."""
        return uncertainty.margin(view.probs)
