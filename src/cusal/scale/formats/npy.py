"""Rows of a `.npy` file, read by position: a memory map would count as resident memory, page by page."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from cusal._files import DAMAGED
from cusal.errors import DataError
from cusal.scale.parts import Chunk, Column, Contents, Tile, tile_rows

SUFFIXES = (".npy",)
VERSIONS = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
    (3, 0): npy_format.read_array_header_2_0,
}


class Header(NamedTuple):
    """What stands before the data of an array."""

    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype
    offset: int


def read_header(stream: BinaryIO, name: str) -> Header:
    """Return the header of the array that begins here."""
    try:
        version = npy_format.read_magic(stream)
        if version not in VERSIONS:
            raise ValueError(f"its format has the unknown version {version}")
        shape, by_column, dtype = VERSIONS[version](stream)
        if min(shape, default=0) < 0:
            raise ValueError(f"its shape is {shape}")
    except DAMAGED as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise DataError(f"{name} is no NumPy array, or a damaged one ({reason}); write it with numpy.save.") from error
    if dtype.hasobject:
        raise DataError(f"{name} holds Python objects; expected numbers or strings. Convert it with astype.")
    return Header(shape, by_column, dtype, stream.tell())


def as_probs_header(header: Header, name: str) -> Header:
    """Return the header if it is that of probabilities; raise an error if not."""
    if len(header.shape) != 2 or header.shape[1] < 2:
        raise DataError(f"{name} has shape {header.shape}; expected (rows, classes) with two or more classes.")
    if not np.issubdtype(header.dtype, np.floating):
        raise DataError(f"{name} holds {header.dtype}; expected floating-point probabilities.")
    return header


def names_of(column: Column, classes: int, path: Path) -> tuple[str, ...]:
    """Return the names of the columns of an array, as they were given."""
    if len(column.probs) < 2:  # one name is that of a table's column of lists
        return ()
    if len(column.probs) != classes:
        raise DataError(f"{path} has {classes} classes, but {len(column.probs)} are named; name each of its columns.")
    return column.probs


def describe(path: Path, column: Column) -> Contents:
    """Return the classes and the rows of each unit: any rows can be read on their own, so a unit is a tile."""
    if column.required:
        raise DataError(f"{path} holds no {column.array}; give .npz with probs and {column.array}, or a table.")
    with path.open("rb") as file:
        header = as_probs_header(read_header(file, str(path)), str(path))
        rows, classes = header.shape
        expected, met = header.offset + rows * classes * header.dtype.itemsize, os.fstat(file.fileno()).st_size
    if met < expected:
        raise DataError(f"{path} has {met} bytes, but its header says {expected}; it is cut short. Write it again.")
    step = tile_rows(classes)
    units = [min(step, rows - start) for start in range(0, rows, step)]
    return Contents(classes, units, names_of(column, classes, path))


def read(chunk: Chunk) -> Iterator[Tile]:
    """Yield the rows of a chunk, unit by unit."""
    with chunk.part.path.open("rb", buffering=0) as file:
        header = read_header(file, str(chunk.part.path))
        row = chunk.first_row
        for count in chunk.part.units[chunk.first_unit : chunk.stop_unit]:
            rows = _read_rows(file, header, row, count)
            if rows is None:
                raise DataError(f"{chunk.part.path} ends before row {row + count}; it is cut short. Write it again.")
            yield Tile(rows, None)
            row += count


def _read_rows(file: BinaryIO, header: Header, row: int, count: int) -> NDArray | None:
    """Return some rows; None where the file ends too early."""
    rows, classes = header.shape
    size = header.dtype.itemsize
    if not header.by_column:
        file.seek(header.offset + row * classes * size)
        numbers = np.fromfile(file, header.dtype, count * classes)
        return numbers.reshape(count, classes) if len(numbers) == count * classes else None
    tile = np.empty((count, classes), header.dtype)
    for k in range(classes):
        file.seek(header.offset + (k * rows + row) * size)
        numbers = np.fromfile(file, header.dtype, count)
        if len(numbers) < count:
            return None
        tile[:, k] = numbers
    return tile
