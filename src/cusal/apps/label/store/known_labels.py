"""Labels that the data bring along: answers of the person "import", stored once however often they are read."""

import json
import uuid
from collections.abc import Mapping

import sqlalchemy as sa

from cusal.apps.label.store.answer_book import AnswerBook, Standing, standing_to_json
from cusal.apps.label.store.class_changes import ClassList
from cusal.apps.label.store.connection import among
from cusal.apps.label.store.journal import NewEvents, known_uuids
from cusal.apps.label.store.schema import EVENTS, ITEMS
from cusal.apps.label.store.validation import IMPORTED


def take_in(connection: sa.Connection, labels: Mapping[str, str]) -> int:
    """Store labels (class names by key) in a transaction; return how many were new."""
    labels = {key: name.strip() for key, name in labels.items() if name.strip()}
    if not labels:
        return 0
    uuids = {key: _uuid(key, name) for key, name in labels.items()}
    done = known_uuids(connection, uuids.values())
    labels = {key: name for key, name in labels.items() if uuids[key] not in done}
    query = sa.select(ITEMS.c.key, ITEMS.c.id).where(among(connection, ITEMS.c.key, labels))
    ids = {row[0]: row[1] for row in connection.execute(query)}
    if not ids:
        return 0
    classes, events, book = (
        _classes(connection, labels, ids),
        NewEvents(connection),
        AnswerBook(connection, ids.values()),
    )
    for key in labels:
        if key in ids:
            payload = {"item": ids[key], "kind": "label", "class": classes[labels[key]]}
            former = book.of(ids[key]).get(IMPORTED)
            event = events.add(uuids[key], IMPORTED, "import", payload | {"before": standing_to_json(former)})
            book.put(ids[key], IMPORTED, Standing("label", classes[labels[key]], event.id, event.at, None))
    events.save()
    book.save()
    return len(ids)


def _classes(connection: sa.Connection, labels: Mapping[str, str], ids: Mapping[str, int]) -> dict[str, int]:
    """Return the class of each name, which may since have been renamed or merged; those of new names are added."""
    classes = ClassList(connection)
    found = {line.name: line.id for line in classes.active}
    names = {labels[key] for key in ids}
    if not names <= found.keys():
        former = [(line.name, line.id) for line in classes.by_id.values()]
        for name, class_id in [*former, *_renamed(connection)]:
            living = classes.living(class_id)
            if living is not None:
                found.setdefault(name, living)
    for line in classes.add(connection, sorted(names - found.keys(), key=natural)):
        found[line.name] = line.id
    return found


def _renamed(connection: sa.Connection) -> list[tuple[str, int]]:
    """Return the former names of classes, latest first."""
    query = sa.select(EVENTS.c.payload).where(EVENTS.c.kind == "class", EVENTS.c.undone.is_(None))
    payloads = map(json.loads, connection.scalars(query.order_by(EVENTS.c.id.desc())))
    changes = (change for payload in payloads for change in payload["fields"])
    return [(before, class_id) for class_id, field, before, _ in changes if field == "name"]


def natural(name: str) -> tuple[int, float, str]:
    """Order 2 before 10, and numbers before words."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def _uuid(key: str, name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"cusal import\0{key}\0{name}"))
