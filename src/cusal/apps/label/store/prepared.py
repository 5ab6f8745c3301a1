"""Statements of the hot path: written in SQLAlchemy's terms, rendered to SQL once for each database.

To put a statement together and to look it up takes SQLAlchemy longer than SQLite takes to run it. A prepared statement
is a text by the second call.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

COPIED = 100  # rows from which on PostgreSQL is faster with COPY


class Prepared:
    """A statement with named parameters.

    Parameters
    ----------
    build : function
        Takes the name of the database ("sqlite" or "postgresql") and returns the statement.
    """

    def __init__(self, build: Callable[[str], sa.Executable]) -> None:
        self._build = build
        self._texts: dict[str, tuple[str, dict[str, Any], list[str] | None]] = {}

    def __call__(self, connection: sa.Connection, **values: Any) -> Any:
        """Run the statement with one set of values."""
        return self.many(connection, [values])

    def many(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Run the statement once for each set of values."""
        text, constants, order = self._text(connection)
        if order is None:
            named = [constants | dict(row) for row in rows]
            return connection.exec_driver_sql(text, named[0] if len(named) == 1 else named)
        placed = [tuple(row[name] if name in row else constants[name] for name in order) for row in rows]
        return connection.exec_driver_sql(text, placed[0] if len(placed) == 1 else placed)

    def _text(self, connection: sa.Connection) -> tuple[str, dict[str, Any], list[str] | None]:
        name = connection.dialect.name
        if name not in self._texts:
            statement: Any = self._build(name)
            compiled = statement.compile(dialect=connection.dialect)
            order = None if compiled.positiontup is None else list(compiled.positiontup)
            self._texts[name] = str(compiled), dict(compiled.params), order
        return self._texts[name]


def one_of(database: str, column: sa.ColumnElement[Any], name: str | None, value: Any = None) -> sa.ColumnElement[bool]:
    """Return the condition that a column has one of the values of a parameter, which `listed` makes."""
    if database == "postgresql":
        kind = sa.Text() if isinstance(column.type, sa.Text) else sa.BigInteger()
        return column == sa.any_(sa.bindparam(name, value, type_=postgresql.ARRAY(kind)))
    values = sa.func.json_each(sa.bindparam(name, value, type_=sa.Text())).table_valued("value")
    return column.in_(sa.select(values.c.value))


def listed(connection: sa.Connection, values: Iterable[Any]) -> Any:
    """Return many values as the one parameter that `one_of` compares with."""
    return list(values) if connection.dialect.name == "postgresql" else json.dumps(list(values))


def insert(connection: sa.Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, values in the order of the columns, by the fastest way that the database has."""
    if connection.dialect.name == "postgresql" and len(rows) > COPIED:
        driver: Any = connection.connection.dbapi_connection
        with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({_names(table)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    elif rows:
        connection.exec_driver_sql(_insertion(table, connection.dialect.name), list(rows))


def upsert(connection: sa.Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, or replace those that are there with the same primary key; values in the order of the columns."""
    if rows:
        connection.exec_driver_sql(_insertion(table, connection.dialect.name) + _replacement(table), list(rows))


@cache
def _names(table: sa.Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.columns)


@cache
def _insertion(table: sa.Table, database: str) -> str:
    marks = ", ".join(["?" if database == "sqlite" else "%s"] * len(table.columns))
    return f"INSERT INTO {table.name} ({_names(table)}) VALUES ({marks})"


@cache
def _replacement(table: sa.Table) -> str:
    keys = ", ".join(f'"{column.name}"' for column in table.primary_key.columns)
    others = [column.name for column in table.columns if not column.primary_key]
    return f" ON CONFLICT ({keys}) DO UPDATE SET " + ", ".join(f'"{name}" = excluded."{name}"' for name in others)
