"""The items that the model chooses among: all of a project, or a random sample of many."""

from collections.abc import Iterable

import numpy as np

from cusal._types import Indices
from cusal.apps.label.store.project import Project


class Places:
    """Items of a project by their positions in a session, ids (n,), and the other way round.

    >>> places = Places(np.array([4, 7, 9]))
    >>> places.of([9, 4]), 5 in places, len(places)
    (array([2, 0]), False, 3)
    """

    def __init__(self, ids: Indices) -> None:
        self.ids = np.asarray(ids, dtype=np.int64)
        self._place = {item: place for place, item in enumerate(self.ids.tolist())}

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, item: object) -> bool:
        return item in self._place

    def of(self, items: Iterable[int]) -> Indices:
        """Return the positions of items that are there, in their order."""
        return np.array([self._place[item] for item in items], dtype=np.int64)

    def extended(self, ids: Indices) -> "Places":
        """Return these items and further ones after them."""
        return Places(np.concatenate([self.ids, ids]))


def choose_items(project: Project, most: int | None = None) -> Indices:
    """Return the ids of the items to choose among, ascending: a sample of the usable ones, and those with labels.

    The sample is as large as the settings say, or `most`. Of a million labels that came with the data, as many are
    taken as the sample is large.
    """
    settings = project.settings
    size = min(settings.pool, most or settings.pool)
    usable = project.items.ids("ok")
    if len(usable) <= size:
        return usable
    rng = np.random.default_rng([settings.seed, len(usable)])
    sample = rng.choice(usable, size, replace=False)
    labelled = np.setdiff1d(_labelled(project, usable), sample)
    if len(labelled) > size:
        labelled = rng.choice(labelled, size, replace=False)
    return np.sort(np.concatenate([sample, labelled]))


def find_newcomers(project: Project, places: Places, most: int) -> Indices:
    """Return the ids of at most so many usable items that may join: those with labels, others while there is room."""
    settings = project.settings
    usable = project.items.ids("ok")
    outside = np.setdiff1d(usable, places.ids)
    if len(outside) == 0:
        return outside
    labelled = np.intersect1d(_labelled(project, usable), outside)[:most]
    room = max(0, min(most, settings.pool - len(places)) - len(labelled))
    others = np.setdiff1d(outside, labelled)
    if len(others) > room:
        others = np.random.default_rng([settings.seed, len(usable)]).choice(others, room, replace=False)
    return np.sort(np.concatenate([labelled, others]))


def _labelled(project: Project, usable: Indices) -> Indices:
    return np.intersect1d(np.array(sorted(project.answers.labels()), dtype=np.int64), usable)
