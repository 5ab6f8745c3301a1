"""One run as a file: gzipped JSON that holds its line and, column by column, the rows of its rounds.

    {"format": 1, "run": {"id": ..}, "rounds": {"round": [0, 1, ..], "labelled": [20, 30, ..], ..}, "metrics": {..}, ..}

Numbers read back bit for bit. Beside it lies the pickled session of a run that is not done, if it is small.
"""

import csv
import gzip
import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from cusal.apps.bench.store.records import Row, check_cells, check_rounds, check_run
from cusal.apps.bench.store.schema import OF_A_ROUND, RUNS
from cusal.errors import StoreError

FORMAT = 1
ENDING = ".json.gz"
SESSION_ENDING = ".session.gz"
LARGEST_BYTES = 1 << 28  # of one file, unpacked: a hundred times what the largest benchmarks need
NOT_AN_EXPORT = (ValueError, KeyError, TypeError, AttributeError, RecursionError, csv.Error)
KEPT = [column for column in RUNS.columns if column.name not in ("lease", "owner")]


@dataclass(frozen=True)
class ExportedRun:
    """A run outside of a store: its line, the rows of its rounds by table, and its session if it has one to resume."""

    run: Row
    rows: dict[str, list[Row]]
    session: bytes | None = None

    @property
    def rounds(self) -> int:
        """How many rounds were done."""
        return len(self.rows["rounds"])

    @property
    def path(self) -> str:
        """The file's place in its folder, without an ending: `experiment/strategy-seed-id`."""
        return f"{_slug(self.run['experiment'])}/{_slug(self.run['strategy'])}-{self.run['seed']}-{self.run['id']}"

    def pack(self) -> bytes:
        """Return the content of the file before it is compressed."""
        content: dict[str, Any] = {"format": FORMAT, "run": self.run}
        for table in OF_A_ROUND:
            names = [name for name in table.columns.keys() if name != "run_id"]  # noqa: SIM118 - no dictionary
            content[table.name] = {name: [row[name] for row in self.rows[table.name]] for name in names}
        return json.dumps(content, separators=(",", ":")).encode()


def read_run(path: Path) -> ExportedRun:
    """Return the run of a file that an export wrote."""
    try:
        content = json.loads(unpack(path))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']}, expected {FORMAT}")
        run = content["run"]
        check_run(run, KEPT)
        rows = {table.name: _rows(run["id"], content[table.name], table) for table in OF_A_ROUND}
        check_rounds(content["rounds"]["round"], run)
    except NOT_AN_EXPORT as error:
        raise StoreError(f"{path} is not a file that an export wrote: {error}; export again.") from error
    session = path.with_name(path.name.removesuffix(ENDING) + SESSION_ENDING)
    return ExportedRun(run, rows, unpack(session) if session.exists() else None)


def _rows(run_id: str, columns: dict[str, list[Any]], table: sa.Table) -> list[Row]:
    names, expected = ["run_id", *columns], set(table.columns.keys())
    if set(names) != expected:
        raise ValueError(f"its columns are {', '.join(columns)}, expected {', '.join(sorted(expected))}")
    for name, cells in columns.items():
        check_cells(cells, table.columns[name])
    return [dict(zip(names, (run_id, *cells), strict=True)) for cells in zip(*columns.values(), strict=True)]


def unpack(path: Path) -> bytes:
    """Return the content of a gzipped file, which must not become larger than any export is."""
    try:
        with gzip.open(path) as file:
            content = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise StoreError(f"there is no {path}; give a folder that `cusal store export` wrote.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise StoreError(f"{path} is damaged: {error}; export again.") from error
    if len(content) > LARGEST_BYTES:
        raise StoreError(
            f"{path} unpacks to more than {LARGEST_BYTES >> 20} MB, which no export does; leave it out of the folder."
        )
    return content


def check_inside(path: Path, folder: Path) -> None:
    """Raise StoreError for a path that a link leads out of its folder."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise StoreError(f"{path} leads out of {folder} by a link; put the file itself there.")


def _slug(name: str) -> str:
    name = re.sub(r"[^\w.=-]+", "-", name)[:80]
    return name.encode()[:100].decode(errors="ignore").strip("-.") or "unnamed"  # names of files end at 255 bytes
