"""One run as a file: gzipped JSON that holds its line and, column by column, the rows of its rounds.

    {"format": 1, "run": {"id": ..}, "rounds": {"round": [0, 1, ..], "labelled": [20, 30, ..], ..}, "metrics": {..}, ..}

Numbers read back bit for bit. Beside it lies the pickled session of a run that is not done, if it is small.
"""

import gzip
import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cusal.bench.store.records import Row
from cusal.bench.store.schema import OF_A_ROUND, RUNS
from cusal.errors import StoreError

FORMAT = 1
ENDING = ".json.gz"
SESSION_ENDING = ".session.gz"
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
        if set(run) != {column.name for column in KEPT}:
            raise ValueError(f"its run has {', '.join(run)}")
        rows = {table.name: _rows(run["id"], content[table.name], set(table.columns.keys())) for table in OF_A_ROUND}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path} is not a file that an export wrote: {error}; export again.") from error
    session = path.with_name(path.name.removesuffix(ENDING) + SESSION_ENDING)
    return ExportedRun(run, rows, unpack(session) if session.exists() else None)


def _rows(run_id: str, columns: dict[str, list[Any]], expected: set[str]) -> list[Row]:
    names = ["run_id", *columns]
    if set(names) != expected:
        raise ValueError(f"its columns are {', '.join(columns)}, expected {', '.join(sorted(expected))}")
    return [dict(zip(names, (run_id, *cells), strict=True)) for cells in zip(*columns.values(), strict=True)]


def unpack(path: Path) -> bytes:
    """Return the content of a gzipped file."""
    try:
        return gzip.decompress(path.read_bytes())
    except FileNotFoundError:
        raise StoreError(f"there is no {path}; give a folder that `cusal store export` wrote.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise StoreError(f"{path} is damaged: {error}; export again.") from error


def _slug(name: str) -> str:
    return re.sub(r"[^\w.=-]+", "-", name)[:80].strip("-.") or "unnamed"
