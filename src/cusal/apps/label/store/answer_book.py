"""The answers of some items, and everything that follows from them: labels, counters, what is open in the queue.

Whatever changes answers (an answer, undo, many labels at once, a change of classes) reads the answers of its items into
a book, changes them there one after the other, and saves the book in the transaction of its events. So there is one
place where labels and counters are kept true to the answers.

The label of an item is the class that most people gave it; where several classes have as many, the one among them that
was given last. People disagree where their labels differ.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import sqlalchemy as sa

from cusal.apps.label.store import counters
from cusal.apps.label.store.prepared import Prepared, listed, one_of, upsert
from cusal.apps.label.store.schema import ANSWERS, LABELS, LEASES, QUEUE
from cusal.apps.label.store.settings import OVERLAP
from cusal.apps.label.store.validation import IMPORTED


class Standing(NamedTuple):
    """The present answer of a person to an item."""

    kind: str
    class_id: int | None
    event: int
    at: float
    seconds: float | None


class Label(NamedTuple):
    """The label that follows from the answers of an item."""

    class_id: int
    at: float
    disagree: bool


Answers = dict[str, Standing]  # of one item, by person


def _of(table: sa.Table) -> sa.ColumnElement[bool]:
    return table.c.item == sa.bindparam("of")


def _by(table: sa.Table) -> sa.ColumnElement[bool]:
    return table.c.person == sa.bindparam("by")


_NUMBER = sa.bindparam("number", type_=sa.Integer())
_OF_ITEMS = Prepared(lambda database: sa.select(ANSWERS).where(one_of(database, ANSWERS.c.item, "items")))
_TAKE_AWAY = Prepared(lambda _: ANSWERS.delete().where(_of(ANSWERS), _by(ANSWERS)))
_LOOK_AWAY = Prepared(lambda _: LEASES.delete().where(_of(LEASES), _by(LEASES)))
_OPEN = Prepared(lambda _: LABELS.delete().where(_of(LABELS)))
_COUNT_ANSWERS = Prepared(
    lambda _: QUEUE.update().where(_of(QUEUE)).values(answers=_NUMBER, open=sa.case((_NUMBER < OVERLAP, 1), else_=0))
)


class AnswerBook:
    """The answers of some items in a transaction that is about to change them."""

    def __init__(self, connection: sa.Connection, items: Iterable[int]) -> None:
        self._connection = connection
        self._before: dict[int, Answers] = {item: {} for item in items}
        for item, person, *values in _OF_ITEMS(connection, items=listed(connection, self._before)):
            self._before[item][person] = Standing(*values)
        self._now = {item: dict(answers) for item, answers in self._before.items()}

    def of(self, item: int) -> Answers:
        """Return the answers of an item by person."""
        return dict(self._now[item])

    def put(self, item: int, person: str, standing: Standing | None) -> Standing | None:
        """Replace a person's answer to an item, or take it away; return what it was before."""
        answers = self._now[item]
        former = answers.pop(person, None)
        if standing is not None:
            answers[person] = standing
        return former

    def save(self) -> None:
        """Write what has changed, with the labels, counters and places in the queue that follow from it."""
        changed = [item for item, answers in self._now.items() if answers != self._before[item]]
        deltas: counters.Deltas = Counter()
        for item in changed:
            _count(deltas, self._before[item], -1)
            _count(deltas, self._now[item], 1)
        self._save_answers(changed)
        self._save_labels(changed)
        self._save_queue(changed)
        counters.add(self._connection, deltas)

    def _save_answers(self, changed: list[int]) -> None:
        gone, rows = [], []
        for item in changed:
            before, now = self._before[item], self._now[item]
            gone += [{"of": item, "by": person} for person in before if person not in now]
            for person, standing in now.items():
                if before.get(person) != standing:
                    rows.append((item, person, *standing))
        if gone:
            _TAKE_AWAY.many(self._connection, gone)
        upsert(self._connection, ANSWERS, rows)
        done = [{"of": item, "by": person} for item, person, *_ in rows if person != IMPORTED]
        if done:  # who has answered is no longer looking
            _LOOK_AWAY.many(self._connection, done)

    def _save_labels(self, changed: list[int]) -> None:
        gone, rows = [], []
        for item in changed:
            before, now = label_of(self._before[item]), label_of(self._now[item])
            if now is None and before is not None:
                gone.append({"of": item})
            elif now is not None and now != before:
                rows.append((item, *now))
        if gone:
            _OPEN.many(self._connection, gone)
        upsert(self._connection, LABELS, rows)

    def _save_queue(self, changed: list[int]) -> None:
        other = [item for item in changed if len(self._now[item]) != len(self._before[item])]
        if other:
            _COUNT_ANSWERS.many(self._connection, [{"of": item, "number": len(self._now[item])} for item in other])


def label_of(answers: Answers) -> Label | None:
    """Return the label that follows from the answers of an item, or None where nobody labelled it."""
    given = [standing for standing in answers.values() if standing.class_id is not None]
    if not given:
        return None
    votes = Counter(standing.class_id for standing in given)
    most = max(votes.values())
    last = max((standing for standing in given if votes[standing.class_id] == most), key=lambda one: one.event)
    assert last.class_id is not None
    return Label(last.class_id, last.at, len(votes) > 1)


def work_of(answers: Answers) -> str | None:
    """Return what was made of an item: "labelled", "unsure", "skipped", or None where nobody answered."""
    kinds = {standing.kind for standing in answers.values()}
    if "label" in kinds:
        return "labelled"
    return "unsure" if "unsure" in kinds else "skipped" if kinds else None


def _count(deltas: counters.Deltas, answers: Answers, sign: int) -> None:
    work, label = work_of(answers), label_of(answers)
    if work is not None:
        deltas["work", work] += sign
    if label is not None:
        deltas["class", str(label.class_id)] += sign
    for person, standing in answers.items():
        if standing.kind == "label":
            deltas["person", person] += sign


def standing_to_json(standing: Standing | None) -> list[Any] | None:
    """Return an answer as it is kept in the payload of the event that replaced it."""
    return None if standing is None else list(standing)


def standing_from_json(values: list[Any] | None) -> Standing | None:
    """Return the answer that `standing_to_json` wrote."""
    return None if values is None else Standing(*values)
