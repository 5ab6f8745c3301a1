"""How long a run is held: a lease that its holder renews, by one clock for all who share a store.

On PostgreSQL that is the clock of the server, so that clocks of machines may differ. A clock may also jump. Forward:
leases of other machines seem to have ended, another runner takes the run over, and the old one is told so when it
writes; what this machine sees to be alive is never taken. Backward: leases seem to last for too long; each is shortened
to what it could be at most, which the holder, if there is one, renews.
"""

import os
import socket
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from cusal.apps.bench.store.schema import RUNS
from cusal.errors import StoreError

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


# A database server that is away for a moment: what it was to do is tried again for a minute.
#
# A server that is restarted ends every connection. Whether a transaction that was being committed counts is then not
# known; what is tried again must find out by itself.


PATIENCE = 60.0  # seconds
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
Result = TypeVar("Result")


def through_outages(action: Callable[[], Result], *, patience: float = PATIENCE) -> Result:
    """Return what the action returns; if the server is away, try again until patience ends, then raise its error."""
    pause, give_up = FIRST_PAUSE, time.monotonic() + patience
    while True:
        try:
            return action()
        except StoreError as error:
            if not is_outage(error) or time.monotonic() + pause > give_up:
                raise
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def is_outage(error: StoreError) -> bool:
    """Return whether an error says that the server of a database was not there, or ended the connection."""
    cause = error.__cause__
    if not isinstance(cause, sa.exc.DBAPIError) or "sqlite" in type(cause.orig).__module__:
        return False
    state = getattr(cause.orig, "sqlstate", None)
    # Class 08: no connection; 57P01 to 57P03: the server shuts down or starts. No state: there was no answer at all.
    return (
        state is None or state.startswith("08") or state in ("57P01", "57P02", "57P03") or cause.connection_invalidated
    )


# Who holds a run: a process by a name that no other has, and whether it is still alive.


def process_name(pid: int | None = None) -> str:
    """Return a name that no other process has, now or later: machine, process id (this one's), time of its start."""
    pid = pid or os.getpid()
    return f"{_machine()}/{pid}/{_started(pid)}"


def is_here(owner: str) -> bool:
    """Return whether this process is, or was, one that can be seen from here: of this machine and container."""
    host, _, process = owner.partition("/")
    return host == _machine() and process.partition("/")[0].isdigit()


def is_dead(owner: str) -> bool:
    """Return whether this process is known to be gone; one on another machine cannot be seen and may live."""
    if not is_here(owner):
        return False
    number, _, started = owner.partition("/")[2].partition("/")
    pid = int(number)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return started != "" and started != _started(pid)


@cache
def _machine() -> str:
    """The host name, with what tells two containers of one name apart: neither sees the other's processes."""
    marks = [socket.gethostname().replace("/", "_")]
    try:
        marks.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8])
        marks.append(os.readlink("/proc/self/ns/pid").strip("pid:[]"))
    except OSError:  # no Linux: the name has to do
        return marks[0]
    return ":".join(marks)


def _started(pid: int) -> str:
    """The kernel's start time of a process, which tells it from a later one of the same number; "" if not known."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state in "ZX" else fields[18]  # one that ended and was not yet waited for still has a number
