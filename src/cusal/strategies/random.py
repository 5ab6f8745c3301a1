"""Items drawn uniformly: the baseline that every strategy must beat."""

from dataclasses import dataclass
from typing import ClassVar

from cusal._types import Keys
from cusal.strategies._strategy import Strategy
from cusal.strategies._view import View


@dataclass(frozen=True)
class Random(Strategy):
    """Every open item is equally likely."""

    needs_model: ClassVar[bool] = False
    by_row: ClassVar[bool] = True

    def keys(self, view: View) -> Keys:
        return view.rng.random(len(view.candidates))
