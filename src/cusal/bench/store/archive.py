"""A store as compact files: a gzipped CSV for each table, and the sessions of unfinished runs where they are small.

Numbers are written so that they read back bit for bit, and the same runs give the same bytes. A run that was under
way goes on where it stopped if its session is there, else it starts again; `Summary` says which.

Sessions are pickles: load only folders that you trust.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from cusal._files import write_whole
from cusal.bench.store.schema import CHECKPOINTS, OF_A_ROUND, RUNS
from cusal.errors import StoreError

if TYPE_CHECKING:
    from cusal.bench.store.records import Row

SMALL_BYTES = 1 << 20  # of one gzipped session
KEPT = [column for column in RUNS.columns if column.name not in ("lease", "owner")]


@dataclass(frozen=True)
class Summary:
    """How many runs were written or read, how many of them are done, and which go on and which start again."""

    runs: int
    done: int
    going_on: tuple[str, ...]
    starting_again: tuple[str, ...]

    def __str__(self) -> str:
        text = f"{self.runs} runs, {self.done} of them done"
        if self.going_on:
            text += f"; {len(self.going_on)} go on where they stopped: {', '.join(self.going_on)}"
        if self.starting_again:
            text += f"; {len(self.starting_again)} start again: {', '.join(self.starting_again)}"
        return text


def export(connection: sa.Connection, folder: Path) -> Summary:
    """Write everything that this connection sees to `folder`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("session-*.pickle.gz"):
            old.unlink()
        runs = _rows(connection, sa.select(*KEPT).order_by(RUNS.c.id))
        for run in runs:
            run["status"] = "open" if run["status"] == "running" else run["status"]
        _write(folder / "runs.csv.gz", [column.name for column in KEPT], runs)
        for table in OF_A_ROUND:
            rows = _rows(connection, sa.select(table).order_by(*table.primary_key.columns))
            _write(folder / f"{table.name}.csv.gz", table.columns.keys(), rows)
        sessions = {}
        for row in _rows(connection, sa.select(CHECKPOINTS)):
            packed = gzip.compress(row["state"], mtime=0)
            if len(packed) <= SMALL_BYTES:
                sessions[row["run_id"]] = packed
                write_whole(folder / f"session-{row['run_id']}.pickle.gz", packed)
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror}; give a folder that can be written.") from error
    return _summary(runs, set(sessions))


def load(connection: sa.Connection, folder: Path, *, held: set[str]) -> Summary:
    """Put the runs of `folder` into the database.

    A run that is there stays unless the folder has more rounds of it; one that is `held` by a runner stays anyway.
    """
    runs = _read(folder / "runs.csv.gz", KEPT)
    rows = {table: _by_run(_read(folder / f"{table.name}.csv.gz", table.columns)) for table in OF_A_ROUND}
    sessions = {path.name[8:-10]: _unpack(path) for path in sorted(folder.glob("session-*.pickle.gz"))}
    rounds = OF_A_ROUND[0]
    count = sa.func.count(rounds.c.round).label("rounds")
    known = connection.execute(sa.select(RUNS.c.id, count).outerjoin(rounds).group_by(RUNS.c.id))
    there = {row.id: row.rounds for row in known}
    taken = [run for run in runs if len(rows[rounds].get(run["id"], [])) > there.get(run["id"], -1)]
    taken = [run for run in taken if run["id"] not in held]
    for run in taken:
        connection.execute(RUNS.delete().where(RUNS.c.id == run["id"]))
        connection.execute(RUNS.insert().values(**run))
        for table in OF_A_ROUND:
            if own := rows[table].get(run["id"]):
                connection.execute(table.insert(), own)
        if run["id"] in sessions:
            last = max(row["round"] for row in rows[rounds][run["id"]])
            connection.execute(CHECKPOINTS.insert().values(run_id=run["id"], round=last, state=sessions[run["id"]]))
    return _summary(taken, set(sessions))


def _summary(runs: "list[Row]", sessions: set[str]) -> Summary:
    unfinished = [run["id"] for run in runs if run["status"] != "done"]
    going_on = tuple(run_id for run_id in unfinished if run_id in sessions)
    starting_again = tuple(run_id for run_id in unfinished if run_id not in sessions)
    return Summary(len(runs), len(runs) - len(unfinished), going_on, starting_again)


def _rows(connection: sa.Connection, query: sa.Select[Any]) -> "list[Row]":
    return [dict(row) for row in connection.execute(query).mappings()]


def _by_run(rows: "list[Row]") -> "dict[str, list[Row]]":
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["run_id"], []).append(row)
    return groups


def _write(path: Path, names: list[str], rows: "list[Row]") -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([row[name] for name in names] for row in rows)  # floats by repr, None as an empty cell
    write_whole(path, gzip.compress(text.getvalue().encode(), mtime=0))


def _read(path: Path, columns: Iterable[sa.Column[Any]]) -> "list[Row]":
    kinds = {column.name: (column.type.python_type, bool(column.nullable)) for column in columns}
    try:
        reader = csv.reader(io.StringIO(_unpack(path).decode(), newline=""))
        names = next(reader)
        if set(names) != set(kinds):
            raise ValueError(f"its columns are {', '.join(names)}, expected {', '.join(kinds)}")
        return [{name: _value(cell, *kinds[name]) for name, cell in zip(names, line, strict=True)} for line in reader]
    except (ValueError, StopIteration) as error:
        raise StoreError(f"{path} is not a file that an export wrote: {error}; export again.") from error


def _value(cell: str, kind: type, nullable: bool) -> Any:
    return None if nullable and cell == "" else kind(cell)


def _unpack(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except FileNotFoundError:
        raise StoreError(f"there is no {path}; give a folder that `cusal store export` wrote.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise StoreError(f"{path} is damaged: {error}; export again.") from error
