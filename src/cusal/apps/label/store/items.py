"""The items of a project: what is to be labelled."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import sqlalchemy as sa

from cusal._types import Indices
from cusal.apps.label.store import counters
from cusal.apps.label.store.connection import Part, among, next_id
from cusal.apps.label.store.known_labels import take_in
from cusal.apps.label.store.prepared import Prepared, insert, listed, one_of
from cusal.apps.label.store.records import STATES, Item, NewItem
from cusal.apps.label.store.schema import ITEMS
from cusal.apps.label.store.validation import is_unicode
from cusal.errors import ProjectError, UnknownName

_BY_KEY = Prepared(lambda database: sa.select(ITEMS.c.key, ITEMS.c.id).where(one_of(database, ITEMS.c.key, "keys")))
_BY_ID = Prepared(lambda database: sa.select(ITEMS).where(one_of(database, ITEMS.c.id, "ids")))
_to_json = json.JSONEncoder(separators=(",", ":")).encode
CHUNK = 5_000  # items of one transaction: a reader of the project waits no longer than it takes to write them


class Items(Part):
    """The items of a project, added once and never taken away."""

    def add(self, rows: Iterable[NewItem]) -> int:
        """Add the items whose keys are not known yet, and the labels that the data give them.

        Parameters
        ----------
        rows : iterable of NewItem
            Read as they are needed, 5,000 to a transaction. Known keys are left alone. Labels become answers of the
            person "import", once each, also those of known items.

        Returns
        -------
        int
            The number of items that were added.
        """
        rows, added = iter(rows), 0
        while chunk := list(islice(rows, CHUNK)):
            lines = _lines(chunk)  # before the transaction, which others wait for
            with self._writing() as connection:
                added += _add(connection, lines)
                take_in(connection, {row.key: row.label for row in chunk if row.label})
        return added

    def count(self, state: str | None = None) -> int:
        """Return the number of items, or of those in one state.

        Parameters
        ----------
        state : str, optional
            "ok", "missing" or "broken"; by default any.

        Returns
        -------
        int
        """
        with self._reading() as connection:
            numbers = counters.read(connection, "items")
        return sum(numbers.values()) if state is None else numbers.get(_state(state), 0)

    def get(self, id: int) -> Item:
        """Return an item.

        Parameters
        ----------
        id : int
            Its position among all items.

        Returns
        -------
        Item

        Raises
        ------
        ProjectError
            If there is none of this id.
        """
        return self.of([id])[0]

    def of(self, ids: Iterable[int]) -> list[Item]:
        """Return items in the order of their ids as given.

        Parameters
        ----------
        ids : iterable of int

        Returns
        -------
        list of Item

        Raises
        ------
        ProjectError
            If the project has no item of one of the ids.
        """
        ids = [int(id) for id in ids]
        with self._reading() as connection:
            rows = _BY_ID(connection, ids=listed(connection, filter(_is_possible, ids))).all()
        found = {row.id: item_of(row) for row in rows}
        return [found[id] for id in ids if _is_there(id, found)]

    def ids(self, state: str | None = "ok") -> Indices:
        """Return the ids of all items in a state, ascending.

        Parameters
        ----------
        state : str or None
            "ok", "missing" or "broken"; None for any.

        Returns
        -------
        array of shape (n,), int64
        """
        query = sa.select(ITEMS.c.id).order_by(ITEMS.c.id)
        with self._reading() as connection:
            numbers = counters.read(connection, "items")
            total = sum(numbers.values())
            if state is None or numbers.get(_state(state), 0) == total:
                return np.arange(total, dtype=np.int64)
            if state != "ok":
                return np.array(list(connection.scalars(query.where(ITEMS.c.state == state))), np.int64)
            aside = np.array(list(connection.scalars(query.where(ITEMS.c.state != "ok"))), np.int64)
        return np.delete(np.arange(total, dtype=np.int64), aside)  # ids are positions; few are set aside

    def texts(self, ids: Iterable[int]) -> list[str]:
        """Return the texts of items in the order of their ids as given; "" for an item without text.

        Parameters
        ----------
        ids : iterable of int
            In any order.

        Returns
        -------
        list of str

        Raises
        ------
        ProjectError
            If the project has no item of one of the ids.
        """
        ids = [int(id) for id in ids]
        query = sa.select(ITEMS.c.id, ITEMS.c.text)
        with self._reading() as connection:
            found = {id: text or "" for id, text in connection.execute(query.where(among(connection, ITEMS.c.id, ids)))}
        return [found[id] for id in ids if _is_there(id, found)]

    def find(self, keys: Iterable[str]) -> dict[str, int]:
        """Return the ids of those keys that are known.

        Parameters
        ----------
        keys : iterable of str
            Relative paths, ids or rows.

        Returns
        -------
        dict of str to int
        """
        with self._reading() as connection:
            return find_keys(connection, keys)

    def mark(self, id: int, state: str, note: str | None = None) -> None:
        """Set the state of an item and a note on why.

        Parameters
        ----------
        id : int
            Of the item.
        state : str
            "ok", "missing" or "broken".
        note : str, optional
            What to show people.
        """
        self.mark_many([id], state, note)

    def mark_many(self, ids: Iterable[int], state: str, note: str | None = None) -> None:
        """Set the state of items ("ok", "missing" or "broken") and a note on why; answers stay as they are.

        Parameters
        ----------
        ids : iterable of int
        state : str
            "missing" and "broken" items are not asked about.
        note : str, optional
            What to show people, such as "cannot be read as an image".
        """
        ids = [int(id) for id in ids]
        _state(state)
        for start in range(0, len(ids), CHUNK):
            part = ids[start : start + CHUNK]
            with self._writing() as connection:
                those = among(connection, ITEMS.c.id, part)
                states = list(connection.scalars(sa.select(ITEMS.c.state).where(those)))
                connection.execute(ITEMS.update().where(those).values(state=state, note=note))
                deltas = Counter({("items", former): -number for former, number in Counter(states).items()})
                deltas["items", state] += len(states)
                counters.add(connection, deltas)

    def retire(self, ids: Iterable[int], note: str) -> None:
        """Set items aside whose data have changed under their keys, which are free for new items then.

        Parameters
        ----------
        ids : iterable of int
        note : str
            What to show people.
        """
        ids = [int(id) for id in ids]
        former = ITEMS.c.key + " (former item " + sa.cast(ITEMS.c.id, sa.String) + ")"
        for start in range(0, len(ids), CHUNK):
            with self._writing() as connection:
                those = among(connection, ITEMS.c.id, ids[start : start + CHUNK])
                connection.execute(ITEMS.update().where(those).values(key=former))
        self.mark_many(ids, "missing", note)


def item_of(row: Any) -> Item:
    """Return a line of the table as an item."""
    extra = None if row.extra is None else json.loads(row.extra)
    return Item(row.id, row.key, row.text, extra, row.state, row.note)


def find_keys(connection: sa.Connection, keys: Iterable[str]) -> dict[str, int]:
    """Return the ids of those keys that are known."""
    return {row[0]: row[1] for row in _BY_KEY(connection, keys=listed(connection, keys))}


def _lines(chunk: Sequence[NewItem]) -> dict[str, tuple[str | None, str | None]]:
    """Return text and extra columns by key; the first of those with one key stays."""
    _check_keys(chunk)
    lines: dict[str, tuple[str | None, str | None]] = {}
    for key, text, extra, _ in chunk:
        if key not in lines:
            lines[key] = text, None if extra is None else _to_json(extra)
    return lines


def _add(connection: sa.Connection, lines: dict[str, tuple[str | None, str | None]]) -> int:
    known, first = find_keys(connection, lines), next_id(connection, ITEMS)
    new = (key for key in lines if key not in known)
    rows = [(id, key, *lines[key], "ok", None) for id, key in enumerate(new, start=first)]
    insert(connection, ITEMS, rows)
    counters.add(connection, Counter({("items", "ok"): len(rows)}))
    return len(rows)


def _check_keys(chunk: Sequence[NewItem]) -> None:
    for row in chunk:
        for value in (row.key, row.text or ""):
            if "\0" in value or not is_unicode(value):
                raise ProjectError(
                    f"the item {row.key!r} holds a character that no database takes (NUL, or a name that is not "
                    "UTF-8); rename the file or clean the text."
                )


def _state(state: str) -> str:
    if state not in STATES:
        raise UnknownName("state of an item", state, STATES)
    return state


def _is_possible(id: int) -> bool:
    return 0 <= id < 2**63


def _is_there(id: int, found: dict[int, Any]) -> bool:
    if id not in found:
        raise ProjectError(f"there is no item {id} in this project; ids are 0 to the number of items less one.")
    return True
