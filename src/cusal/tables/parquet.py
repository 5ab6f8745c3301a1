"""Parquet files: records by column name, read a few thousand rows at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cusal.errors import DataError, MissingExtra

SUFFIXES = (".parquet", ".pq")
ROWS = 1_000  # that are turned into Python objects together
BUFFER_BYTES = 1 << 16  # of each column: without it, a whole row group is held


class Parquet:
    """A table in a Parquet file.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._opened() as file:
            self.columns = [str(name) for name in file.schema_arrow.names]
            self._rows = int(file.metadata.num_rows)
        self._done = 0

    @property
    def share(self) -> float | None:
        """How much of the file has been read."""
        return self._done / max(self._rows, 1)

    def notes(self) -> list[str]:
        """Return what was noticed while reading: nothing."""
        return []

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the rows in order."""
        self._done = 0
        with self._opened() as file:
            batches = file.iter_batches(batch_size=ROWS)
            while (batch := self._next(batches)) is not None:
                self._done += len(batch)
                yield from batch.to_pylist()

    def _opened(self) -> Any:
        arrow = _arrow()
        try:
            return arrow.parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=BUFFER_BYTES)
        except (arrow.ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise DataError(f"{self.path} is no Parquet file, or a damaged one ({reason}); write it again.") from error

    def _next(self, batches: Iterator[Any]) -> Any:
        try:
            return next(batches, None)
        except (_arrow().ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise DataError(f"{self.path} cannot be read ({reason}); write the file again.") from error


def _arrow() -> Any:
    """Return pyarrow, which loads when the first Parquet file is met."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet", "parquet") from error
    return pyarrow
