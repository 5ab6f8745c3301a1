"""The two formats of a CIFAR-10 batch: binary records (a label and 3,072 bytes each) and a Python pickle."""

import io
import pickle
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal.datasets.files import corrupt, read_bytes

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32
Batch = tuple[NDArray[np.uint8], NDArray[np.integer]]


def read_files(paths: tuple[Path, ...]) -> dict[Path, bytes]:
    """Give each file's content by its path, in order."""
    return {path: read_bytes(path) for path in paths}


def read_archive(path: Path, names: tuple[str, ...]) -> dict[Path, bytes]:
    """Give the named files of a .tar.gz archive by their path in it, in the order of `names`."""
    found = {}
    try:
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                stream = archive.extractfile(member)
                if member.name in names and stream is not None:
                    found[member.name] = stream.read()
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise corrupt(path, str(error)) from error
    absent = [name for name in names if name not in found]
    if absent:
        raise corrupt(path, f"it does not hold {', '.join(absent)}")
    return {path / name: found[name] for name in names}


def read_binary(raw: bytes, path: Path, *, count: int) -> Batch:
    """Give the (count, 3, 32, 32) images and the labels of a binary batch."""
    if len(raw) != count * (1 + PIXELS):
        raise corrupt(path, f"it has {len(raw)} bytes, expected {count * (1 + PIXELS)}")
    records = np.frombuffer(raw, np.uint8).reshape(count, 1 + PIXELS)
    return records[:, 1:].reshape(count, *SHAPE), records[:, 0]


def read_pickle(raw: bytes, path: Path, *, count: int) -> Batch:
    """Give the (count, 3, 32, 32) images and the labels of a pickled batch."""
    try:
        content = _ArraysOnly(io.BytesIO(raw), encoding="bytes").load()
        images, labels = content[b"data"].rebuild(), np.asarray(content[b"labels"])
    except (
        *(pickle.UnpicklingError, EOFError, MemoryError),  # damaged or cut short
        *(ValueError, TypeError, LookupError, AttributeError, OverflowError),  # whole, but something else
    ) as error:
        raise corrupt(path, f"{type(error).__name__}: {error}") from error
    if images.shape != (count, PIXELS):
        raise corrupt(path, f"its data has shape {images.shape}, expected {(count, PIXELS)}")
    if labels.shape != (count,) or not np.issubdtype(labels.dtype, np.integer):
        raise corrupt(path, f"its labels are not {count} whole numbers")
    return images.reshape(count, *SHAPE), labels


class _Pickled:
    """What a pickle says about a NumPy object: the arguments that make it, and its state."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def rebuild(self) -> NDArray[np.uint8]:
        """Give the array of bytes that the state describes."""
        _, shape, dtype, by_column, data = self.state
        if dtype.arguments[0] not in ("u1", b"u1") or by_column:
            raise ValueError(f"expected rows of bytes, found {dtype.arguments[0]!r}")
        return np.frombuffer(data, np.uint8).reshape(shape)


class _ArraysOnly(pickle.Unpickler):
    """A pickle can run any code, and NumPy trusts it: arrays alone are let through, and rebuilt here."""

    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        if (module, name) == ("_codecs", "encode"):  # how Python 3 writes bytes for Python 2
            return str.encode
        if module.partition(".")[0] == "numpy" and name in ("_reconstruct", "ndarray", "dtype"):
            return _Pickled
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is no part of an array")
