"""How long a run is held: a lease that its holder renews, by one clock for all who share a store.

On PostgreSQL that is the clock of the server, so that clocks of machines may differ. A clock may also jump. Forward:
leases of other machines seem to have ended, another runner takes the run over, and the old one is told so when it
writes; what this machine sees to be alive is never taken. Backward: leases seem to last for too long; each is shortened
to what it could be at most, which the holder, if there is one, renews.
"""

import time
from typing import Any

import sqlalchemy as sa

from cusal.apps.bench.store.processes import is_dead, is_here
from cusal.apps.bench.store.schema import RUNS

LEASE_SECONDS = 300.0


def now(connection: sa.Connection) -> float:
    """Return the seconds since 1970 by the clock that leases go by."""
    if connection.dialect.name == "postgresql":
        return float(connection.exec_driver_sql("SELECT extract(epoch FROM clock_timestamp())").scalar_one())
    return time.time()


def new_lease(connection: sa.Connection) -> float:
    """Return when a lease ends that begins now."""
    return now(connection) + LEASE_SECONDS


def shorten_leases(connection: sa.Connection) -> None:
    """Shorten leases that end later than any that begins now: the clock was set back since they were given."""
    longest = new_lease(connection)
    late = sa.and_(RUNS.c.status == "running", RUNS.c.lease > longest)
    connection.execute(RUNS.update().where(late).values(lease=longest))


def is_free(row: Any, moment: float) -> bool:
    """Return whether a run can be taken: it is open, its holder is seen to be dead, or cannot be seen and is late."""
    if row.status != "running":
        return bool(row.status == "open")
    if row.lease is None or row.owner is None:
        return True
    return is_dead(row.owner) if is_here(row.owner) else bool(row.lease < moment)
