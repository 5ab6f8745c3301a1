"""The tables of a store, the same on SQLite and PostgreSQL.

runs         one line for each run: what defines it, how far it is and who is at it
rounds       one line for each round: labels, temperature, seconds of each phase
metrics      numbers of a round by split (test, pool, estimate) and kind (raw, recalibrated, measured)
bins         reliability bins of the test set, at the quarters and the end of a run
picks        the items that a round asked for, best first
checkpoints  the session of an unfinished run, as of its last round
digests      what each round, each session and each run was when it was written: see digests.py
"""

import sqlalchemy as sa
from sqlalchemy import Column, Double, ForeignKey, Integer, LargeBinary, MetaData, Table, Text

from cusal.errors import StoreError

VERSION = 1
OPENING = 0x637573616C  # the number of the lock that is held while tables are made
METADATA = MetaData()


def _run_id() -> Column[str]:
    return Column("run_id", Text, ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)


def _key(name: str, kind: type[Integer] | type[Text] = Integer) -> Column[object]:
    return Column(name, kind, primary_key=True, autoincrement=False)


STORE = Table("cusal_store", METADATA, _key("version"))

RUNS = Table(
    "runs",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("experiment", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("strategy", Text, nullable=False),
    Column("seed", Integer, nullable=False),
    Column("rounds", Integer, nullable=False),
    Column("batch_size", Integer, nullable=False),
    Column("spec", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("traceback", Text),
    Column("lease", Double),
    Column("owner", Text),
    Column("updated", Double, nullable=False),
)

ROUNDS = Table(
    "rounds",
    METADATA,
    _run_id(),
    _key("round"),
    Column("labelled", Integer, nullable=False),
    Column("temperature", Double, nullable=False),
    Column("evidence", Integer, nullable=False),
    Column("seconds_fit", Double, nullable=False),
    Column("seconds_predict", Double, nullable=False),
    Column("seconds_select", Double, nullable=False),
    Column("seconds_test", Double, nullable=False),
)

METRICS = Table(
    "metrics",
    METADATA,
    _run_id(),
    _key("round"),
    _key("split", Text),
    _key("kind", Text),
    _key("name", Text),
    Column("value", Double),  # null: not a number
)

BINS = Table(
    "bins",
    METADATA,
    _run_id(),
    _key("round"),
    _key("split", Text),
    _key("kind", Text),
    _key("bin"),
    Column("count", Integer, nullable=False),
    Column("score", Double, nullable=False),
    Column("hits", Double, nullable=False),
)

PICKS = Table(
    "picks",
    METADATA,
    _run_id(),
    _key("round"),
    _key("rank"),
    Column("item", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("error", Double),
    Column("confidence", Double),
    Column("decided_by", Text),
)

CHECKPOINTS = Table(
    "checkpoints",
    METADATA,
    _run_id(),
    Column("round", Integer, nullable=False),
    Column("state", LargeBinary, nullable=False),
)

# Stores of earlier versions have none: those that are opened to be written get the table, and old rounds no line in it.
DIGESTS = Table("digests", METADATA, _run_id(), _key("round"), Column("digest", Text, nullable=False))

OF_A_ROUND = (ROUNDS, METRICS, BINS, PICKS)  # what a run has written, oldest dependency first


def prepare(connection: sa.Connection, place: str) -> None:
    """Make the tables of a new store, or raise an error for a database that is no store of this version."""
    if connection.engine.name == "postgresql":  # two runners that start at once would both make the tables
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(OPENING)))
    _refuse_others(connection, place)
    METADATA.create_all(connection)
    version = connection.scalar(sa.select(STORE.c.version))
    if version is None:
        connection.execute(STORE.insert().values(version=VERSION))
    else:
        _require_version(version, place)


def require(connection: sa.Connection, place: str) -> None:
    """Raise an error for a database that is no store of this version; it is only read."""
    if STORE.name not in _refuse_others(connection, place):
        raise StoreError(f"{place} has no tables and is no store; give one that `cusal bench --store` wrote.")
    _require_version(connection.scalar(sa.select(STORE.c.version)), place)


def has_digests(connection: sa.Connection) -> bool:
    """Return whether a store has the table of digests."""
    return sa.inspect(connection).has_table(DIGESTS.name)


def _refuse_others(connection: sa.Connection, place: str) -> set[str]:
    known = set(sa.inspect(connection).get_table_names())
    others = known if connection.engine.name == "sqlite" else known & set(METADATA.tables)
    if STORE.name not in known and others:
        raise StoreError(
            f"{place} is a database with tables of its own ({min(others)}), but not a store of cusal; "
            "give another file or database."
        )
    return known


def _require_version(version: int | None, place: str) -> None:
    if version != VERSION:
        raise StoreError(
            f"{place} is a store of version {version}, but this cusal reads version {VERSION}; "
            "use the cusal that wrote it to export it."
        )
