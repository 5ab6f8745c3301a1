"""Opening a file of an evaluation tool: the reader is found by what the file holds.

A reader has a NAME, `fits(content)` and `rows(content)`; content is the object of a .json file, or the rows of a table.
Its rows have an `id`, texts, one column for each score, and `predicted` and `confidence` where there is one score only.
"""

import json
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from cusal.errors import DataError
from cusal.tables import Table, read

JSON, ARCHIVE = ".json", ".eval"
Row = dict[str, Any]


class RowsOfTool(Table):
    """The rows that a reader made of a tool's file, held in memory."""

    def __init__(self, path: Path, rows: list[Row], tool: str) -> None:
        super().__init__(path)
        self.rows, self.tool = rows, tool
        self.columns = list(dict.fromkeys(name for row in rows for name in row))

    @property
    def share(self) -> float | None:
        """All of it."""
        return 1.0

    def records(self) -> Iterator[Row]:
        """Yield the rows; a cell that is missing is None."""
        for row in self.rows:
            yield {name: row.get(name) for name in self.columns}


@cache
def readers() -> list[ModuleType]:
    """Return the readers: every module of this folder."""
    package = __name__.rpartition(".")[0]
    found = (module.name for module in iter_modules([str(Path(__file__).parent)]))
    return [import_module(f"{package}.{name}") for name in found if name[0] != "_"]


def open_source(path: str, *, header: bool | None = None) -> Table:
    """Return the rows of a table, or of a file of a tool that is recognised by its content."""
    file = Path(path)
    if file.name.lower().endswith((JSON, ARCHIVE)):
        return _from_json(file)
    table = read(path, header=header)
    first = next(table.records(), None)
    reader = None if first is None else _reader_of([first])
    if reader is None or first is None:
        return table
    return _rows(file, reader, [{k: v for k, v in row.items() if v is not None} for row in table.records()])


def _from_json(file: Path) -> Table:
    if not file.is_file():
        raise DataError(f"there is no file {file}; give the path of a table.")
    try:
        content = _archive(file) if file.name.lower().endswith(ARCHIVE) else json.loads(file.read_bytes())
    except DataError:
        raise
    except (ValueError, RecursionError, OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{file} cannot be read ({error}); expected JSON as a tool writes it.") from error
    reader = _reader_of(content)
    if reader is not None:
        return _rows(file, reader, content)
    if isinstance(content, list) and content and all(isinstance(row, dict) for row in content):
        return RowsOfTool(file, content, "")
    known = ", ".join(reader.NAME for reader in readers())
    raise DataError(
        f"{file} is no file of {known}, and no list of objects; write one object for each item into a .jsonl file, and "
        "name its columns with --id, --predicted, --confidence and --text."
    )


def _archive(file: Path) -> Any:
    """Return an Inspect log that is a zip file as the object that its JSON form would hold."""
    with zipfile.ZipFile(file) as archive:
        names = sorted(name for name in archive.namelist() if name.startswith("samples/") and name.endswith(JSON))
        try:
            return {"eval": {}, "samples": [json.loads(archive.read(name)) for name in names]}
        except NotImplementedError as error:  # Python before 3.14 has no zstandard
            raise DataError(f"{file} is packed by zstandard; run: inspect log dump {file} > log.json") from error


def _reader_of(content: Any) -> ModuleType | None:
    return next((reader for reader in readers() if reader.fits(content)), None)


def _rows(file: Path, reader: ModuleType, content: Any) -> Table:
    try:
        rows: list[Row] = reader.rows(content)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise DataError(
            f"{file} looks like a file of {reader.NAME}, but holds something else ({type(error).__name__}: {error}); "
            "write one object for each item into a .jsonl file, and name its columns with --id and --predicted."
        ) from error
    if not rows:
        raise DataError(f"{file} is a file of {reader.NAME} without a verdict; run its graders, and export again.")
    return RowsOfTool(file, rows, reader.NAME)
