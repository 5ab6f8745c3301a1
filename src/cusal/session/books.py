"""The books of a session: which items are open, labelled and skipped, and the labels with their classes."""

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any, Self

from cusal._checks import as_indices
from cusal._types import Indices
from cusal.errors import InvalidInput
from cusal.session.classes import Classes, plain
from cusal.session.pool import LABELLED, OPEN, SKIPPED, Pool


def _in_order(labels: Any, places: Indices) -> Any:
    """Return labels in the order of the items: one label as a list, a mapping by the items' positions."""
    if isinstance(labels, Mapping):
        missing = [i for i in places.tolist() if i not in labels]
        if missing:
            raise InvalidInput(f"the labels have no entry for item {missing[0]}; give one label for each index.")
        return [labels[i] for i in places.tolist()]
    if isinstance(labels, Set):
        raise InvalidInput("labels is a set, which has no order; give a list in the order of the indices.")
    single = isinstance(labels, str) or not hasattr(labels, "__len__") or getattr(labels, "ndim", 1) == 0
    return [labels] if single else labels


class Books:
    """What is known about `size` items; an invalid entry changes nothing.

    >>> books = Books(5)
    >>> books.tell([3, 1], ["dog", "cat"])
    array([3, 1])
    >>> books.labels, books.pool
    ({3: 'dog', 1: 'cat'}, Pool(5 items: 2 labelled, 3 open))
    """

    def __init__(self, size: int, classes: Iterable[Hashable] | None = None) -> None:
        self.pool = Pool(size)
        self.classes = Classes(classes)
        self.labels: dict[int, Hashable] = {}

    def state(self) -> dict[str, Any]:
        """Return the entries by the names that they have in a checkpoint."""
        return {"pool": self.pool, "_classes": self.classes, "_labels": self.labels}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Return the books of a checkpoint."""
        books = cls(0)
        books.pool, books.classes, books.labels = state["pool"], state["_classes"], state["_labels"]
        return books

    def tell(self, indices: Any, labels: Any) -> Indices:
        """Store labels, and return the items' positions; a new label replaces an earlier one."""
        places = as_indices(indices, len(self.pool))
        names = plain(_in_order(labels, places))
        if len(names) != len(places):
            raise InvalidInput(f"told {len(names)} labels for {len(places)} items; give one label for each index.")
        self.classes.add(names)
        self.labels.update(zip(places.tolist(), names, strict=True))
        self.pool.mark(places, LABELLED)
        return places

    def skip(self, indices: Any) -> Indices:
        """Set items aside, and return their positions."""
        places = as_indices(indices, len(self.pool))
        labelled = [i for i in places.tolist() if i in self.labels]
        if labelled:
            raise InvalidInput(f"item {labelled[0]} has a label already; skip only items without, or reopen it first.")
        self.pool.mark(places, SKIPPED)
        return places

    def reopen(self, indices: Any) -> Indices:
        """Undo labels and skips, and return the items' positions."""
        places = as_indices(indices, len(self.pool))
        for i in places.tolist():
            self.labels.pop(i, None)
        self.pool.mark(places, OPEN)
        return places

    @property
    def numbers(self) -> Indices:
        """(labelled,) class numbers of the labelled items, in the order of `pool.labelled`."""
        return self.classes.numbers(self.labels[i] for i in self.pool.labelled.tolist())

    @property
    def ready(self) -> bool:
        """Whether a classifier can be fitted: there are labels of two classes."""
        return len(set(self.labels.values())) >= 2

    @property
    def missing(self) -> str:
        """What is still missing before a classifier can be fitted, as part of a message."""
        if not self.labels:
            return "no item has a label; ask() for a first batch and tell() its labels."
        (only,) = set(self.labels.values())
        return f"all {len(self.labels)} labels are {only!r}, and a classifier needs two classes; tell one of another."
