"""The rows of a table in a file, one after the other: CSV, TSV, JSONL or Parquet, also compressed by gzip.

A table of any length is read in bounded memory. Cells of CSV and TSV are texts; those of JSONL and Parquet are what
the file holds.
"""

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from cusal.errors import DataError, MissingExtra

TEXT = (".csv", ".tsv", ".jsonl", ".ndjson")
SUFFIXES = (*TEXT, *(f"{suffix}.gz" for suffix in TEXT), ".parquet")
SAMPLE = 1 << 16  # characters from which the separator is guessed
BROKEN = (UnicodeDecodeError, OSError, EOFError, zlib.error, csv.Error)
BATCH = 8192  # rows of a Parquet file that are read together


class TableRows:
    """The columns of a table, and its rows as tuples in their order.

    Parameters
    ----------
    path : path
        A file whose name ends in one of `SUFFIXES`.

    Raises
    ------
    DataError
        If the file is missing, empty, of another kind or damaged; the message names it and the line.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.suffix = next((s for s in SUFFIXES if self.path.name.lower().endswith(s)), None)
        if self.suffix is None:
            raise DataError(f"{path} is no table that can be read; expected a name that ends in {', '.join(SUFFIXES)}.")
        if not self.path.is_file():
            raise DataError(f"there is no file {path}; give the path of a table.")
        self.columns: Sequence[str] = self._read_columns()
        if len(set(self.columns)) < len(self.columns):
            twice = next(name for name in self.columns if self.columns.count(name) > 1)
            raise DataError(f"{path} has two columns named {twice!r}; rename one of them.")

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        if self.suffix == ".parquet":
            return self._parquet_rows()
        return self._json_rows() if "json" in str(self.suffix) or "ndjson" in str(self.suffix) else self._csv_rows()

    def _open(self) -> IO[str]:
        opened = gzip.open if str(self.suffix).endswith(".gz") else open
        binary: Any = opened(self.path, "rb")
        return io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")

    def _read_columns(self) -> Sequence[str]:
        try:
            if self.suffix == ".parquet":
                return list(self._parquet().schema_arrow.names)
            with self._open() as file:
                if "json" in str(self.suffix):
                    return list(self._record(file.readline(), 1))
                return self._header(file)
        except BROKEN as error:
            raise self._damaged(str(error)) from error

    def _header(self, file: IO[str]) -> Sequence[str]:
        header = next(csv.reader(file, delimiter=self._delimiter), None)
        if not header or not any(cell.strip() for cell in header):
            raise DataError(f"{self.path} is empty; expected a first line with the names of the columns.")
        return [cell.strip() for cell in header]

    @property
    def _delimiter(self) -> str:
        if "tsv" in str(self.suffix):
            return "\t"
        with self._open() as file:
            first = file.read(SAMPLE).split("\n", 1)[0]
        return max(",;\t|", key=first.count) if any(mark in first for mark in ",;\t|") else ","

    def _csv_rows(self) -> Iterator[tuple[Any, ...]]:
        csv.field_size_limit(sys.maxsize)  # a text may be as long as it likes
        width = len(self.columns)
        with self._open() as file:
            rows = csv.reader(file, delimiter=self._delimiter)
            try:
                next(rows)
                for row in rows:
                    if not row:
                        continue  # an empty line
                    if len(row) != width:
                        raise DataError(
                            f"{self.path}, line {rows.line_num}: {len(row)} cells, but the header has {width}; "
                            "put texts that hold separators or quotes in double quotes."
                        )
                    yield tuple(row)
            except BROKEN as error:
                raise self._damaged(f"line {rows.line_num}: {error}") from error

    def _json_rows(self) -> Iterator[tuple[Any, ...]]:
        try:
            with self._open() as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        record = self._record(line, number)
                        yield tuple(record.get(name) for name in self.columns)
        except BROKEN as error:
            raise self._damaged(str(error)) from error

    def _record(self, line: str, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._damaged(f"line {number}: {error}") from error
        if not isinstance(record, dict):
            raise self._damaged(f"line {number} is no object")
        return record

    def _parquet(self) -> Any:
        try:
            from pyarrow import lib, parquet
        except ImportError as error:
            raise MissingExtra("reading Parquet files", "parquet") from error
        try:
            return parquet.ParquetFile(self.path)
        except (lib.ArrowException, OSError) as error:
            raise self._damaged(str(error)) from error

    def _parquet_rows(self) -> Iterator[tuple[Any, ...]]:
        from pyarrow import lib

        try:
            for batch in self._parquet().iter_batches(batch_size=BATCH):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
        except (lib.ArrowException, OSError) as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, reason: str) -> DataError:
        return DataError(f"{self.path} cannot be read ({' '.join(reason.split())}); expected a table in UTF-8.")
