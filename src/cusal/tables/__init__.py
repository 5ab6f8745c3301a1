"""Tables in files, read row by row: CSV, TSV, JSON lines and Parquet; all but Parquet also compressed by gzip."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from cusal.errors import DataError
from cusal.tables import delimited, json_lines, parquet

SUFFIXES = (*delimited.SUFFIXES, *json_lines.SUFFIXES, *parquet.SUFFIXES)


class Records(Protocol):
    """A file of records. `share` says how much of it was read, from 0 to 1; `notes` what was passed over."""

    columns: list[str]

    @property
    def share(self) -> float | None: ...
    def notes(self) -> list[str]: ...
    def records(self) -> Iterator[dict[str, Any]]: ...


def open_table(path: str | Path) -> Records:
    """Return the records of a table that a user named, or raise a DataError that says why there is none."""
    file = Path(path)
    if not file.name.lower().removesuffix(".gz").endswith(SUFFIXES):
        raise DataError(f"{path} is no table; expected a name that ends in {', '.join(SUFFIXES)}.")
    if not file.is_file():
        raise DataError(f"there is no file {path}; give the path of a table.")
    return open_records(file)


def open_records(path: Path) -> Records:
    """Return the records of a file, by the suffix of its name."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(parquet.SUFFIXES):
        return parquet.Parquet(path)
    return json_lines.JsonLines(path) if name.endswith(json_lines.SUFFIXES) else delimited.Delimited(path)
