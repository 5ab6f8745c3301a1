"""Rows of a `.npy` file, read by position: a memory map would count as resident memory, page by page."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy_format

from cusal.errors import DataError
from cusal.scale.parts import Chunk, Column, Tile, tile_rows


class Header(NamedTuple):
    """What stands before the data of an array."""

    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype
    offset: int


def read_header(stream: BinaryIO, name: str) -> Header:
    """Give the header of the array that begins here."""
    try:
        version = npy_format.read_magic(stream)
        read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        shape, by_column, dtype = read(stream)
    except ValueError as error:
        raise DataError(f"{name} is no NumPy array ({error}); write it with numpy.save.") from error
    if dtype.hasobject:
        raise DataError(f"{name} holds Python objects; expected numbers or strings. Convert it with astype.")
    return Header(shape, by_column, dtype, stream.tell())


def as_probs_header(header: Header, name: str) -> Header:
    """Give the header if it is that of probabilities."""
    if len(header.shape) != 2 or header.shape[1] < 2:
        raise DataError(f"{name} has shape {header.shape}; expected (rows, classes) with two or more classes.")
    if not np.issubdtype(header.dtype, np.floating):
        raise DataError(f"{name} holds {header.dtype}; expected floating-point probabilities.")
    return header


def describe(path: Path, column: Column) -> tuple[int, list[int]]:
    """Give the classes and the rows of each unit: any rows can be read on their own, so a unit is a tile."""
    if column.required:
        raise DataError(f"{path} holds no {column.array}; give .npz with probs and {column.array}, or Parquet.")
    with path.open("rb") as file:
        header = as_probs_header(read_header(file, str(path)), str(path))
        rows, classes = header.shape
        expected, met = header.offset + rows * classes * header.dtype.itemsize, os.fstat(file.fileno()).st_size
    if met < expected:
        raise DataError(f"{path} has {met} bytes, but its header says {expected}; it is cut short. Write it again.")
    step = tile_rows(classes)
    return classes, [min(step, rows - start) for start in range(0, rows, step)]


def read(chunk: Chunk, column: Column) -> Iterator[Tile]:
    """Give the rows of a chunk, unit by unit."""
    with chunk.part.path.open("rb", buffering=0) as file:
        header = read_header(file, str(chunk.part.path))
        row = chunk.first_row
        for count in chunk.part.units[chunk.first_unit : chunk.stop_unit]:
            yield Tile(_read_rows(file, header, row, count), None)
            row += count


def _read_rows(file: BinaryIO, header: Header, row: int, count: int) -> np.ndarray:
    rows, classes = header.shape
    size = header.dtype.itemsize
    if not header.by_column:
        file.seek(header.offset + row * classes * size)
        return np.fromfile(file, header.dtype, count * classes).reshape(-1, classes)
    tile = np.empty((count, classes), header.dtype)
    for k in range(classes):
        file.seek(header.offset + (k * rows + row) * size)
        tile[:, k] = np.fromfile(file, header.dtype, count)
    return tile
