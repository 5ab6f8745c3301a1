"""The connection of a project to its database: pictures to read, transactions to write, one writer at a time."""

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from cusal.apps._database import open_engine
from cusal.apps.label.store.prepared import listed, one_of
from cusal.apps.label.store.schema import OPENING
from cusal.errors import ProjectError, StoreError


class Database:
    """Where a project is kept: its place, an engine, and the lock of its writers.

    Writers take turns, in this process by a lock, across processes by the database. So what a transaction reads stays
    true until it is committed, and events get their numbers in the order in which they become visible.
    """

    def __init__(self, place: str) -> None:
        self.place = place
        if place == ":memory:":
            raise ProjectError("a project is shared by processes and cannot be kept in memory; give a file or a URL.")
        try:
            self._engine = open_engine(place)
        except StoreError as error:
            raise ProjectError(str(error)) from error
        self._turn = threading.Lock()

    def close(self) -> None:
        """Close the file, or the connections to the server."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """One unchanging picture of the project, whatever others write meanwhile."""
        level = {"isolation_level": "REPEATABLE READ"} if self._engine.name == "postgresql" else {}
        with _translated(self.place), self._engine.connect().execution_options(reading=True, **level) as connection:
            yield connection

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sa.Connection]:
        """A transaction; one that is not `durable` may be lost when the power fails, but never half of it.

        To wait for the disk takes longer than everything else, and leases or the state of the worker are not worth it.
        """
        with _translated(self.place), self._turn, self._engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                driver: Any = connection.connection.dbapi_connection
                driver.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}").close()
            with connection.begin():
                if connection.dialect.name == "postgresql":
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(OPENING)))
                    if not durable:
                        connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
                yield connection


class Part:
    """One of the parts of a project: what it reads and writes of the database.

    Parameters
    ----------
    database : Database
        That of the project.
    """

    def __init__(self, database: Database) -> None:
        self._reading, self._writing = database.reading, database.writing


def among(connection: sa.Connection, column: sa.ColumnElement[Any], values: Iterable[Any]) -> sa.ColumnElement[bool]:
    """Return the condition that a column has one of many values, in a statement that is the same for any number."""
    return one_of(connection.dialect.name, column, None, listed(connection, values))


def next_id(connection: sa.Connection, table: sa.Table) -> int:
    """Return the number after the largest id of a table; writers take turns, so nobody else gets it."""
    largest = connection.exec_driver_sql(f"SELECT max(id) FROM {table.name}").scalar()
    return 0 if largest is None else int(largest) + 1


@contextmanager
def _translated(place: str) -> Iterator[None]:
    """Turn errors of the database into a ProjectError that names the project."""
    try:
        yield
    except (sa.exc.DBAPIError, sqlite3.Error, UnicodeDecodeError) as error:  # the last of a damaged file
        reason = " ".join(str(getattr(error, "orig", error)).split())
        hint = "check that it is a project of cusal and can be written, or that the server is up"
        raise ProjectError(f"cannot use the project {place}: {reason}; {hint}.") from error
    except (OverflowError, UnicodeEncodeError) as error:  # what a driver raises before the database sees the value
        kind = "number" if isinstance(error, OverflowError) else "text"
        raise ProjectError(f"the project {place} cannot store a {kind} that was given ({error}); change it.") from error
