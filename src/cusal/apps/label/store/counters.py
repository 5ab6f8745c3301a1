"""How many items, labels and answers there are, kept up to date in the transactions that change them.

kind      name                              counts
items     ok, missing, broken               items in this state
work      labelled, skipped, unsure         items with a label; items without one that people passed over
class     id of a class                     items with this label
person    name of a person                  labels that this person gave
"""

from collections import Counter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from cusal.apps.label.store.prepared import Prepared
from cusal.apps.label.store.schema import COUNTERS

Deltas = Counter[tuple[str, str]]


def _addition(database: str) -> Any:
    insert = (postgresql if database == "postgresql" else sqlite).insert(COUNTERS)
    total = {"value": COUNTERS.c.value + insert.excluded.value}
    return insert.on_conflict_do_update(index_elements=["kind", "name"], set_=total)


_ADD = Prepared(_addition)
_OF_KIND = Prepared(
    lambda _: (
        sa.select(COUNTERS.c.name, COUNTERS.c.value)
        .where(COUNTERS.c.kind == sa.bindparam("kind"))
        .order_by(COUNTERS.c.name)
    )
)


def add(connection: sa.Connection, deltas: Deltas) -> None:
    """Add to the counters, in the transaction that made the difference."""
    rows = [{"kind": kind, "name": name, "value": value} for (kind, name), value in deltas.items() if value]
    if rows:
        _ADD.many(connection, rows)


def read(connection: sa.Connection, kind: str) -> dict[str, int]:
    """Return the counters of one kind by name."""
    return {row[0]: row[1] for row in _OF_KIND(connection, kind=kind)}
