"""Answers: what people said of items, and the labels that follow from it."""

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import sqlalchemy as sa

from cusal.apps.label.store import counters
from cusal.apps.label.store.agreement import agreement_of
from cusal.apps.label.store.answer_book import AnswerBook, Standing, standing_to_json
from cusal.apps.label.store.class_changes import ClassList
from cusal.apps.label.store.connection import Part, among
from cusal.apps.label.store.journal import NewEvents, known_uuids
from cusal.apps.label.store.known_labels import take_in
from cusal.apps.label.store.prepared import Prepared, listed, one_of
from cusal.apps.label.store.records import ANSWERS as KINDS
from cusal.apps.label.store.records import Answer, Outcome, Undone
from cusal.apps.label.store.schema import ANSWERS, EVENTS, ITEMS, LABELS
from cusal.apps.label.store.settings import read_setting
from cusal.apps.label.store.undo import undo_last
from cusal.apps.label.store.validation import checked, checked_person, fault, person_fault
from cusal.errors import ProjectError

CHUNK = 5_000  # labels taken in at a time

_EXISTING = Prepared(lambda database: sa.select(ITEMS.c.id).where(one_of(database, ITEMS.c.id, "ids")))


class Answers(Part):
    """The answers of all people, and what follows from them."""

    def store(self, answers: Sequence[Answer]) -> list[Outcome]:
        """Store answers in their order, in one transaction.

        An answer replaces the one that the same person gave to the same item before. One that was stored already, by
        its uuid, is not stored again. A label of a class that was merged meanwhile goes to the class it was merged
        into.

        Parameters
        ----------
        answers : sequence of Answer

        Returns
        -------
        list of Outcome
            One for each answer, in order. An answer that cannot be stored (no such item or class) does not keep the
            others from being stored.
        """
        if not answers:
            return []
        with self._writing() as connection:
            done = known_uuids(connection, [answer.uuid for answer in answers if fault(answer.uuid) is None])
            if done.issuperset(answer.uuid for answer in answers):
                return [Outcome(answer.uuid, True) for answer in answers]
            items = existing(connection, [answer.item for answer in answers])
            classes, book, events = ClassList(connection), AnswerBook(connection, items), NewEvents(connection)
            outcomes = []
            for answer in answers:
                reason = None if answer.uuid in done else _refusal(answer, items, classes)
                if reason is None and answer.uuid not in done:
                    _store(answer, classes.living(answer.class_id), book=book, events=events)
                    done.add(answer.uuid)
                outcomes.append(Outcome(answer.uuid, reason is None, reason))
            events.save()
            book.save()
        return outcomes

    def labels(self, items: Iterable[int] | None = None) -> dict[int, int]:
        """Return the class id of every item with a label, or of those among some items.

        Parameters
        ----------
        items : iterable of int, optional
            By default all.

        Returns
        -------
        dict of int to int
            In the order of the items' ids.
        """
        query = sa.select(LABELS.c.item, LABELS.c["class"]).order_by(LABELS.c.item)
        with self._reading() as connection:
            if items is not None:
                query = query.where(among(connection, LABELS.c.item, [int(item) for item in items]))
            return {row[0]: row[1] for row in connection.execute(query)}

    def label_counts(self) -> dict[int, int]:
        """Return the number of items with each label, by class id.

        Returns
        -------
        dict of int to int
            Classes without labels are left out.
        """
        with self._reading() as connection:
            return {int(name): value for name, value in counters.read(connection, "class").items() if value}

    def given(self, items: Iterable[int] | None = None, person: str | None = None) -> list[Answer]:
        """Return the present answers, of some items or of one person, oldest first.

        Parameters
        ----------
        items : iterable of int, optional
            By default those to every item.
        person : str, optional
            By default those of everybody.

        Returns
        -------
        list of Answer
        """
        with self._reading() as connection:
            query = _answers().order_by(ANSWERS.c.event)
            if items is not None:
                query = query.where(among(connection, ANSWERS.c.item, [int(item) for item in items]))
            if person is not None:
                query = query.where(ANSWERS.c.person == person)
            return [Answer(*row) for row in connection.execute(query)]

    def history(self, person: str, count: int = 200) -> list[Answer]:
        """Return a person's latest answers that still stand, newest first.

        Parameters
        ----------
        person : str
            Whose.
        count : int
            The largest number of answers.

        Returns
        -------
        list of Answer
        """
        query = _answers().where(ANSWERS.c.person == person).order_by(ANSWERS.c.event.desc()).limit(count)
        with self._reading() as connection:
            return [Answer(*row) for row in connection.execute(query)]

    def skipped(self) -> list[int]:
        """Return the items that nobody labelled and somebody passed over as "skip" or "unsure", ascending.

        Returns
        -------
        list of int
        """
        unlabelled = ANSWERS.outerjoin(LABELS, ANSWERS.c.item == LABELS.c.item)
        passed = sa.and_(ANSWERS.c.kind != "label", LABELS.c.item.is_(None))
        query = sa.select(ANSWERS.c.item).select_from(unlabelled).where(passed).distinct().order_by(ANSWERS.c.item)
        with self._reading() as connection:
            return list(connection.scalars(query))

    def progress(self) -> dict[str, Any]:
        """Return how far the work is.

        Returns
        -------
        dict
            `items` (those that can be labelled), `aside` (those that are missing or broken), `labelled`, `skipped` and
            `unsure` items, the `budget` of labels or None, and `by_person`, the number of labels that each person gave.
        """
        with self._reading() as connection:
            items, work = counters.read(connection, "items"), counters.read(connection, "work")
            people = counters.read(connection, "person")
            budget = read_setting(connection, "budget")
        done = {name: work.get(name, 0) for name in ("labelled", "skipped", "unsure")}
        by_person = {name: value for name, value in people.items() if value}
        usable = items.get("ok", 0)
        aside = sum(items.values()) - usable
        return {"items": usable, "aside": aside, **done, "budget": budget, "by_person": by_person}

    def import_labels(self, labels: Iterable[tuple[str, str]]) -> int:
        """Take in labels from elsewhere as answers of the person "import"; missing classes are added.

        A label that was taken in before is left alone, also if somebody has changed or removed it since. Keys of
        which the project has no item are passed over.

        Parameters
        ----------
        labels : iterable of (str, str)
            Keys of items and names of classes.

        Returns
        -------
        int
            The number of labels that were new.
        """
        stored, rest = 0, iter(labels)
        while chunk := dict(islice(rest, CHUNK)):
            with self._writing() as connection:
                stored += take_in(connection, chunk)
        return stored

    def undo(self, person: str, uuid: str, *, of: str | None = None) -> Undone | None:
        """Take back what a person did last: an answer, labels of many items, or a change of the classes.

        What was before is restored, as far as nobody else has changed it since. Events that were undone are passed
        over, so that calling again goes back further. The adding of a class that has labels by now is passed over too.

        Parameters
        ----------
        person : str
            Who wants to step back; events of others are not touched.
        uuid : str
            Of this step; one that is known already returns what it did.
        of : str, optional
            "labels" passes over changes of the classes, "classes" everything else. By default the latest event of any
            kind is taken back.

        Returns
        -------
        Undone or None
            None where there is nothing to undo.

        Raises
        ------
        UnknownName
            If `of` is neither "labels" nor "classes".
        """
        with self._writing() as connection:
            return undo_last(connection, person, uuid, of)

    def agreement(self) -> dict[str, Any]:
        """Return how far people agree on the items that several of them labelled.

        Returns
        -------
        dict
            `items` with two labels or more and how many of these are `disagreements`, Krippendorff's `alpha`, `pairs`
            of people (`people`, `items` in common, share of `agreement`, Cohen's `kappa`), and for each of `people`
            the `items` that others labelled too and the share of `agreement` with the majority of the others. Figures
            that nothing can be told about are None.
        """
        with self._reading() as connection:
            return agreement_of(connection)

    def label_many(self, uuid: str, person: str, items: Iterable[int], class_id: int | None) -> int:
        """Label many items at once, or take their labels away, in one event.

        Parameters
        ----------
        uuid : str
            Of the event; one that is known already changes nothing.
        person : str
            Who does it. The labels become this person's answers.
        items : iterable of int
        class_id : int or None
            None takes away every answer to these items, whoever gave it, so that they are open again.

        Returns
        -------
        int
            The number of the event.

        Raises
        ------
        ProjectError
            If there is no such item or class.
        """
        items = list(dict.fromkeys(int(item) for item in items))
        person, uuid = checked_person(person), checked("the id of the change", uuid)
        with self._writing() as connection:
            known = connection.scalar(sa.select(EVENTS.c.id).where(EVENTS.c.uuid == uuid))
            if known is not None:
                return int(known)
            missing = set(items) - existing(connection, items)
            if missing:
                raise ProjectError(f"there is no item {min(missing)} in this project; nothing was labelled.")
            living = ClassList(connection).living(class_id)
            if class_id is not None and living is None:
                raise ProjectError(f"there is no class {class_id} any more; reload the classes and choose another.")
            book, events = AnswerBook(connection, items), NewEvents(connection)
            people = {item: [person] if class_id is not None else list(book.of(item)) for item in items}
            before = [(item, who, book.of(item).get(who)) for item in items for who in people[item]]
            effect = "remove" if living is None else "set"
            lines = [[item, who, standing_to_json(standing)] for item, who, standing in before]
            event = events.add(
                uuid, person, "labels", {"items": items, "class": living, "before": lines, "effect": effect}
            )
            for item, who, _ in before:
                new = None if living is None else Standing("label", living, event.id, event.at, None)
                book.put(item, who, new)
            events.save()
            book.save()
        return event.id


def existing(connection: sa.Connection, items: Iterable[int]) -> set[int]:
    """Return those items that the project has."""
    possible = [item for item in items if 0 <= item < 2**63]
    return {row[0] for row in _EXISTING(connection, ids=listed(connection, possible))}


def _answers() -> sa.Select[Any]:
    """The columns of an `Answer`, in its order."""
    given = ANSWERS.join(EVENTS, ANSWERS.c.event == EVENTS.c.id)
    columns = (ANSWERS.c.item, ANSWERS.c.person, ANSWERS.c.kind, ANSWERS.c["class"], ANSWERS.c.at, ANSWERS.c.seconds)
    return sa.select(EVENTS.c.uuid, *columns).select_from(given)


def _store(answer: Answer, class_id: int | None, *, book: AnswerBook, events: NewEvents) -> None:
    former = book.of(answer.item).get(answer.person)
    payload = {"item": answer.item, "kind": answer.kind, "class": class_id, "seconds": answer.seconds}
    payload["before"] = standing_to_json(former)
    event = events.add(answer.uuid, answer.person, "answer", payload, at=answer.at)
    book.put(answer.item, answer.person, Standing(answer.kind, class_id, event.id, event.at, answer.seconds))


def _refusal(answer: Answer, items: set[int], classes: ClassList) -> str | None:
    """Return why an answer cannot be stored, or None if it can."""
    for what, reason in (("id of the answer", fault(answer.uuid)), ("name of the person", person_fault(answer.person))):
        if reason is not None:
            return f"the {what} {reason}"
    if answer.item not in items:
        return f"there is no item {answer.item} in this project"
    if not all(value is None or math.isfinite(value) for value in (answer.at, answer.seconds)):
        return "times are finite numbers"
    if answer.kind not in KINDS:
        return f"an answer is one of {', '.join(KINDS)}, not {answer.kind!r}"
    if answer.kind != "label":
        return None if answer.class_id is None else f"an answer of kind {answer.kind!r} has no class"
    if classes.living(answer.class_id) is None:
        line = classes.by_id.get(-1 if answer.class_id is None else answer.class_id)
        return "a label needs a class" if line is None else f"the class {line.name!r} was deleted"
    return None
