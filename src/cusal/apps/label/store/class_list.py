"""The classes as a transaction finds them, and what became of those that were merged or deleted."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import sqlalchemy as sa

from cusal.apps.label.store.prepared import Prepared, insert
from cusal.apps.label.store.schema import CLASSES

# Told apart on white and on black, also by most people who see colours differently; they repeat after twelve classes.
COLOURS = (
    *("#3b6fd4", "#d9822b", "#2f9e6e", "#c4455c", "#7e5bc2", "#1f9bb3"),
    *("#b0862c", "#b54a9c", "#5f8f2f", "#5b6b7f", "#a8623e", "#4f57a6"),
)


_ALL = Prepared(lambda _: sa.select(CLASSES).order_by(CLASSES.c.place, CLASSES.c.id))


class ClassLine(NamedTuple):
    """A line of the table of classes."""

    id: int
    name: str
    place: int
    key: str | None
    colour: str
    description: str
    state: str
    into: int | None


class ClassList:
    """All classes that there ever were."""

    def __init__(self, connection: sa.Connection) -> None:
        self.by_id = {row[0]: ClassLine(*row) for row in _ALL(connection)}

    @property
    def active(self) -> list[ClassLine]:
        """The classes in use, in order of their places."""
        return [line for line in self.by_id.values() if line.state == "active"]

    def living(self, class_id: int | None) -> int | None:
        """Return the active class that holds the labels of a class now; None where there is none."""
        while class_id is not None:
            line = self.by_id.get(class_id)
            if line is None or line.state == "active":
                return None if line is None else class_id
            class_id = line.into
        return None

    def add(self, connection: sa.Connection, names: Iterable[str]) -> list[ClassLine]:
        """Add classes behind the others, each with the colour that is used least."""
        used = Counter(line.colour for line in self.active)
        place = max((line.place for line in self.active), default=-1) + 1
        lines = []
        for name in names:
            colour = min(COLOURS, key=lambda one: used[one])
            used[colour] += 1
            line = ClassLine(len(self.by_id), name, place, None, colour, "", "active", None)
            self.by_id[line.id] = line
            lines.append(line)
            place += 1
        if lines:
            insert(connection, CLASSES, lines)
        return lines
