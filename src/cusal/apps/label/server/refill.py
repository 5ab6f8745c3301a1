"""What is asked when the queue runs dry: the worker fills it for a few people, and more may come.

The model's predictions of the last round are in memory: those with the smallest margin come first, with the share of
random checks that the settings name among them. Before there is a model, items are drawn at random. In an audit the
margin is the place in its order, and nothing is drawn.
"""

import threading
import time
from collections.abc import Sequence

import numpy as np

from cusal.apps.label.server.predictions import Predictions
from cusal.apps.label.store import Pick, Project
from cusal.apps.label.store.queue import with_checks

LENGTH = 200  # picks that are added at a time
CANDIDATES = 2_000  # looked at in one step: many of them may be answered
PAUSE = 1.0  # seconds until the next attempt, when there was nothing to add


class Refill:
    """Adds picks to the end of a queue that is too short for all who ask.

    Parameters
    ----------
    project : Project
        Whose queue it is.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._task = project.task
        self._rng = np.random.default_rng([project.settings.seed, 1])
        self._lock = threading.Lock()
        self._barren_until = 0.0
        self._round, self._place = -1, 0  # how far the order of the last round was gone through

    def next_picks(
        self, person: str, count: int, exclude: Sequence[int], predictions: Predictions, number: int
    ) -> list[Pick]:
        """Return the next items for a person; if there are too few, from a longer queue.

        Parameters
        ----------
        person : str
            Who asks.
        count : int
            The largest number of items.
        exclude : sequence of int
            Items that the person has already.
        predictions : Predictions
            Of the last round.
        number : int
            The number of the last round.

        Returns
        -------
        list of Pick
        """
        picks = self.project.queue.next_picks(person, count, exclude=exclude)
        if len(picks) < count and self._lengthen(predictions, number):
            more = [*exclude, *(pick.item for pick in picks)]
            picks += self.project.queue.next_picks(person, count - len(picks), exclude=more)
        return picks

    def _lengthen(self, predictions: Predictions, number: int) -> bool:
        with self._lock:
            if time.monotonic() < self._barren_until:
                return False
            added = self._add_by_margin(predictions, number)
            if not added and self._task.learns:
                added = self._add_at_random(number)
            if not added:
                self._round, self._barren_until = -1, time.monotonic() + PAUSE
            return added > 0

    def _add_by_margin(self, predictions: Predictions, number: int) -> int:
        """Add the undecided items that come next; those gone through before are in the queue, or answered."""
        if number != self._round:
            self._round, self._place = number, 0
        added = 0
        while not added and self._place < len(predictions):
            rows = predictions.by_margin[self._place : self._place + CANDIDATES]
            columns = (predictions.items, predictions.top, predictions.second)
            picks = [
                Pick(item, *self._task.in_reserve(top, second))
                for item, top, second in zip(*(column[rows].tolist() for column in columns), strict=True)
            ]
            if self._task.learns:
                checks = self._rng.choice(predictions.items, round(self.project.settings.audit * len(picks)))
                picks = with_checks(picks, checks.tolist(), self._rng)
            added = self.project.queue.lengthen(picks, round=number, most=LENGTH)
            if added < LENGTH:
                self._place += len(rows)
        return added

    def _add_at_random(self, number: int) -> int:
        total = self.project.items.count()
        drawn = self._rng.permutation(total) if total <= CANDIDATES else self._rng.integers(0, total, CANDIDATES)
        picks = [Pick(item, "random", {"kind": "random"}) for item in drawn.tolist()]
        return self.project.queue.lengthen(picks, round=number, most=LENGTH)
