"""The queue: what to ask, in order, and who is looking at what."""

import json
import time
from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from cusal.errors import UnknownName
from cusal.label.store.connection import Connected, among, next_id, upsert
from cusal.label.store.records import ORIGINS, Pick
from cusal.label.store.schema import ANSWERS, ITEMS, LEASES, QUEUE
from cusal.label.store.setting_lines import read_setting

LEASE_SECONDS = 300.0


class Queue(Connected):
    """The picks that wait for answers, and the record of why each item was asked."""

    def put_queue(self, picks: Sequence[Pick], *, round: int) -> None:
        """Replace the picks that wait for an answer.

        Picks that have an answer, or that somebody is looking at, stay. An item has one line in the queue: a pick that
        somebody is looking at gets the new origin, round and reason; one with an answer keeps those that led to it.

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
        chosen = {int(pick.item): pick for pick in reversed(picks)}  # the first of those with one item stays
        for pick in picks:
            if pick.origin not in ORIGINS:
                raise UnknownName("origin of a pick", pick.origin, ORIGINS)
        with self._writing(durable=False) as connection:
            waiting = sa.and_(QUEUE.c.open == 1, QUEUE.c.answers == 0)
            held = sa.exists().where(LEASES.c.item == QUEUE.c.item, LEASES.c.until > time.time())
            again = among(connection, QUEUE.c.item, chosen)
            connection.execute(QUEUE.delete().where(waiting, sa.or_(~held, again)))
            answered = among(connection, ANSWERS.c.item, chosen)
            gone = set(connection.scalars(sa.select(ANSWERS.c.item).where(answered).distinct()))
            lines = [
                {"item": item, "origin": chosen[item].origin, "reason": json.dumps(chosen[item].reason)}
                for item in dict.fromkeys(int(pick.item) for pick in picks)
                if item not in gone
            ]
            first = next_id(connection, QUEUE)
            rows = [
                line | {"id": id, "round": round, "answers": 0, "open": 1} for id, line in enumerate(lines, start=first)
            ]
            if rows:
                connection.execute(QUEUE.insert(), rows)

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
            overlap = read_setting(connection, "overlap")
            mine = sa.exists().where(ANSWERS.c.item == QUEUE.c.item, ANSWERS.c.person == person)
            others = sa.select(sa.func.count()).select_from(LEASES)
            others = others.where(LEASES.c.item == QUEUE.c.item, LEASES.c.person != person, LEASES.c.until > now)
            query = sa.select(QUEUE.c.item, QUEUE.c.origin, QUEUE.c.reason, QUEUE.c.round)
            query = query.join(ITEMS, ITEMS.c.id == QUEUE.c.item).where(QUEUE.c.open == 1, ITEMS.c.state == "ok", ~mine)
            query = query.where(QUEUE.c.answers + others.scalar_subquery() < overlap)
            query = query.where(~among(connection, QUEUE.c.item, exclude)).order_by(QUEUE.c.id).limit(count)
            rows = connection.execute(query).all()
            connection.execute(LEASES.delete().where(LEASES.c.until < now))
            own = sa.and_(LEASES.c.person == person, among(connection, LEASES.c.item, exclude))
            if exclude:
                connection.execute(LEASES.update().where(own).values(until=now + LEASE_SECONDS))
            hold(connection, person, [row.item for row in rows])
        return [Pick(item, origin, json.loads(reason), number) for item, origin, reason, number in rows]

    def release(self, person: str, items: Iterable[int]) -> None:
        """Stop holding items for a person, so that others can have them at once."""
        with self._writing(durable=False) as connection:
            those = among(connection, LEASES.c.item, [int(item) for item in items])
            connection.execute(LEASES.delete().where(LEASES.c.person == person, those))

    def picks(self, items: Iterable[int]) -> dict[int, Pick]:
        """Return why items were asked, by item, also those that were answered; items never asked are left out."""
        columns = (QUEUE.c.item, QUEUE.c.origin, QUEUE.c.reason, QUEUE.c.round)
        with self._reading() as connection:
            query = sa.select(*columns).where(among(connection, QUEUE.c.item, [int(item) for item in items]))
            rows = connection.execute(query).all()
        return {item: Pick(item, origin, json.loads(reason), number) for item, origin, reason, number in rows}


def hold(connection: sa.Connection, person: str, items: Iterable[int]) -> None:
    """Hold items for a person from now on."""
    until = time.time() + LEASE_SECONDS
    upsert(connection, LEASES, [{"item": item, "person": person, "until": until} for item in items])
