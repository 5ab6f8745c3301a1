"""The events of a project: written once each, in the order in which they took place."""

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from cusal.apps.label.store.answer_book import AnswerBook, label_of, work_of
from cusal.apps.label.store.connection import Part, next_id
from cusal.apps.label.store.prepared import Prepared, insert, listed, one_of
from cusal.apps.label.store.records import Changes, Event
from cusal.apps.label.store.schema import EVENTS

_KNOWN = Prepared(lambda database: sa.select(EVENTS.c.uuid).where(one_of(database, EVENTS.c.uuid, "uuids")))
_to_json = json.JSONEncoder(separators=(",", ":")).encode


class NewEvents:
    """Events that a transaction is about to write; their numbers are known at once."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self._next = max(next_id(connection, EVENTS), 1)  # 0 is the time before the first event
        self._rows: list[tuple[Any, ...]] = []
        self._now = time.time()

    def add(self, uuid: str, person: str, kind: str, payload: dict[str, Any], *, at: float | None = None) -> Event:
        """Take up an event, at present unless its time is given."""
        event = Event(self._next, uuid, person, self._now if at is None else at, kind, payload)
        self._next += 1
        line = (event.id, uuid, person, event.at, kind, _to_json(payload), None)
        self._rows.append(line)
        return event

    def save(self) -> None:
        """Write the events."""
        insert(self._connection, EVENTS, self._rows)


def known_uuids(connection: sa.Connection, uuids: Iterable[str]) -> set[str]:
    """Return those of some uuids that events already have."""
    return {row[0] for row in _KNOWN(connection, uuids=listed(connection, uuids))}


def find_event(connection: sa.Connection, uuid: str) -> Event | None:
    """Return the event of a uuid, or None."""
    row = connection.execute(sa.select(EVENTS).where(EVENTS.c.uuid == uuid)).one_or_none()
    return None if row is None else event_of(row)


def event_of(row: Sequence[Any]) -> Event:
    """Return a line of the table as an event."""
    number, uuid, person, at, kind, payload, undone = row
    return Event(number, uuid, person, at, kind, json.loads(payload), undone)


def items_of(payload: dict[str, Any]) -> list[int]:
    """Return the items whose answers an event changed."""
    return [payload["item"]] if "item" in payload else payload.get("items", [])


class Events(Part):
    """What took place in a project."""

    def latest(self) -> int:
        """Return the number of the latest event, 0 before the first.

        Returns
        -------
        int
        """
        with self._reading() as connection:
            return _latest(connection)

    def changes_since(self, event: int) -> Changes:
        """Return what became of the items that were answered, changed or opened after an event.

        An item that changed several times appears once, as it is now. One whose label was taken away or undone is
        among the opened ones, also if it had no label at the time of `event`.

        Parameters
        ----------
        event : int
            The number of an event, such as `Changes.event` of the previous call; 0 for everything.

        Returns
        -------
        Changes
            Items with a label and its class id, items that are open again, items that were only passed over.
        """
        with self._reading() as connection:
            latest = _latest(connection)
            if latest <= event:
                return Changes(latest, {}, [], [])
            payloads = connection.scalars(sa.select(EVENTS.c.payload).where(EVENTS.c.id > event).order_by(EVENTS.c.id))
            items = dict.fromkeys(item for payload in payloads for item in items_of(json.loads(payload)))
            book = AnswerBook(connection, items)
        changes = Changes(latest, {}, [], [])
        for item in items:
            answers = book.of(item)
            label = label_of(answers)
            if label is not None:
                changes.labelled[item] = label.class_id
            else:
                (changes.opened if work_of(answers) is None else changes.skipped).append(item)
        return changes

    def find(
        self, kind: str | None = None, person: str | None = None, before: int | None = None, count: int = 100
    ) -> list[Event]:
        """Return what was done, newest first.

        Parameters
        ----------
        kind : str, optional
            "answer", "labels" (many at once), "class" or "undo"; by default all.
        person : str, optional
            Who did it; by default anybody.
        before : int, optional
            Only events with a smaller number, to read on from there.
        count : int
            The largest number of events.

        Returns
        -------
        list of Event
        """
        query = sa.select(EVENTS).order_by(EVENTS.c.id.desc()).limit(count)
        if kind is not None:
            query = query.where(EVENTS.c.kind == kind)
        if person is not None:
            query = query.where(EVENTS.c.person == person)
        if before is not None:
            query = query.where(EVENTS.c.id < before)
        with self._reading() as connection:
            return [event_of(row) for row in connection.execute(query)]


def _latest(connection: sa.Connection) -> int:
    return max(next_id(connection, EVENTS) - 1, 0)
