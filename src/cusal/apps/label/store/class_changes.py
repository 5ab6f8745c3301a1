"""What each change of the classes does, and how it is taken back.

A change is written down as the fields of classes that it replaced and the answers that it moved or took away. Taking it
back restores those, but leaves alone what somebody else has changed since.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sqlalchemy as sa

from cusal.apps.label.store.answer_book import AnswerBook, standing_to_json
from cusal.apps.label.store.prepared import Prepared, insert
from cusal.apps.label.store.records import ACTIONS, ClassChange
from cusal.apps.label.store.schema import ANSWERS, CLASSES
from cusal.apps.label.store.validation import LONGEST_TEXT, checked, checked_colour, checked_key
from cusal.errors import ProjectError, UnknownName

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


@dataclass
class Made:
    """What a change did, as its event remembers it.

    `fields` holds [class id, field, value before, value after], `answers` [item, person, answer before], `effect` what
    became of these answers ("move" or "remove").
    """

    class_id: int | None = None
    fields: list[list[Any]] = field(default_factory=list)
    answers: list[list[Any]] = field(default_factory=list)
    effect: str = "move"

    def payload(self, action: str) -> dict[str, Any]:
        """Return the payload of the event."""
        items = list(dict.fromkeys(item for item, _, _ in self.answers))
        line = {"action": action, "class": self.class_id, "fields": self.fields}
        return line | {"items": items, "before": self.answers, "effect": self.effect}


def make(connection: sa.Connection, change: ClassChange) -> Made:
    """Carry out a change of the classes."""
    if change.action not in ACTIONS:
        raise UnknownName("change of classes", change.action, ACTIONS)
    classes = ClassList(connection)
    return {"add": _add, "edit": _edit, "merge": _merge, "reorder": _reorder, "delete": _delete}[change.action](
        connection, classes, change
    )


def _add(connection: sa.Connection, classes: ClassList, change: ClassChange) -> Made:
    name = _free_name(classes, change.name or "", own=None)
    wanted = _look(classes, change, own=None)
    line = classes.add(connection, [name])[0]
    _set(connection, line.id, wanted)
    return Made(line.id, [[line.id, "state", None, "active"]])


def _edit(connection: sa.Connection, classes: ClassList, change: ClassChange) -> Made:
    line = _active(classes, change.class_id)
    wanted = _look(classes, change, own=line.id)
    if change.name is not None:
        wanted["name"] = _free_name(classes, change.name, own=line.id)
    made = Made(line.id, [[line.id, name, getattr(line, name), value] for name, value in wanted.items()])
    _set(connection, line.id, wanted)
    return made


def _merge(connection: sa.Connection, classes: ClassList, change: ClassChange) -> Made:
    source, target = _active(classes, change.class_id), _active(classes, change.into)
    if source.id == target.id:
        raise ProjectError(f"the class {source.name!r} cannot be merged into itself; choose another.")
    return _end(connection, source, state="merged", into=target.id)


def _delete(connection: sa.Connection, classes: ClassList, change: ClassChange) -> Made:
    line = _active(classes, change.class_id)
    target = None if change.labels_to is None else _active(classes, change.labels_to).id
    if target == line.id:
        raise ProjectError(f"the labels of {line.name!r} cannot stay with the class that is deleted; choose another.")
    return _end(connection, line, state="deleted", into=target)


def _end(connection: sa.Connection, line: ClassLine, *, state: str, into: int | None) -> Made:
    """Take a class out of use; its answers move to another class or are taken away."""
    query = sa.select(ANSWERS.c.item).where(ANSWERS.c["class"] == line.id).distinct().order_by(ANSWERS.c.item)
    items = list(connection.scalars(query))
    made = Made(line.id, [[line.id, "state", "active", state], [line.id, "into", None, into]])
    made.effect = "remove" if into is None else "move"
    _set(connection, line.id, {"state": state, "into": into})
    book = AnswerBook(connection, items)
    for item in items:
        for person, standing in book.of(item).items():
            if standing.class_id == line.id:
                made.answers.append([item, person, standing_to_json(standing)])
                book.put(item, person, None if into is None else standing._replace(class_id=into))
    book.save()
    return made


def _reorder(connection: sa.Connection, classes: ClassList, change: ClassChange) -> Made:
    order = list(change.order or ())
    if Counter(order) != Counter(line.id for line in classes.active):
        raise ProjectError(f"the order {order} does not name each class once; reload the classes and try again.")
    made = Made()
    for place, class_id in enumerate(order):
        line = classes.by_id[class_id]
        if line.place != place:
            made.fields.append([class_id, "place", line.place, place])
            _set(connection, class_id, {"place": place})
    return made


def take_back(connection: sa.Connection, fields: Iterable[list[Any]]) -> None:
    """Restore fields of classes, each where it still is what the change made of it."""
    classes = ClassList(connection)
    for class_id, name, before, after in fields:
        line = classes.by_id[class_id]
        if getattr(line, name) != after:
            continue
        values = {name: "deleted" if name == "state" and before is None else before}
        others = [other for other in classes.active if other.id != class_id]
        names = {other.name for other in others}
        if values == {"state": "active"} and line.name in names:  # somebody has added one of this name meanwhile
            values["name"] = next(new for i in range(2, 10_000) if (new := f"{line.name} ({i})") not in names)
        elif values.get("name") in names or values.get("key", "") in {other.key for other in others if other.key}:
            continue
        _set(connection, class_id, values)


def can_be_taken_back(payload: dict[str, Any], labels: dict[str, int]) -> bool:
    """Return whether a change can be undone: the adding of a class that has labels cannot, they would be lost."""
    return payload["action"] != "add" or not labels.get(str(payload["class"]))


def _look(classes: ClassList, change: ClassChange, *, own: int | None) -> dict[str, Any]:
    """Return the key, colour and description that a change asks for."""
    wanted: dict[str, Any] = {}
    if change.key is not None:
        wanted["key"] = key = checked_key(change.key)
        taken = next((line for line in classes.active if key and line.key == key and line.id != own), None)
        if taken is not None:
            raise ProjectError(f"the key {key!r} belongs to the class {taken.name!r}; choose another.")
    if change.colour is not None:
        wanted["colour"] = checked_colour(change.colour)
    if change.description is not None:
        text = checked("the description", change.description, longest=LONGEST_TEXT, empty=True)
        wanted["description"] = text
    return wanted


def _free_name(classes: ClassList, name: str, *, own: int | None) -> str:
    name = checked("the name of the class", name)
    if any(line.name == name and line.id != own for line in classes.active):
        raise ProjectError(f"there is a class named {name!r} already; choose another name, or merge the two.")
    return name


def _active(classes: ClassList, class_id: int | None) -> ClassLine:
    line = None if class_id is None else classes.by_id.get(class_id)
    if line is None or line.state != "active":
        raise ProjectError(f"there is no class {class_id} any more; reload the classes and choose another.")
    return line


def _set(connection: sa.Connection, class_id: int, values: dict[str, Any]) -> None:
    if values:
        connection.execute(CLASSES.update().where(CLASSES.c.id == class_id).values(values))
