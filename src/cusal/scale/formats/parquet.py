"""Rows of a Parquet file, one row group after the other: a list column `probs`, or columns `p0 .. pK-1`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal.errors import DataError, MissingExtra
from cusal.scale.parts import Chunk, Column, Tile, tile_rows

SUFFIXES = (".parquet", ".pq")
UNIT_NAME = "row group"
BUFFER_BYTES = 1 << 16  # of each column: without it, a whole row group is held


def describe(path: Path, column: Column) -> tuple[int, list[int]]:
    """Return the classes and the rows of each row group."""
    with _opened(path) as file:
        names = file.schema_arrow.names
        if column.required and column.parquet not in names:
            raise DataError(f"{path} has no column {column.parquet}; it has {', '.join(names)}.")
        units = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        return _count_classes(file, path), units


def read(chunk: Chunk, column: Column) -> Iterator[Tile]:
    """Yield the rows of a chunk's row groups."""
    path, classes = chunk.part.path, chunk.part.classes
    row = chunk.first_row
    with _opened(path) as file:
        names = file.schema_arrow.names
        wanted = ["probs"] if "probs" in names else [f"p{k}" for k in range(classes)]
        wanted += [column.parquet] if column.parquet in names else []
        for group in range(chunk.first_unit, chunk.stop_unit):
            batches = file.iter_batches(tile_rows(classes), row_groups=[group], columns=wanted)
            while (batch := _next_batch(batches, f"{path}: row group {group}")) is not None:
                yield Tile(_as_probs(batch, chunk, row), _as_beside(batch, column, chunk, row))
                row += len(batch)


def _arrow() -> Any:
    """Return pyarrow, which loads when the first Parquet file is met."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet", "parquet") from error
    return pyarrow


def _opened(path: Path) -> Any:
    arrow = _arrow()
    try:
        return arrow.parquet.ParquetFile(
            path, pre_buffer=False, buffer_size=BUFFER_BYTES, page_checksum_verification=True
        )
    except (arrow.ArrowException, OSError) as error:
        if isinstance(error, PermissionError):
            raise
        raise DataError(
            f"{path} is no Parquet file, or a damaged one ({_first_line(error)}); write it again."
        ) from error


def _next_batch(batches: Iterator[Any], where: str) -> Any:
    try:
        return next(batches, None)
    except (_arrow().ArrowException, OSError) as error:
        raise DataError(f"{where} cannot be read ({_first_line(error)}); write the file again.") from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def _count_classes(file: Any, path: Path) -> int:
    schema = file.schema_arrow
    if "probs" not in schema.names:
        numbers = {int(name[1:]) for name in schema.names if re.fullmatch(r"p(0|[1-9]\d*)", name)}
        missing = min(set(range(max(numbers) + 1)) - numbers, default=None) if numbers else None
        if missing is not None:
            raise DataError(f"{path} has no column p{missing}; expected p0 to p{max(numbers)} without a gap.")
        if len(numbers) < 2:
            raise DataError(
                f"{path} has neither a list column probs nor columns p0, p1, ...; it has {', '.join(schema.names)}."
            )
        return len(numbers)
    kind = schema.field("probs").type
    types = _arrow().types
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    if not any(is_list(kind) for is_list in lists) or not types.is_floating(kind.value_type):
        raise DataError(f"{path}: column probs holds {kind}; expected lists of floating-point numbers.")
    if types.is_fixed_size_list(kind):
        return int(kind.list_size)
    batch = _next_batch(file.iter_batches(1, columns=["probs"]), f"{path}: row group 0")
    if batch is None:
        raise DataError(f"{path} has no rows, so the length of its lists is not known; leave it out.")
    return len(batch.column("probs")[0].as_py() or ())


def _as_probs(batch: Any, chunk: Chunk, row: int) -> NDArray:
    classes = chunk.part.classes
    if "probs" not in batch.schema.names:
        columns = [batch.column(f"p{k}") for k in range(classes)]
        for k, values in enumerate(columns):
            _refuse_nulls(values, f"p{k}", chunk, row)
        return np.stack([values.to_numpy(zero_copy_only=False) for values in columns], axis=1)
    lists = batch.column("probs")
    _refuse_nulls(lists, "probs", chunk, row)
    lengths = _arrow().compute.list_value_length(lists).to_numpy()
    if (lengths != classes).any():
        bad = int(np.argmax(lengths != classes))
        raise DataError(
            f"{chunk.part.path}: probs: {chunk.locate(row + bad)} has {lengths[bad]} numbers, expected {classes}; "
            "give one for each class."
        )
    values = lists.flatten()
    if values.null_count:
        bad = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False))) // classes
        raise DataError(f"{chunk.part.path}: probs: {chunk.locate(row + bad)} has a null; expected numbers.")
    return np.asarray(values.to_numpy().reshape(-1, classes))


def _as_beside(batch: Any, column: Column, chunk: Chunk, row: int) -> NDArray | None:
    if column.parquet not in batch.schema.names:
        return None
    values = batch.column(column.parquet)
    _refuse_nulls(values, column.parquet, chunk, row)
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _refuse_nulls(values: Any, name: str, chunk: Chunk, row: int) -> None:
    if values.null_count:
        bad = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise DataError(f"{chunk.part.path}: {name}: {chunk.locate(row + bad)} is null; give every row a value.")
