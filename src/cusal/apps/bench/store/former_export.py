"""Exports as earlier versions wrote them: a gzipped CSV for each table, all runs together, and sessions beside them."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from cusal.apps.bench.store.records import Row, check_rounds, check_run
from cusal.apps.bench.store.run_file import KEPT, LARGEST_BYTES, NOT_AN_EXPORT, ExportedRun, unpack
from cusal.apps.bench.store.schema import OF_A_ROUND
from cusal.errors import StoreError

RUNS_FILE = "runs.csv.gz"
SESSIONS = "session-*.pickle.gz"


def former_files(folder: Path) -> list[Path]:
    """Return the files of such an export that are in a folder."""
    names = [RUNS_FILE, *(f"{table.name}.csv.gz" for table in OF_A_ROUND)]
    return [path for path in (folder / name for name in names) if path.exists()] + sorted(folder.glob(SESSIONS))


def read_former(folder: Path) -> list[ExportedRun]:
    """Return the runs of such an export."""
    runs = _read(folder / RUNS_FILE, KEPT)
    tables = {table.name: _by_run(_read(folder / f"{table.name}.csv.gz", table.columns)) for table in OF_A_ROUND}
    sessions = {path.name[8:-10]: path for path in folder.glob(SESSIONS)}
    try:
        for run in runs:
            check_run(run, KEPT)
            check_rounds([row["round"] for row in tables["rounds"].get(run["id"], [])], run)
    except NOT_AN_EXPORT as error:
        raise StoreError(f"{folder / RUNS_FILE} is not a file that an export wrote: {error}; export again.") from error
    return [
        ExportedRun(
            run,
            {name: rows.get(run["id"], []) for name, rows in tables.items()},
            unpack(sessions[run["id"]]) if run["id"] in sessions else None,
        )
        for run in runs
    ]


def _by_run(rows: list[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["run_id"], []).append(row)
    return groups


def _read(path: Path, columns: Iterable[sa.Column[Any]]) -> list[Row]:
    kinds = {column.name: (column.type.python_type, bool(column.nullable)) for column in columns}
    before = csv.field_size_limit(LARGEST_BYTES)  # a traceback may be of any length
    try:
        reader = csv.reader(io.StringIO(unpack(path).decode(), newline=""))
        names = next(reader)
        if set(names) != set(kinds):
            raise ValueError(f"its columns are {', '.join(names)}, expected {', '.join(kinds)}")
        return [{name: _value(cell, *kinds[name]) for name, cell in zip(names, line, strict=True)} for line in reader]
    except (*NOT_AN_EXPORT, StopIteration) as error:
        raise StoreError(f"{path} is not a file that an export wrote: {error}; export again.") from error
    finally:
        csv.field_size_limit(before)


def _value(cell: str, kind: type, nullable: bool) -> Any:
    return None if nullable and cell == "" else kind(cell)
