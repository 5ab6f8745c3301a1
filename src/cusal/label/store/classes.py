"""The classes of a project: added, changed, merged, put in order and deleted, each by an event that can be undone."""

from cusal.label.store import counters
from cusal.label.store.class_list import ClassList
from cusal.label.store.connection import Connected
from cusal.label.store.records import LabelClass


class Classes(Connected):
    """What items can be labelled with."""

    def classes(self) -> list[LabelClass]:
        """Return the active classes in order, each with the number of items that are labelled with it."""
        with self._reading() as connection:
            lines, labels = ClassList(connection).active, counters.read(connection, "class")
        return [LabelClass(*line[:6], labels=labels.get(str(line.id), 0)) for line in lines]
