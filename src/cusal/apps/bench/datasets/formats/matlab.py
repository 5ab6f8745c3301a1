"""Numeric arrays from a MATLAB 5 file (MathWorks, "MAT-File Format", level 5).

Why not scipy.io.loadmat: one changed byte in the header of an uncompressed array ends the whole process (SIGSEGV, seen
with SciPy 1.17.1 for 10 of 816 changes), and a part of SVHN that somebody wrote has no checksum that could be looked at
first. This reader knows arrays of numbers alone and names the file instead; it reads what SciPy writes, and the tests
compare the two. A file is a header of 128 bytes, then elements: a type, a size, and that many bytes.
"""

import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal.apps.bench.datasets.files import corrupt, read_bytes

HEADER = 128
BYTE_ORDERS = {b"IM": "<", b"MI": ">"}
MATRIX, COMPRESSED = 14, 15
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
ARRAY_CLASSES = {
    6: "f8",
    7: "f4",
    8: "i1",
    9: "u1",
    10: "i2",
    11: "u2",
    12: "i4",
    13: "u4",
    14: "i8",
    15: "u8",
}
COMPLEX = 0x0800


def read_mat(path: Path) -> dict[str, NDArray[Any]]:
    """Return the numeric arrays of a MATLAB 5 file by their name."""
    raw = read_bytes(path)
    order = BYTE_ORDERS.get(raw[HEADER - 2 : HEADER])
    if order is None:
        raise corrupt(path, "it does not start like a MATLAB 5 file")
    try:
        return dict(_read_arrays(memoryview(raw)[HEADER:], order))
    except (ValueError, zlib.error) as error:
        raise corrupt(path, str(error)) from error


def _read_arrays(content: memoryview, order: str) -> Iterator[tuple[str, NDArray[Any]]]:
    for kind, body in _elements(content, order):
        if kind == COMPRESSED:
            yield from _read_arrays(memoryview(zlib.decompress(body)), order)
        elif kind == MATRIX:
            yield _read_array(body, order)
        else:
            raise ValueError(f"it holds an element of type {kind}, expected an array")


def _elements(content: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    position = 0
    while position < len(content):
        if position + 8 > len(content):
            raise ValueError("it ends within an element")
        kind, size = (int(value) for value in np.frombuffer(content, f"{order}u4", count=2, offset=position))
        start = position + 8
        if kind >> 16:  # a small element: type and size share four bytes, the data has the other four
            kind, size, start = kind & 0xFFFF, kind >> 16, position + 4
        end = start + size
        if end > len(content):
            raise ValueError(f"an element of {size} bytes reaches {end - len(content)} bytes beyond the end")
        yield kind, content[start:end]
        position = end if kind == COMPRESSED else -(-end // 8) * 8


def _read_array(body: memoryview, order: str) -> tuple[str, NDArray[Any]]:
    parts = list(_elements(body, order))
    if len(parts) != 4:
        raise ValueError(f"an array has {len(parts)} parts, expected flags, shape, name and numbers")
    (_, flags), (_, sizes), (_, name), (stored, data) = parts
    if len(flags) != 8 or len(sizes) % 4:
        raise ValueError("the flags or the shape of an array are damaged")
    flag = int(np.frombuffer(flags, f"{order}u4")[0])
    target = ARRAY_CLASSES.get(flag & 0xFF)
    if target is None or stored not in NUMBERS or flag & COMPLEX:
        raise ValueError("it holds something other than arrays of real numbers")
    shape = tuple(int(size) for size in np.frombuffer(sizes, f"{order}i4"))
    numbers = np.frombuffer(data, f"{order}{NUMBERS[stored]}")
    if min(shape, default=0) < 0 or math.prod(shape) != len(numbers):
        raise ValueError(f"an array of shape {shape} has {len(numbers)} numbers")
    label = bytes(name).decode("latin-1")
    return label, numbers.astype(target, copy=False).reshape(shape, order="F")
