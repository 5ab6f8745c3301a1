"""A database server that is away for a moment: what it was to do is tried again for a minute.

A server that is restarted ends every connection. Whether a transaction that was being committed counts is then not
known; what is tried again must find out by itself.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from cusal.errors import StoreError

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
