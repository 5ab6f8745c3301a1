"""Rows of a `.npz` file, streamed: its arrays are decompressed as they are read and never held whole."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from cusal._files import DAMAGED
from cusal.errors import DataError
from cusal.scale.formats.npy import Header, as_probs_header, names_of, read_header
from cusal.scale.parts import Chunk, Column, Contents, Tile, tile_rows

SUFFIXES = (".npz",)
COMPRESSIONS = (ZIP_STORED, ZIP_DEFLATED)  # those of numpy.savez and numpy.savez_compressed


def describe(path: Path, column: Column) -> Contents:
    """Return the classes and the rows of the one unit: a compressed array is read from its beginning."""
    with _opened(path, column) as arrays:
        rows, classes = arrays[0][0].shape
        return Contents(classes, [rows], names_of(column, classes, path))


def read(chunk: Chunk) -> Iterator[Tile]:
    """Yield all rows, tile by tile."""
    step = tile_rows(chunk.part.classes)
    with _opened(chunk.part.path, chunk.part.column) as arrays:
        for start in range(0, chunk.rows, step):
            count = min(step, chunk.rows - start)
            probs, *beside = [_read_rows(stream, header, count, chunk.part.path) for header, stream in arrays]
            yield Tile(probs, beside[0] if beside else None)
        for _, stream in arrays:
            if stream.read(1):  # also makes zipfile compare the checksum of all that was read
                raise DataError(f"{chunk.part.path} holds more than its headers say; write it again with numpy.savez.")


@contextmanager
def _opened(path: Path, column: Column) -> Iterator[list[tuple[Header, BinaryIO]]]:
    """Yield header and stream of `probs` and, where there is one, of the column beside it."""
    try:
        with ExitStack() as stack:
            archive = stack.enter_context(ZipFile(path))
            members = {"probs.npy", f"{column.array}.npy"} & set(archive.namelist())
            for name in ["probs", column.array] if column.required else ["probs"]:
                if f"{name}.npy" not in members:
                    held = ", ".join(sorted(member.removesuffix(".npy") for member in archive.namelist()))
                    raise DataError(f"{path} has no array {name}; it holds {held or 'nothing'}.")
            arrays = []
            for member in sorted(members, key=lambda member: member != "probs.npy"):
                if archive.getinfo(member).compress_type not in COMPRESSIONS:
                    raise DataError(f"{path}: {member} has an unknown compression; write it with numpy.savez.")
                stream = cast(BinaryIO, stack.enter_context(archive.open(member)))
                arrays.append((read_header(stream, f"{path}: {member.removesuffix('.npy')}"), stream))
            _check(arrays, path, column)
            yield arrays
    except DAMAGED as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise DataError(f"{path} is damaged ({reason}); write it again with numpy.savez.") from error


def _check(arrays: list[tuple[Header, BinaryIO]], path: Path, column: Column) -> None:
    header = as_probs_header(arrays[0][0], f"{path}: probs")
    if header.by_column:
        raise DataError(f"{path}: probs is stored column by column; write numpy.ascontiguousarray(probs).")
    if len(arrays) == 2 and arrays[1][0].shape != header.shape[:1]:
        raise DataError(
            f"{path}: {column.array} has shape {arrays[1][0].shape}; expected ({header.shape[0]},), one for each row."
        )


def _read_rows(stream: BinaryIO, header: Header, count: int, path: Path) -> NDArray:
    shape = (count, *header.shape[1:])
    expected = int(np.prod(shape)) * header.dtype.itemsize
    content = stream.read(expected)
    if len(content) < expected:
        raise DataError(f"{path} ends too early; it is damaged. Write it again with numpy.savez.")
    return np.frombuffer(content, header.dtype).reshape(shape)
