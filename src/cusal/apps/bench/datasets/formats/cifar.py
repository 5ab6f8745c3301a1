"""A CIFAR-10 batch in binary form: records of one label and 3,072 bytes, channel by channel."""

import tarfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal.apps.bench.datasets.files import corrupt, read_bytes

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32
Batch = tuple[NDArray[np.uint8], NDArray[np.integer]]


def read_files(paths: tuple[Path, ...]) -> dict[Path, bytes]:
    """Return each file's content by its path, in order."""
    return {path: read_bytes(path) for path in paths}


def read_archive(path: Path, names: tuple[str, ...]) -> dict[Path, bytes]:
    """Return the named files of a .tar.gz archive by their path in it, in the order of `names`."""
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
    """Return the (count, 3, 32, 32) images and the labels of a binary batch."""
    if len(raw) != count * (1 + PIXELS):
        raise corrupt(path, f"it has {len(raw)} bytes, expected {count * (1 + PIXELS)}")
    records = np.frombuffer(raw, np.uint8).reshape(count, 1 + PIXELS)
    return records[:, 1:].reshape(count, *SHAPE), records[:, 0]
