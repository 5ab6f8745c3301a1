"""Where labels come from: which items were drawn at random, and in which round each was asked for.

Items drawn at random are like the pool; picks are not. Estimates for the open items rest on the difference. The
cold start and labels that nobody asked for count as picks.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices


@dataclass
class Origins:
    """The items that were asked for, by position: the round of the asking, and whether they were drawn at random.

    >>> origins = Origins()
    >>> origins.remember(np.array([4, 2]), np.array([False, True]), round_number=3)
    >>> origins.drawn(np.array([2, 4, 5])), origins.age(np.array([2, 5]), 5)
    (array([ True, False, False]), array([2, 0]))
    """

    asked: dict[int, int] = field(default_factory=dict)
    at_random: dict[int, bool] = field(default_factory=dict)

    def remember(self, indices: Indices, drawn: NDArray[np.bool_], round_number: int) -> None:
        """Keep where items come from; an item asked again is what it was asked as last."""
        for index, random in zip(indices.tolist(), drawn.tolist(), strict=True):
            self.asked[index], self.at_random[index] = round_number, random

    def forget(self, indices: Indices) -> None:
        """Drop items, if they are there."""
        for index in indices.tolist():
            self.asked.pop(index, None)
            self.at_random.pop(index, None)

    def drawn(self, indices: Indices) -> NDArray[np.bool_]:
        """Return whether each item was drawn at random, (k,)."""
        return np.array([self.at_random.get(index, False) for index in indices.tolist()], dtype=np.bool_)

    def age(self, indices: Indices, round_number: int) -> Indices:
        """Return how many rounds ago each item was asked for, (k,); 0 where that is not known."""
        return np.array([round_number - self.asked.get(i, round_number) for i in indices.tolist()], dtype=np.int64)


def mark_drawn(session: Any, indices: Indices) -> None:
    """Note that items were drawn uniformly at random by the caller of a session, before or after their labels come."""
    session._honesty.origins.remember(indices, np.ones(len(indices), dtype=np.bool_), session.round)
