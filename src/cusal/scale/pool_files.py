"""A pool in files: which parts there are, how many rows each holds, and its rows tile by tile.

A part is one file in a format of `cusal.scale.formats`; a folder is its parts in name order. Rows are numbered through
all parts. Opening a pool reads headers alone, so that a wrong part is known before the first row is scored. Every row,
of the pool and of the labelled points, is checked here, once.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import UnitRows, as_unchecked_probs
from cusal._files import reading
from cusal.errors import DataError, InvalidInput
from cusal.scale import formats
from cusal.scale.parts import IDS, Chunk, Column, Part, Tile, tile_rows

CHUNK_TILES = 16


def open_pool(path: str | os.PathLike[str], column: Column = IDS) -> list[Part]:
    """Return the parts of a pool, checked against each other by their headers."""
    with reading(path):
        parts = [_describe(file, column) for file in _files(Path(path))]
    for before, after in pairwise(parts):
        if before.classes != after.classes:
            raise DataError(
                f"{after.path} has {after.classes} classes, but {before.path} has {before.classes}; "
                "give parts with the same columns."
            )
        check_names(before, after)
    return parts


def check_names(before: Part, after: Part) -> None:
    """Raise a DataError if two parts name their classes differently, or in another order."""
    if before.names and after.names and before.names != after.names:
        raise DataError(
            f"{after.path} has the classes {', '.join(after.names[:8])}, but {before.path} has "
            f"{', '.join(before.names[:8])}; name them in one order: --columns A,B,C."
        )


def cut_into_chunks(parts: Sequence[Part], rows: int | None = None) -> list[Chunk]:
    """Return the chunks of a pool in row order, each of about `rows` rows; by default of some tiles."""
    chunks, start = [], 0
    for part in parts:
        wanted = rows or CHUNK_TILES * tile_rows(part.classes)
        first = 0
        while first < len(part.units):
            stop, size = first + 1, part.units[first]
            while stop < len(part.units) and size + part.units[stop] <= wanted:
                size += part.units[stop]
                stop += 1
            chunks.append(Chunk(part, start, first, stop))
            start, first = start + size, stop
    return [chunk for chunk in chunks if chunk.rows]


def iterate_tiles(chunk: Chunk, *, as_stored: bool = False) -> Iterator[Tile]:
    """Yield the rows of a chunk in order, checked to be probabilities and divided by their sums, or as they are."""
    row, stop = chunk.first_row, chunk.first_row + chunk.rows
    path = chunk.part.path
    with reading(path), _unchanged(chunk.part):
        for tile in _gather(formats.find(path).read(chunk), tile_rows(chunk.part.classes)):
            checked = _checked(tile, chunk, row)
            yield tile if as_stored else tile._replace(probs=checked[:])
            row += len(tile.probs)
        if row != stop:
            raise DataError(f"{path} ends at row {row}, expected {stop}; write it again.")


def require_unchanged(part: Part) -> None:
    """Raise a DataError if a part is not the file any more that the pool was opened with."""
    with reading(part.path):
        if _stamp(part.path) != part.stamp:
            raise _changed(part)


@contextmanager
def _unchanged(part: Part) -> Iterator[None]:
    """Raise a DataError if a part is rewritten in this block, which reads it.

    Its time of change may differ from the one that it was opened with: another node may read a copy.
    """
    before = _stamp(part.path)
    if before[0] != part.stamp[0]:
        raise _changed(part)
    try:
        yield
    except DataError as error:
        if _stamp(part.path) != before:  # the reason for whatever else was met
            raise _changed(part) from error
        raise
    if _stamp(part.path) != before:
        raise _changed(part)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _changed(part: Part) -> DataError:
    return DataError(f"{part.path} was changed while it was scored; expected parts that stay as they are. Score again.")


def _files(path: Path) -> list[Path]:
    suffixes = formats.suffixes()
    expected = f"that ends in {', '.join(suffixes)}"
    if not path.exists():
        raise DataError(f"there is no file or folder {path}; expected a file {expected}, or a folder of such files.")
    if path.is_dir():
        names = (file for file in path.iterdir() if not file.name.startswith((".", "_")))
        files = sorted(file for file in names if file.name.endswith(suffixes) and file.is_file())
        if not files:
            raise DataError(f"the folder {path} holds no part; expected files {expected.replace('ends', 'end')}.")
        # Tables of text often lie beside the parts: notes, labels, picks. They are parts where there are no others.
        return [file for file in files if not formats.is_text(file)] or files
    if not path.name.endswith(suffixes):
        raise DataError(f"{path} is of an unknown kind; expected a name {expected}, or a folder.")
    return [path]


def _describe(path: Path, column: Column) -> Part:
    with reading(path):
        stamp = _stamp(path)
        reader = formats.find(path)
        contents = reader.describe(path, column)
        if contents.classes < 2:
            raise DataError(f"{path}: probs has {contents.classes} classes; expected two or more, one column for each.")
        return Part(path, contents, stamp, column, unit_name=getattr(reader, "UNIT_NAME", ""))


def _gather(tiles: Iterator[Tile], rows: int) -> Iterator[Tile]:
    """Join small tiles, for instance of small row groups, to ones of at least half of `rows`."""
    waiting: list[Tile] = []
    for tile in tiles:
        waiting.append(tile)
        if sum(len(tile.probs) for tile in waiting) >= rows // 2:
            yield _join(waiting)
            waiting = []
    if waiting:
        yield _join(waiting)


def _join(tiles: list[Tile]) -> Tile:
    if len(tiles) == 1:
        return tiles[0]
    beside = [tile.beside for tile in tiles if tile.beside is not None]
    return Tile(np.concatenate([tile.probs for tile in tiles]), np.concatenate(beside) if beside else None)


def _checked(tile: Tile, chunk: Chunk, row: int) -> UnitRows:
    if not chunk.part.column.is_label and tile.beside is not None and not _are_ids(tile.beside):
        kind = type(tile.beside[0]).__name__
        raise DataError(f"{chunk.part.path}: ids are {kind}; expected whole numbers or text. Convert them to text.")
    try:
        with np.errstate(all="ignore"):  # garbage overflows before it is refused
            return UnitRows(as_unchecked_probs(tile.probs), "probs")
    except InvalidInput as error:
        text = re.sub(
            r"^probs: row (\d+)", lambda found: f"probs: {chunk.locate(row + int(found[1]))}", str(error), count=1
        )
        raise DataError(f"{chunk.part.path}: {text}") from error


def _are_ids(values: NDArray[Any]) -> bool:
    if values.dtype == object:  # text of Parquet
        return len(values) == 0 or isinstance(values[0], str)
    return values.dtype.kind in "iuUS"
