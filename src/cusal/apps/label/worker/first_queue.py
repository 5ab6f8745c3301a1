"""What is asked before there are vectors: items in random order."""

import numpy as np

from cusal._types import Indices
from cusal.apps.label.store.project import Project
from cusal.apps.label.store.records import Pick

LENGTH = 500  # picks: more than people answer while the queue is looked at again
SHORT = 250  # answers after which it is filled again


class FirstQueue:
    """A queue in random order, filled again as people answer it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._filled_at: int | None = None  # the event at which it was last filled
        self._items = 0

    def keep_filled(self) -> None:
        """Fill the queue if it was never filled, runs short, or items were read in since."""
        event, items = self.project.events.latest(), self.project.items.count("ok")
        if self._filled_at is not None and event - self._filled_at < SHORT and items < 2 * max(1, self._items):
            return
        picks = [Pick(item, "random", {"kind": "random"}) for item in self._drawn().tolist()]
        if picks:
            self.project.queue.put(picks, round=0)
        self._filled_at, self._items = event, items

    def _drawn(self) -> Indices:
        done = np.array([*self.project.answers.labels(), *self.project.answers.skipped()], dtype=np.int64)
        free = np.setdiff1d(self.project.items.ids("ok"), done)
        rng = np.random.default_rng([self.project.settings.seed, len(free)])
        return rng.choice(free, min(LENGTH, len(free)), replace=False)
