"""The queue: what to ask, in order, and who is looking at what."""

import json
import time
from collections.abc import Iterable, Sequence

import numpy as np
import sqlalchemy as sa

from cusal.apps.label.store.connection import Part, among, next_id
from cusal.apps.label.store.prepared import Prepared, insert, listed, one_of, upsert
from cusal.apps.label.store.records import ORIGINS, Pick
from cusal.apps.label.store.schema import ANSWERS, ITEMS, LEASES, QUEUE, STATUS
from cusal.apps.label.store.settings import OVERLAP
from cusal.errors import UnknownName

LEASE_SECONDS = 300.0


def _next(database: str) -> sa.Executable:
    """The first picks that a person has not answered, and that too few others have answered or are looking at."""
    person = sa.bindparam("person", type_=sa.Text())
    now: sa.BindParameter[float] = sa.bindparam("now", type_=sa.Double())
    mine = sa.exists().where(ANSWERS.c.item == QUEUE.c.item, ANSWERS.c.person == person)
    looking = sa.select(sa.func.count()).select_from(LEASES)
    looking = looking.where(LEASES.c.item == QUEUE.c.item, LEASES.c.person != person, LEASES.c.until > now)
    query = sa.select(QUEUE.c.item, QUEUE.c.origin, QUEUE.c.reason, QUEUE.c.round)
    query = query.join(ITEMS, ITEMS.c.id == QUEUE.c.item).where(QUEUE.c.open == 1, ITEMS.c.state == "ok", ~mine)
    query = query.where(QUEUE.c.answers + looking.scalar_subquery() < OVERLAP)
    most = sa.bindparam("most", type_=sa.Integer())
    return query.where(~one_of(database, QUEUE.c.item, "exclude")).order_by(QUEUE.c.id).limit(most)


_NEXT = Prepared(_next)
_END_LEASES = Prepared(lambda _: LEASES.delete().where(LEASES.c.until < sa.bindparam("now", type_=sa.Double())))
_HOLD_ON = Prepared(
    lambda database: (
        LEASES.update()
        .where(LEASES.c.person == sa.bindparam("person"), one_of(database, LEASES.c.item, "items"))
        .values(until=sa.bindparam("later", type_=sa.Double()))
    )
)


class Queue(Part):
    """The picks that wait for answers, and the record of why each item was asked."""

    def put(self, picks: Sequence[Pick], *, round: int) -> None:
        """Replace the picks that wait for an answer.

        Picks that have an answer stay where they are; those that somebody has on hand move behind the new ones, so that
        they are asked if they are answered, and fetched last. An item has one line in the queue: a pick on hand that is
        chosen again gets the new origin, round and reason; one with an answer keeps those that led to it. The status
        "queue" counts how often the queue was replaced.

        Parameters
        ----------
        picks : sequence of Pick
            What to ask, first one first.
        round : int
            The round of the model that chose them.

        Raises
        ------
        UnknownName
            If an origin is none of "random", "cold", "pick", "audit" and "reserve".
        """
        chosen = _checked(picks)
        with self._writing(durable=False) as connection:
            waiting = sa.and_(QUEUE.c.open == 1, QUEUE.c.answers == 0)
            held = sa.exists().where(LEASES.c.item == QUEUE.c.item, LEASES.c.until > time.time())
            again = among(connection, QUEUE.c.item, chosen)
            behind = connection.execute(sa.select(*QUEUE.c).where(waiting, held, ~again).order_by(QUEUE.c.id)).all()
            connection.execute(QUEUE.delete().where(waiting))
            _append(connection, chosen, round=round)
            insert(
                connection, QUEUE, [(id, *line[1:]) for id, line in enumerate(behind, start=next_id(connection, QUEUE))]
            )
            _count_replacement(connection)

    def lengthen(self, picks: Sequence[Pick], *, round: int, most: int | None = None) -> int:
        """Add picks behind those that wait; unlike `put`, take none away.

        Parameters
        ----------
        picks : sequence of Pick
            What to ask, first one first. Items that are in the queue, have an answer or are set aside are passed over.
        round : int
            The round of the model that chose them.
        most : int, optional
            The largest number of picks to add; by default all.

        Returns
        -------
        int
            How many were added.
        """
        chosen = _checked(picks)
        with self._writing(durable=False) as connection:
            fits = sa.select(ITEMS.c.id).where(among(connection, ITEMS.c.id, chosen), ITEMS.c.state == "ok")
            free = set(connection.scalars(fits.where(~sa.exists().where(QUEUE.c.item == ITEMS.c.id))))
            return _append(connection, {item: chosen[item] for item in chosen if item in free}, round=round, most=most)

    def next_picks(self, person: str, count: int, *, exclude: Iterable[int] = ()) -> list[Pick]:
        """Return the next items for a person, and hold them for five minutes.

        An item is offered as long as its answers and the people who are looking at it are fewer than the overlap. The
        person's own items are held longer by asking again, those of `exclude` too.

        Parameters
        ----------
        person : str
            Who asks.
        count : int
            The largest number of items.
        exclude : iterable of int
            Items that the person has already on the screen.

        Returns
        -------
        list of Pick
            In the order of the queue; empty where the queue has nothing for this person.
        """
        exclude, now = [int(item) for item in exclude], time.time()
        with self._writing(durable=False) as connection:
            known = listed(connection, exclude)
            rows = _NEXT(connection, person=person, now=now, exclude=known, most=count).all()
            _END_LEASES(connection, now=now)
            if exclude:
                _HOLD_ON(connection, person=person, items=known, later=now + LEASE_SECONDS)
            hold(connection, person, [row[0] for row in rows])
        return [Pick(item, origin, json.loads(reason), number) for item, origin, reason, number in rows]

    def release(self, person: str, items: Iterable[int]) -> None:
        """Stop holding items for a person, so that others can have them at once.

        Parameters
        ----------
        person : str
            Who does not need them.
        items : iterable of int
            Ids of items.
        """
        with self._writing(durable=False) as connection:
            those = among(connection, LEASES.c.item, [int(item) for item in items])
            connection.execute(LEASES.delete().where(LEASES.c.person == person, those))

    def picks(self, items: Iterable[int]) -> dict[int, Pick]:
        """Return why items were asked, also those that were answered.

        Parameters
        ----------
        items : iterable of int
            Ids of items.

        Returns
        -------
        dict of int to Pick
            Items that were never asked are left out.
        """
        columns = (QUEUE.c.item, QUEUE.c.origin, QUEUE.c.reason, QUEUE.c.round)
        with self._reading() as connection:
            query = sa.select(*columns).where(among(connection, QUEUE.c.item, [int(item) for item in items]))
            rows = connection.execute(query).all()
        return {item: Pick(item, origin, json.loads(reason), number) for item, origin, reason, number in rows}


def with_checks(picks: Sequence[Pick], items: Iterable[int], rng: np.random.Generator) -> list[Pick]:
    """Return picks with random checks at random places among them; an item that is both is a check.

    Parameters
    ----------
    picks : sequence of Pick
        What the model or a rule chose, first one first.
    items : iterable of int
        Items that were drawn at random.
    rng : Generator
        It draws the places, so that a queue that is replaced half-way has its share of checks.

    Returns
    -------
    list of Pick
    """
    checks = [Pick(int(item), "audit", {"kind": "random"}) for item in items]
    drawn = {check.item for check in checks}
    mixed = [pick for pick in picks if pick.item not in drawn]
    for check in checks:
        mixed.insert(int(rng.integers(len(mixed) + 1)), check)
    return mixed


def _count_replacement(connection: sa.Connection) -> None:
    known = connection.scalar(sa.select(STATUS.c.value).where(STATUS.c.name == "queue"))
    number = json.loads(known)["replaced"] + 1 if known else 1
    upsert(connection, STATUS, [("queue", json.dumps({"replaced": number}), time.time())])


def _checked(picks: Sequence[Pick]) -> dict[int, Pick]:
    """Return picks by item in their order; the first of those with one item stays."""
    chosen: dict[int, Pick] = {}
    for pick in picks:
        if pick.origin not in ORIGINS:
            raise UnknownName("origin of a pick", pick.origin, ORIGINS)
        chosen.setdefault(int(pick.item), pick)
    return chosen


def _append(connection: sa.Connection, chosen: dict[int, Pick], *, round: int, most: int | None = None) -> int:
    """Write picks at the end of the queue, except those that have an answer; return their number."""
    answered = sa.select(ANSWERS.c.item).where(among(connection, ANSWERS.c.item, chosen)).distinct()
    gone = set(connection.scalars(answered))
    asked = [item for item in chosen if item not in gone][:most]
    lines = [
        (id, item, chosen[item].origin, round, json.dumps(chosen[item].reason), 0, 1)
        for id, item in enumerate(asked, start=next_id(connection, QUEUE))
    ]
    insert(connection, QUEUE, lines)
    return len(lines)


def hold(connection: sa.Connection, person: str, items: Iterable[int]) -> None:
    """Hold items for a person from now on."""
    until = time.time() + LEASE_SECONDS
    upsert(connection, LEASES, [(item, person, until) for item in items])
