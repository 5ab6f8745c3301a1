"""Tables of any length as CSV, JSONL or Parquet: written chunk by chunk, complete in the end or not there at all.

A chunk is a list of values for each column. Kinds of columns: "text", "integer", "number", "truth" and "time", which
is in seconds since 1970 and is written as a moment in UTC. None is a missing value. Texts that a spreadsheet would
take for a formula are escaped in CSV, see `cusal.tables.cells`.
"""

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cusal._files import whole_file
from cusal.errors import InvalidInput, MissingExtra
from cusal.tables.cells import safe_cell

Schema = Mapping[str, str]  # the kind of each column
Values = Sequence[Any] | NDArray[Any]  # of one column
Chunk = Mapping[str, Values]
DECIMALS = 6  # of numbers in text files


class TableWriter(Protocol):
    """A table that is being written."""

    def write(self, chunk: Chunk) -> None:
        """Add rows."""

    def close(self) -> None:
        """Write what is left, and close the file."""


def write(path: str | Path, columns: Mapping[str, Values]) -> None:
    """Write a table as CSV, JSONL or Parquet by the suffix; the file is there whole or not at all.

    Parameters
    ----------
    path : str or Path
        The file; one that is there is replaced.
    columns : mapping of str to sequence
        The values of each column: numbers, truth values, or texts; None or NaN where there is none.

    Raises
    ------
    InvalidInput
        If the suffix is another.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(f"{folder}/films.csv", {"id": [7, 8], "review": ["=SUM(A1)", None]})
    ...     print(Path(folder, "films.csv").read_text())
    id,review
    7,'=SUM(A1)
    8,
    <BLANKLINE>
    """
    plain = {name: [_plain(value) for value in _same(values)] for name, values in columns.items()}
    kinds = {name: _kind(values) for name, values in plain.items()}
    texts = {name: list(map(_text, values)) if kinds[name] == "text" else values for name, values in plain.items()}
    with open_writer(Path(path), kinds) as table:
        table.write(texts)


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _kind(values: Sequence[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    for known, name in (({bool}, "truth"), ({int}, "integer"), ({int, float}, "number")):
        if kinds and kinds <= known:
            return name
    return "text"


@contextmanager
def open_writer(path: Path, schema: Schema) -> Iterator[TableWriter]:
    """Yield a writer of a new table, in the format of the path's suffix; the file appears when all is written."""
    kind = writer_of(path)
    with whole_file(path) as part:
        table = kind(part, schema)
        try:
            yield table
        finally:
            table.close()


def writer_of(path: Path) -> "type[CsvTable | JsonLinesTable | ParquetTable]":
    """Return the class that writes files of a path's suffix."""
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"{path} ends in {path.suffix or 'nothing'}; expected {', '.join(SUFFIXES)}: rename it.")
    return SUFFIXES[path.suffix.lower()]


class CsvTable:
    """A CSV file in UTF-8."""

    def __init__(self, path: Path, schema: Schema) -> None:
        self._kinds = dict(schema)
        self._file = path.open("w", encoding="utf-8", errors="backslashreplace", newline="")
        self._rows = csv.writer(self._file)
        self._rows.writerow([safe_cell(name) for name in schema])

    def write(self, chunk: Chunk) -> None:
        """Add rows."""
        columns = [CELLS[kind](chunk[name]) for name, kind in self._kinds.items()]
        self._rows.writerows(zip(*columns, strict=True))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class JsonLinesTable:
    """A file with one JSON object in each line."""

    def __init__(self, path: Path, schema: Schema) -> None:
        self._kinds = dict(schema)
        # Half of a surrogate pair, as in names of files that are not UTF-8, becomes what JSON writes for it.
        self._file = path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")

    def write(self, chunk: Chunk) -> None:
        """Add rows."""
        columns = [JSON[kind](chunk[name]) for name, kind in self._kinds.items()]
        for row in zip(*columns, strict=True):
            record = dict(zip(self._kinds, row, strict=True))
            self._file.write(f"{json.dumps(record, ensure_ascii=False, allow_nan=False)}\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ParquetTable:
    """A Parquet file, one row group for each chunk."""

    def __init__(self, path: Path, schema: Schema) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            raise MissingExtra("writing Parquet files", "parquet") from error
        types = {
            "text": pyarrow.string(),
            "integer": pyarrow.int64(),
            "number": pyarrow.float64(),
            "truth": pyarrow.bool_(),
            "time": pyarrow.timestamp("ms", tz="UTC"),
        }
        self._kinds, self._make = dict(schema), pyarrow.table
        self._schema = pyarrow.schema([(name, types[kind]) for name, kind in schema.items()])
        self._file = parquet.ParquetWriter(path, self._schema)

    def write(self, chunk: Chunk) -> None:
        """Add rows."""
        columns = {name: PARQUET[kind](chunk[name]) for name, kind in self._kinds.items()}
        self._file.write_table(self._make(columns, schema=self._schema))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


SUFFIXES: dict[str, type[CsvTable | JsonLinesTable | ParquetTable]] = {
    ".csv": CsvTable,
    ".jsonl": JsonLinesTable,
    ".parquet": ParquetTable,
}


def moment(seconds: float) -> str:
    """Return a time in seconds since 1970 as text.

    >>> moment(1700000000.25)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(math.floor(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _each(convert: Callable[[Any], Any]) -> Callable[[Values], list[Any]]:
    """Return what converts a column value by value, and leaves missing ones."""
    return lambda values: [None if value is None else convert(value) for value in values]


def _same(values: Values) -> Iterable[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else values


def _rounded(values: Values) -> list[float | None]:
    if isinstance(values, np.ndarray):
        rounded: list[float | None] = np.round(values.astype(np.float64), DECIMALS).tolist()
        return rounded
    return [None if value is None else round(float(value), DECIMALS) for value in values]


# What the values of each kind become; CSV writes None as an empty cell.
CELLS: dict[str, Callable[[Values], Iterable[Any]]] = {
    "text": _each(safe_cell),
    "integer": _same,
    "number": _rounded,
    "truth": _each(lambda value: str(bool(value)).lower()),
    "time": _each(moment),
}
JSON = CELLS | {"text": _same, "truth": _same}
PARQUET = CELLS | {
    "text": _each(lambda value: value.encode("utf-8", "backslashreplace").decode("utf-8")),
    "number": _same,
    "truth": _same,
    "time": _each(lambda value: math.floor(value * 1000)),  # not rounded: it would be a second later than the text
}
