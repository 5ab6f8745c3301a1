"""The tables of a project, the same on SQLite and PostgreSQL.

settings   what defines the project, one line for each setting
items      what is to be labelled; ids are positions, 0 .. n-1, and are never used again
classes    what items can be labelled with; one that was merged or deleted stays as a line
events     everything that anybody did, in order; nothing is ever deleted here
answers    the present answer of each person to each item
labels     the label of each item that follows from its answers
queue      what to ask, in order of id, and why each item was asked
leases     who is looking at which item, until when
rounds     the fits of the model and what they say
status     what the processes are doing
counters   how many items, labels and answers there are, so that nothing has to count them
"""

import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, LargeBinary, MetaData, Table, Text

from cusal.errors import ProjectError

VERSION = 1
OPENING = 0x6C6162656C  # the number of the lock under which PostgreSQL makes the tables, and writes
METADATA = MetaData()

Number = BigInteger().with_variant(Integer, "sqlite")  # SQLite's row ids are of type INTEGER alone


def _key(name: str, kind: type[Text] | BigInteger = Number) -> Column[object]:
    return Column(name, kind, primary_key=True, autoincrement=False)


PROJECT = Table("cusal_project", METADATA, _key("version"))

SETTINGS = Table("settings", METADATA, _key("name", Text), Column("value", Text, nullable=False))

ITEMS = Table(
    "items",
    METADATA,
    _key("id"),
    Column("key", Text, nullable=False, unique=True),
    Column("text", Text),
    Column("extra", Text),
    Column("state", Text, nullable=False),
    Column("note", Text),
)
Index("items_set_aside", ITEMS.c.state, sqlite_where=ITEMS.c.state != "ok", postgresql_where=ITEMS.c.state != "ok")

CLASSES = Table(
    "classes",
    METADATA,
    _key("id"),
    Column("name", Text, nullable=False),
    Column("place", Integer, nullable=False),
    Column("key", Text),
    Column("colour", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("into", Number),
)

EVENTS = Table(
    "events",
    METADATA,
    _key("id"),
    Column("uuid", Text, nullable=False, unique=True),
    Column("person", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("kind", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("undone", Number),
    Index("events_by_person", "person", "id"),
)
Index(
    "events_of_classes", EVENTS.c.id, sqlite_where=EVENTS.c.kind == "class", postgresql_where=EVENTS.c.kind == "class"
)

ANSWERS = Table(
    "answers",
    METADATA,
    _key("item"),
    _key("person", Text),
    Column("kind", Text, nullable=False),
    Column("class", Number),
    Column("event", Number, nullable=False),
    Column("at", Double, nullable=False),
    Column("seconds", Double),
    Index("answers_by_person", "person", "event"),
    Index("answers_by_class", "class"),
)
Index(
    "answers_without",
    ANSWERS.c.kind,
    sqlite_where=ANSWERS.c.kind != "label",
    postgresql_where=ANSWERS.c.kind != "label",
)

LABELS = Table(
    "labels",
    METADATA,
    _key("item"),
    Column("class", Number, nullable=False),
    Column("at", Double, nullable=False),
    Column("disagree", Boolean, nullable=False),
    Index("labels_by_class", "class", "item"),
    Index("labels_by_time", "at"),
)
Index("labels_in_dispute", LABELS.c.disagree, sqlite_where=LABELS.c.disagree, postgresql_where=LABELS.c.disagree)

QUEUE = Table(
    "queue",
    METADATA,
    _key("id"),
    Column("item", Number, nullable=False, unique=True),
    Column("origin", Text, nullable=False),
    Column("round", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("answers", Integer, nullable=False),
    Column("open", Integer, nullable=False),  # 1: fewer answers than the overlap asks for
    Index("queue_in_order", "open", "id"),
)

LEASES = Table(
    "leases",
    METADATA,
    _key("item"),
    _key("person", Text),
    Column("until", Double, nullable=False),
    Index("leases_by_end", "until"),
)

ROUNDS = Table(
    "rounds",
    METADATA,
    _key("round"),
    Column("at", Double, nullable=False),
    Column("labels", Integer, nullable=False),
    Column("report", Text, nullable=False),
    Column("predictions", LargeBinary),
    Column("session", LargeBinary),
)

STATUS = Table(
    "status", METADATA, _key("name", Text), Column("value", Text, nullable=False), Column("at", Double, nullable=False)
)

COUNTERS = Table("counters", METADATA, _key("kind", Text), _key("name", Text), Column("value", Number, nullable=False))


def make(connection: sa.Connection, place: str) -> None:
    """Make the tables of a new project, or raise an error for a database that holds something else."""
    known = set(sa.inspect(connection).get_table_names())
    if PROJECT.name in known:
        raise ProjectError(f"there is a project in {place} already; open it, or name another place by --store.")
    others = known if connection.engine.name == "sqlite" else known & set(METADATA.tables)
    if others:
        raise ProjectError(
            f"{place} is a database with tables of its own ({min(others)}), not a project of cusal; "
            "name another file or database by --store."
        )
    METADATA.create_all(connection)
    connection.execute(PROJECT.insert().values(version=VERSION))


def check(connection: sa.Connection, place: str) -> None:
    """Raise an error for a database that is no project of this version."""
    if PROJECT.name not in sa.inspect(connection).get_table_names():
        raise ProjectError(f"{place} holds no labelling project; start one with `cusal label DATA --store {place}`.")
    version = connection.scalar(sa.select(PROJECT.c.version))
    if version != VERSION:
        raise ProjectError(
            f"{place} is a project of version {version}, but this cusal reads version {VERSION}; "
            "open it with the cusal that wrote it."
        )
