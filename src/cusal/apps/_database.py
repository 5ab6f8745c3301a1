"""The database behind a store or a project: SQLite as several processes need it, or PostgreSQL through psycopg."""

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from cusal.errors import MissingExtra, StoreError, without_passwords

BUSY_MILLISECONDS = 60_000
_KEYWORDS = re.compile(r"(^|\s)(host|hostaddr|dbname|password)\s?=\s?\S")  # how psql writes a connection, too


def open_engine(place: str, *, read_only: bool = False) -> sa.Engine:
    """Return the engine of a path, a URL, or ":memory:"; with `read_only`, of a file that is never made or changed."""
    if place == ":memory:":
        return _sqlite(sa.create_engine("sqlite://", poolclass=sa.StaticPool))
    if _KEYWORDS.search(place) and "://" not in place:
        raise StoreError(f"{place} is no URL; give postgresql://user@host/name, or the path of a file.")
    if "://" not in place:
        path = Path(place).expanduser()
        if os.path.isdir(path) or not os.path.isdir(path.parent):  # pathlib raises where a folder may not be entered
            reason = "a folder" if os.path.isdir(path) else "in a folder that does not exist, or may not be entered"
            raise StoreError(f"{place} is {reason}; give the path of a file, such as runs.db, or a database URL.")
        return _reading(place, path) if read_only else _sqlite(sa.create_engine(_url(path)))
    try:
        url = sa.make_url(place)
        if url.drivername in ("postgresql", "postgres"):
            url = url.set(drivername="postgresql+psycopg")
        engine = sa.create_engine(url, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise MissingExtra("a store on PostgreSQL", "postgres") from error
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ValueError) as error:
        # Not the reason of a ValueError: it is a port that is no number, which can be a part of the password.
        reason = "its port is no number" if isinstance(error, ValueError) else without_passwords(str(error))
        raise StoreError(
            f"{place!r} is no database URL ({reason}); give postgresql://user@host/name or a path."
        ) from None
    return _sqlite(engine) if url.get_backend_name() == "sqlite" else engine


def _url(path: Path) -> sa.URL:
    return sa.URL.create("sqlite", database=str(path))


def _reading(place: str, path: Path) -> sa.Engine:
    """Return the engine of a file that is only read, also on a disk that cannot be written."""
    if not os.path.isfile(path):
        raise StoreError(f"there is no store {place}; give the file that `cusal bench --store` wrote.")
    if path.stat().st_size == 0:
        raise StoreError(f"{place} is an empty file and no store; give the file that `cusal bench --store` wrote.")
    address = f"{path.resolve().as_uri()}?{_mode(place, path)}"
    engine = sa.create_engine(_url(path), creator=lambda: sqlite3.connect(address, uri=True, check_same_thread=False))

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        for pragma in (f"busy_timeout={BUSY_MILLISECONDS}", "query_only=ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def _mode(place: str, path: Path) -> str:
    """Return how SQLite is to open a file that is only read.

    Even a reader needs the files -wal and -shm beside it. Where they can be made, the last reader removes them only if
    it may write. Where they cannot be made and are not there, nobody writes either.
    """
    if _may_write(path) and _may_write(path.parent):
        return "mode=rw"
    log, index = (path.with_name(path.name + ending) for ending in ("-wal", "-shm"))
    if os.path.isfile(log) and os.path.isfile(index):
        return "mode=ro"
    if os.path.isfile(log) and log.stat().st_size:
        raise StoreError(
            f"{place} cannot be read where it is: a part of it is in {log.name}, and its folder cannot be written; "
            "copy both files to a folder that can."
        )
    return "mode=ro&immutable=1"


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _sqlite(engine: sa.Engine) -> sa.Engine:
    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        for pragma in (f"busy_timeout={BUSY_MILLISECONDS}", "synchronous=NORMAL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()
        _turn_to_wal(connection)

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A transaction that reads first and writes later would fail, not wait, when another writes in between.
        reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _turn_to_wal(connection: Any) -> None:
    """Allow readers and a writer at once; SQLite does not wait for others that do the same to a new file."""
    give_up = time.monotonic() + BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
        time.sleep(0.05)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Turn errors of the database into a StoreError that names the store."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, sqlite3.Error, UnicodeError, OverflowError) as error:  # the last two of the driver
        reason = " ".join(str(getattr(error, "orig", error)).split())
        hint = "check that it is a store of cusal and can be written, or that the server is up"
        raise StoreError(f"cannot use the store {place}: {reason}; {hint}.") from error
