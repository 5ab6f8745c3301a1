"""Items drawn uniformly: the baseline that every strategy must beat."""

from dataclasses import dataclass
from typing import ClassVar

from cusal._types import Keys
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Random(Strategy):
    """Take items at random: every open item is equally likely. It needs no model and has no settings.

    Examples
    --------
    >>> import cusal
    >>> probs = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]
    >>> len(cusal.query(probs, batch_size=2, strategy="random"))
    2
    """

    for_whom: ClassVar[str] = "unbiased estimates of accuracy, an audit, and as the baseline of every comparison"

    needs_model: ClassVar[bool] = False

    @property
    def by_row(self) -> bool:
        return True

    def keys(self, view: View) -> Keys:
        """Return a random number for each candidate, (n,)."""
        return view.rng.random(len(view.candidates))
