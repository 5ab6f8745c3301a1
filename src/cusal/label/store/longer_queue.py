"""More picks at the end of the queue, for more people than the worker reckoned with."""

import json
from collections.abc import Sequence

import sqlalchemy as sa

from cusal.label.store.connection import among, next_id
from cusal.label.store.project import Project
from cusal.label.store.records import Pick
from cusal.label.store.schema import ANSWERS, ITEMS, QUEUE


def lengthen_queue(project: Project, picks: Sequence[Pick], *, round: int, most: int) -> int:
    """Add picks behind those that wait; unlike `put_queue`, it takes none away.

    The worker may fill the queue at the same moment: its picks stay in front.

    Parameters
    ----------
    project : Project
    picks : sequence of Pick
        Candidates, first one first. Items that are in the queue, have an answer or are set aside are passed over.
    round : int
        The round of the model that the candidates come from.
    most : int
        The largest number of picks to add.

    Returns
    -------
    int
        How many were added.
    """
    chosen = {int(pick.item): pick for pick in reversed(picks)}
    with project._writing(durable=False) as connection:
        usable = sa.select(ITEMS.c.id).where(among(connection, ITEMS.c.id, chosen), ITEMS.c.state == "ok")
        usable = usable.where(~sa.exists().where(QUEUE.c.item == ITEMS.c.id))
        usable = usable.where(~sa.exists().where(ANSWERS.c.item == ITEMS.c.id))
        free = set(connection.scalars(usable))
        items = [item for item in dict.fromkeys(int(pick.item) for pick in picks) if item in free][:most]
        first = next_id(connection, QUEUE)
        rows = [
            {
                "id": first + place,
                "item": item,
                "origin": chosen[item].origin,
                "reason": json.dumps(chosen[item].reason),
                "round": round,
                "answers": 0,
                "open": 1,
            }
            for place, item in enumerate(items)
        ]
        if rows:
            connection.execute(QUEUE.insert(), rows)
    return len(rows)
