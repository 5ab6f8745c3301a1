"""Rows of a Parquet file, one row group after the other: a column of lists, or one for each class."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal.errors import DataError
from cusal.scale.columns import Found, find_probs
from cusal.scale.formats._arrow_lists import by_name, first_names, unwrapped
from cusal.scale.parts import Chunk, Column, Contents, Tile, tile_rows
from cusal.tables.files import arrow, first_line, next_batch, open_parquet

SUFFIXES = (".parquet", ".pq")
UNIT_NAME = "row group"


def describe(path: Path, column: Column) -> Contents:
    """Return the classes and the rows of each row group."""
    with open_parquet(path) as file:
        found = find_probs(file.schema_arrow.names, column, path)
        units = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        if found.lists is None:
            return Contents(len(found.columns), units, found.names)
        return Contents(*_first_list(file, found, path, units))


def read(chunk: Chunk) -> Iterator[Tile]:
    """Yield the rows of a chunk's row groups."""
    path, column = chunk.part.path, chunk.part.column
    row = chunk.first_row
    with open_parquet(path) as file:
        names = file.schema_arrow.names
        found = find_probs(names, column, path)
        wanted = [found.lists] if found.lists is not None else list(found.columns)
        wanted += [column.table] if column.table in names else []
        for group in range(chunk.first_unit, chunk.stop_unit):
            batches = file.iter_batches(tile_rows(chunk.part.classes), row_groups=[group], columns=wanted)
            while (batch := next_batch(batches, f"{path}: row group {group}")) is not None:
                yield Tile(_as_probs(batch, found, chunk, row), _as_beside(batch, column, chunk, row))
                row += len(batch)


def _first_list(file: Any, found: Found, path: Path, units: list[int]) -> tuple[int, list[int], tuple[str, ...]]:
    """Return the number of classes of a list column, the units, and the names of classes where lists hold them."""
    kind = file.schema_arrow.field(found.lists).type
    types = arrow().types
    if types.is_fixed_size_list(kind) and types.is_floating(kind.value_type):
        return int(kind.list_size), units, found.names
    batch = next_batch(file.iter_batches(1, columns=[found.lists]), f"{path}: row group 0")
    if batch is None:
        raise DataError(f"{path} has no rows, so the length of its lists is not known; leave it out.")
    first = unwrapped(batch.column(found.lists), f"{path}: column {found.lists}")
    if types.is_struct(first.type.value_type):
        names = found.names or first_names(first, f"{path}: {found.lists}")
        return len(names), units, names
    classes = len(first[0].as_py() or ())
    if found.names and len(found.names) != classes:
        raise DataError(f"{path} has {classes} classes, but {len(found.names)} are named; name each of them.")
    return classes, units, found.names


def _as_probs(batch: Any, found: Found, chunk: Chunk, row: int) -> NDArray:
    classes = chunk.part.classes
    if found.lists is None:
        columns = [batch.column(name) for name in found.columns]
        for name, values in zip(found.columns, columns, strict=True):
            _refuse_nulls(values, name, chunk, row)
        return np.stack([_as_numbers(v, n, chunk) for n, v in zip(found.columns, columns, strict=True)], axis=1)
    lists = batch.column(found.lists)
    _refuse_nulls(lists, found.lists, chunk, row)
    lists = unwrapped(lists, f"{chunk.part.path}: column {found.lists}")
    lengths = arrow().compute.list_value_length(lists).to_numpy(zero_copy_only=False)
    where = f"{chunk.part.path}: {found.lists}"
    if (lengths != classes).any():
        bad = int(np.argmax(lengths != classes))
        raise DataError(
            f"{where}: {chunk.locate(row + bad)} has {lengths[bad]} numbers, expected {classes}; "
            "give one for each class."
        )
    values = lists.flatten()
    if arrow().types.is_struct(values.type):
        return by_name(values, chunk.part.names, lambda bad: f"{where}: {chunk.locate(row + bad)}")
    if values.null_count:
        bad = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False))) // classes
        raise DataError(f"{where}: {chunk.locate(row + bad)} has a null; expected numbers.")
    return np.asarray(values.to_numpy().reshape(-1, classes))


def _as_numbers(values: Any, name: str, chunk: Chunk) -> NDArray:
    types = arrow().types
    if not (types.is_floating(values.type) or types.is_integer(values.type) or types.is_decimal(values.type)):
        raise DataError(f"{chunk.part.path}: column {name} holds {values.type}; expected numbers.")
    return np.asarray(values.cast("double").to_numpy() if types.is_decimal(values.type) else values.to_numpy())


def _as_beside(batch: Any, column: Column, chunk: Chunk, row: int) -> NDArray | None:
    if column.table not in batch.schema.names:
        return None
    values = batch.column(column.table)
    _refuse_nulls(values, column.table, chunk, row)
    try:
        return np.asarray(values.to_numpy(zero_copy_only=False))
    except (arrow().ArrowException, UnicodeDecodeError) as error:  # text that is no UTF-8
        where = f"{chunk.part.path}: column {column.table}"
        raise DataError(f"{where} cannot be read ({first_line(error)}); write the file again.") from error


def _refuse_nulls(values: Any, name: str, chunk: Chunk, row: int) -> None:
    if values.null_count:
        bad = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise DataError(f"{chunk.part.path}: {name}: {chunk.locate(row + bad)} is null; give every row a value.")
