"""Lists of items: found by label, prediction, person or words, in some order, a page at a time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from cusal._types import Indices
from cusal.apps.label.store import counters
from cusal.apps.label.store.connection import Database, Part, among
from cusal.apps.label.store.items import item_of
from cusal.apps.label.store.predictions import Predictions
from cusal.apps.label.store.records import Item
from cusal.apps.label.store.rounds import Rounds
from cusal.apps.label.store.schema import ANSWERS, ITEMS, LABELS
from cusal.apps.label.store.validation import is_unicode
from cusal.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Filter:
    """Which items to list; None leaves a condition out.

    Parameters
    ----------
    label, prediction : int or None
        The class that people or the model gave.
    confidence_low, confidence_high : float or None
        Bounds of the confidence of the prediction.
    person : str or None
        Somebody who answered.
    kind : str or None
        An answer of this kind ("label", "skip", "unsure"), by anybody, or by `person`.
    disagree : bool or None
        Whether people gave different labels.
    text : str or None
        Words to find in the text or the key.
    labelled : bool or None
        Whether there is a label.
    aside : bool or None
        Whether the item is set aside, because its file is missing or broken.
    order : str
        "id", "confidence" (least sure first), "recent" (latest label first) or "disagree" (those first).

    Examples
    --------
    >>> from cusal.apps.label import Filter
    >>> Filter(prediction=2, confidence_low=0.9, labelled=False).order
    'id'
    """

    label: int | None = None
    prediction: int | None = None
    confidence_low: float | None = None
    confidence_high: float | None = None
    person: str | None = None
    kind: str | None = None
    disagree: bool | None = None
    text: str | None = None
    labelled: bool | None = None
    aside: bool | None = None
    order: str = "id"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a list of items.

    Parameters
    ----------
    item : Item
        The item.
    label : int or None
        The class that people gave it.
    prediction : int or None
        The class that the model gives it.
    confidence : float or None
        The probability of that class.
    people : tuple of str
        Who answered, first one first.
    disagree : bool
        Whether their labels differ.
    kind : str or None
        What the last of them answered: "label", "skip" or "unsure".
    """

    item: Item
    label: int | None
    prediction: int | None
    confidence: float | None
    people: tuple[str, ...]
    disagree: bool
    kind: str | None = None


ORDERS = ("id", "confidence", "recent", "disagree")
COUNTED = 2_000  # items that are looked for beyond a page to know how many there are


class Browse(Part):
    """Every item of a project, as people look for it.

    Parameters
    ----------
    database : Database
    rounds : Rounds
        Whose last predictions items are found by.
    """

    def __init__(self, database: Database, rounds: Rounds) -> None:
        super().__init__(database)
        self._rounds = rounds

    def rows(self, filter: Filter, *, after: int = 0, count: int = 50) -> tuple[list[Row], int]:
        """Return a page of the items that meet all conditions of a filter.

        Parameters
        ----------
        filter : Filter
            The conditions and the order. Conditions on predictions, and the order by confidence, list items with a
            prediction alone; the orders "recent" and "disagree" list items with a label alone. Words are found in
            texts and keys in any order; on SQLite, letters other than a to z are told apart by case.
        after : int
            How many of these items to pass over, such as the number on the pages before.
        count : int
            The size of the page.

        Returns
        -------
        rows : list of Row
        total : int
            How many items meet the filter, estimated where there are thousands.
        """
        if filter.order not in ORDERS:
            raise UnknownName("order of items", filter.order, ORDERS)
        predictions = self._rounds.predictions()
        with self._reading() as connection:
            if _asks_for_predictions(filter):
                chosen = np.empty(0, np.int64) if predictions is None else _by_prediction(predictions, filter)
                found = _meeting(connection, filter, chosen)
                ids, total = found[after : after + count], len(found)
            else:
                ids, total = _listed(connection, filter, after=after, count=count)
            return _rows(connection, ids, predictions), total


def _asks_for_predictions(filter: Filter) -> bool:
    conditions = (filter.prediction, filter.confidence_low, filter.confidence_high)
    return filter.order == "confidence" or any(condition is not None for condition in conditions)


def _by_prediction(predictions: Predictions, filter: Filter) -> Indices:
    """Return the items that meet the conditions on predictions, in the order that the filter asks for."""
    fits = np.ones(len(predictions.items), bool)
    if filter.prediction is not None:
        fits &= predictions.top == filter.prediction
    if filter.confidence_low is not None:
        fits &= predictions.confidence >= filter.confidence_low
    if filter.confidence_high is not None:
        fits &= predictions.confidence <= filter.confidence_high
    items: Indices = predictions.items[fits]
    return items[np.argsort(predictions.confidence[fits], kind="stable")] if filter.order == "confidence" else items


def _meeting(connection: sa.Connection, filter: Filter, items: Indices) -> list[int]:
    """Return those items that meet the other conditions too; in the order of the filter, or as they come."""
    query = _query(connection, filter).where(among(connection, _id(filter), items.tolist()))
    if filter.order in ("id", "confidence"):
        met = set(connection.scalars(query))
        return [item for item in items.tolist() if item in met]
    return list(connection.scalars(query.order_by(*_order(filter))))


def _listed(connection: sa.Connection, filter: Filter, *, after: int, count: int) -> tuple[list[int], int]:
    """Return a page of ids and the number of all, from the database alone."""
    number = sum(counters.read(connection, "items").values())
    if filter == Filter():  # ids are positions
        return list(range(min(after, number), min(after + count, number))), number
    query = _query(connection, filter)
    if _needs_label(filter):  # there are only so many
        page = connection.scalars(query.order_by(*_order(filter)).limit(count).offset(after))
        return list(page), connection.scalar(sa.select(sa.func.count()).select_from(query.subquery())) or 0
    most = count + COUNTED
    found = list(connection.scalars(query.order_by(ITEMS.c.id).limit(most).offset(after)))
    total = after + len(found)
    if len(found) == most:  # those beyond are as frequent as those up to the last
        total = round(total * number / (found[-1] + 1))
    return found[:count], total


def _needs_label(filter: Filter) -> bool:
    """Return whether only items with a label can meet a filter."""
    return bool(
        filter.label is not None or filter.disagree or filter.labelled or filter.order in ("recent", "disagree")
    )


def _id(filter: Filter) -> sa.ColumnElement[int]:
    """Return the column that is searched: the databases know best what to do with the smaller table alone."""
    return LABELS.c.item if _needs_label(filter) else ITEMS.c.id


def _query(connection: sa.Connection, filter: Filter) -> sa.Select[Any]:
    """Return the ids of items that meet the conditions which the database knows of."""
    id = _id(filter)
    query = sa.select(id)
    if filter.label is not None:
        query = query.where(LABELS.c["class"] == filter.label)
    if filter.disagree:
        query = query.where(LABELS.c.disagree)
    elif filter.disagree is False:
        query = query.where(id.not_in(sa.select(LABELS.c.item).where(LABELS.c.disagree)))
    if filter.labelled is False:
        labelled = LABELS.alias()
        query = query.where(~sa.exists().where(labelled.c.item == id))
    answered = [] if filter.person is None else [ANSWERS.c.person == filter.person]
    answered += [] if filter.kind is None else [ANSWERS.c.kind == filter.kind]
    if answered:
        query = query.where(id.in_(sa.select(ANSWERS.c.item).where(*answered)))
    about = [_holds(connection, word) for word in (filter.text or "").split()]
    if filter.aside is not None:
        about.append(ITEMS.c.state != "ok" if filter.aside else ITEMS.c.state == "ok")
    if about and _needs_label(filter):
        return query.where(sa.exists().where(ITEMS.c.id == id, *about))
    return query.where(*about)


def _holds(connection: sa.Connection, word: str) -> sa.ColumnElement[bool]:
    if "\0" in word or not is_unicode(word):
        return sa.false()
    pattern = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    if connection.engine.name == "postgresql":
        return sa.or_(ITEMS.c.text.ilike(pattern, escape="\\"), ITEMS.c.key.ilike(pattern, escape="\\"))
    return sa.or_(ITEMS.c.text.like(pattern, escape="\\"), ITEMS.c.key.like(pattern, escape="\\"))


def _order(filter: Filter) -> tuple[sa.ColumnElement[Any], ...]:
    if filter.order == "recent":
        return LABELS.c.at.desc(), LABELS.c.item.desc()
    return (LABELS.c.disagree.desc(), LABELS.c.item) if filter.order == "disagree" else (_id(filter),)


def _rows(connection: sa.Connection, ids: list[int], predictions: Predictions | None) -> list[Row]:
    items = {row.id: item_of(row) for row in connection.execute(_those(connection, ITEMS, ids))}
    labels = {row.item: row for row in connection.execute(_those(connection, LABELS, ids))}
    people: dict[int, list[str]] = {}
    kinds: dict[int, str] = {}
    for row in connection.execute(_those(connection, ANSWERS, ids).order_by(ANSWERS.c.event)):
        people.setdefault(row.item, []).append(row.person)
        kinds[row.item] = row.kind
    rows = []
    for id in ids:
        label, place = labels.get(id), None if predictions is None else predictions.find(id)
        top = confidence = None
        if predictions is not None and place is not None:
            top, confidence = int(predictions.top[place]), float(predictions.confidence[place])
        given = (None, False) if label is None else (label._mapping["class"], bool(label.disagree))
        rows.append(Row(items[id], given[0], top, confidence, tuple(people.get(id, ())), given[1], kinds.get(id)))
    return rows


def _those(connection: sa.Connection, table: sa.Table, ids: list[int]) -> sa.Select[Any]:
    column = table.c["id" if table is ITEMS else "item"]
    return sa.select(table).where(among(connection, column, ids))
