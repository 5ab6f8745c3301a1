"""SVHN, cropped digits: 32 x 32 colour images of house numbers (Netzer et al. 2011), as MATLAB files."""

import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal.apps.bench.datasets.dataset import Dataset, Labels, Source, normalise
from cusal.apps.bench.datasets.files import as_classes, corrupt, find_form, read_bytes

FILES = ("train_32x32.mat", "test_32x32.mat")
MEAN = (0.4377, 0.4438, 0.4728)
DEVIATION = (0.1980, 0.2010, 0.1970)
SOURCE = Source(
    title="Street View House Numbers, cropped",
    classes=10,
    shape=(3, 32, 32),
    train=73_257,
    test=26_032,
    licence="non-commercial use",
    folder="svhn",
    forms=(FILES,),
    checksums=(
        (FILES[0], "md5:e26dedcc434d2e4c54c9b2d4a06d8373"),
        (FILES[1], "md5:eb5a983be6a315427106f1b164d9cef3"),
    ),
    addresses=("http://ufldl.stanford.edu/housenumbers/",),
)


def load(folder: Path) -> Dataset:
    """Return SVHN, normalised with the training pixels' mean and deviation of each channel."""
    (train, train_labels), (test, test_labels) = (_read(path) for path in find_form("svhn", SOURCE, folder))
    return Dataset("svhn", train, train_labels, test, test_labels, classes=tuple("0123456789"))


def _read(path: Path) -> tuple[NDArray[np.float32], Labels]:
    arrays = read_mat(path)
    absent = [name for name in ("X", "y") if name not in arrays]
    if absent:
        raise corrupt(path, f"it holds no array {absent[0]!r}")
    images, labels = arrays["X"], arrays["y"].ravel().astype(np.int64)
    if images.ndim != 4 or images.shape[:3] != (32, 32, 3) or images.dtype != np.uint8:
        raise corrupt(path, f"X is {images.dtype} of shape {images.shape}, expected bytes of (32, 32, 3, n)")
    pixels = normalise(images.transpose(3, 2, 0, 1), mean=MEAN, deviation=DEVIATION)
    digits = np.where(labels == 10, 0, labels)  # the publisher writes the digit 0 as 10
    return pixels, as_classes(digits, path, count=len(pixels), classes=SOURCE.classes)


# Numeric arrays from a MATLAB 5 file (MathWorks, "MAT-File Format", level 5).
#
# Why not scipy.io.loadmat: one changed byte in the header of an uncompressed array ends the whole process (SIGSEGV,
# seen with SciPy 1.17.1 for 10 of 816 changes), and a part of SVHN that somebody wrote has no checksum that could be
# looked at first. This reader knows arrays of numbers alone and names the file instead; it reads what SciPy writes,
# and the tests compare the two. A file is a header of 128 bytes, then elements: a type, a size, and that many bytes.


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
