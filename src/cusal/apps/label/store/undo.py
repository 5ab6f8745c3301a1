"""Undo: a person's latest event is taken back by another event, which names it."""

from typing import Any

import sqlalchemy as sa

from cusal.apps.label.store import counters
from cusal.apps.label.store.answer_book import AnswerBook, Standing, standing_from_json, standing_to_json
from cusal.apps.label.store.class_changes import ClassList, can_be_taken_back, take_back
from cusal.apps.label.store.journal import NewEvents, event_of, find_event, items_of
from cusal.apps.label.store.queue import hold
from cusal.apps.label.store.records import Event, Undone
from cusal.apps.label.store.schema import EVENTS
from cusal.apps.label.store.validation import checked, checked_person
from cusal.errors import UnknownName

KINDS = {"labels": ("answer", "labels"), "classes": ("class",)}
HELD = 50  # items of an event; those of a larger one are hardly all on the screen again


def undo_last(connection: sa.Connection, person: str, uuid: str, of: str | None) -> Undone | None:
    """Take back what a person did last, as `Answers.undo` says."""
    if of is not None and of not in KINDS:
        raise UnknownName("kind of steps to undo", of, KINDS)
    person, uuid = checked_person(person), checked("the id of the step", uuid)
    done = find_event(connection, uuid)
    if done is not None:
        known = done.payload
        return _undone(known) if done.kind == "undo" else None
    event = _latest(connection, person, KINDS[of] if of else sum(KINDS.values(), ()))
    if event is None:
        return None
    if event.kind == "class":
        take_back(connection, event.payload["fields"])
    replaced = _restore_answers(connection, event)
    items, events = items_of(event.payload), NewEvents(connection)
    payload = {"undoes": event.id, "kind": event.kind, "items": items, "before": replaced}
    payload |= {name: event.payload.get(name) for name in ("action", "class") if event.kind == "class"}
    step = events.add(uuid, person, "undo", payload)
    events.save()
    connection.execute(EVENTS.update().where(EVENTS.c.id == event.id).values(undone=step.id))
    if event.kind != "class" and len(items) <= HELD:  # the person is looking at them again
        hold(connection, person, items)
    return _undone(payload)


def _undone(payload: dict[str, Any]) -> Undone:
    """Return what a step took back, from the payload of its event."""
    return Undone(
        payload["undoes"], payload["kind"], payload["items"], payload.get("action"), class_id=payload.get("class")
    )


def _latest(connection: sa.Connection, person: str, kinds: tuple[str, ...]) -> Event | None:
    """Return the latest event of a person that can be undone."""
    theirs = sa.and_(EVENTS.c.person == person, EVENTS.c.undone.is_(None), EVENTS.c.kind.in_(kinds))
    query = sa.select(EVENTS).where(theirs).order_by(EVENTS.c.id.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    while row is not None:
        event = event_of(row)
        if event.kind != "class" or can_be_taken_back(event.payload, counters.read(connection, "class")):
            return event
        row = connection.execute(query.where(EVENTS.c.id < event.id)).one_or_none()
    return None


def _restore_answers(connection: sa.Connection, event: Event) -> list[list[Any]]:
    """Put back the answers that an event replaced; return what stood in their place."""
    payload, classes, replaced = event.payload, ClassList(connection), []
    book = AnswerBook(connection, items_of(payload))
    for item, person, values in _before(event):
        before, now = standing_from_json(values), book.of(item).get(person)
        if _is_as_left(event, before, now):
            book.put(item, person, _living(before, classes))
            replaced.append([item, person, standing_to_json(now)])
    book.save()
    return replaced


def _before(event: Event) -> list[list[Any]]:
    """Return [item, person, answer before] for each answer that an event replaced."""
    before: list[list[Any]] | None = event.payload["before"]
    return [[event.payload["item"], event.person, before]] if event.kind == "answer" else before or []


def _is_as_left(event: Event, before: Standing | None, now: Standing | None) -> bool:
    """Return whether an answer is still what the event made of it."""
    effect = event.payload.get("effect", "set")
    if effect == "remove":
        return now is None
    if effect == "move":  # the answer kept its event, only its class is another
        return now is not None and before is not None and now.event == before.event
    return now is not None and now.event == event.id


def _living(standing: Standing | None, classes: ClassList) -> Standing | None:
    """Return an answer with the class that its class has become since; None where there is no such class any more."""
    if standing is None or standing.class_id is None:
        return standing
    living = classes.living(standing.class_id)
    return None if living is None else standing._replace(class_id=living)
