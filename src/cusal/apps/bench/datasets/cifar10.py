"""CIFAR-10: 32 x 32 colour images of ten kinds (Krizhevsky 2009), in its publisher's binary version.

The Python version is not read: its files are pickles, and a pickle can run any code.
"""

import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal.apps.bench.datasets.dataset import Dataset, Labels, Source, normalise
from cusal.apps.bench.datasets.files import as_classes, corrupt, find_form, missing, read_bytes
from cusal.errors import DataError

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
MEAN = (0.4914, 0.4822, 0.4465)
DEVIATION = (0.2470, 0.2435, 0.2616)
BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
BINARY = tuple(f"cifar-10-batches-bin/{batch}.bin" for batch in BATCHES)
ARCHIVE = "cifar-10-binary.tar.gz"
PICKLED = ("cifar-10-batches-py", "cifar-10-python.tar.gz")
SOURCE = Source(
    title="CIFAR-10",
    classes=len(CLASSES),
    shape=(3, 32, 32),
    train=50_000,
    test=10_000,
    licence="research use, citing Krizhevsky 2009",
    forms=(BINARY, (ARCHIVE,)),
    checksums=((ARCHIVE, "md5:c32a1d4ab5d03f1284b67883e8d87530"),),
    addresses=("https://www.cs.toronto.edu/~kriz/",),
)


def load(folder: Path, *, batch: int = 10_000) -> Dataset:
    """Return CIFAR-10, normalised with the training pixels' mean and deviation of each channel."""
    return load_part("cifar10", folder, batch=batch, keep=lambda labels: np.arange(len(labels)))


def load_part(name: str, folder: Path, *, batch: int, keep: Callable[[Labels], Labels]) -> Dataset:
    """Return the training images whose positions `keep` chooses by their labels, and the whole test set.

    `batch` is the number of images in each of the six files.
    """
    images, labels = zip(*_read(name, folder, batch=batch), strict=True)
    train, train_labels = np.concatenate(images[:-1]), np.concatenate(labels[:-1])
    kept = keep(train_labels)
    return Dataset(
        name,
        normalise(train[kept], mean=MEAN, deviation=DEVIATION),
        train_labels[kept],
        normalise(images[-1], mean=MEAN, deviation=DEVIATION),
        labels[-1],
        classes=CLASSES,
    )


def _read(name: str, folder: Path, *, batch: int) -> Iterator[tuple[NDArray[np.uint8], Labels]]:
    _refuse_pickles(name, folder)
    paths = find_form(name, SOURCE, folder)
    files = read_archive(paths[0], BINARY) if paths[0].name == ARCHIVE else read_files(paths)
    for path, raw in files.items():
        images, labels = read_binary(raw, path, count=batch)
        yield images, as_classes(labels, path, count=batch, classes=SOURCE.classes)


def _refuse_pickles(name: str, folder: Path) -> None:
    pickled = [file for file in PICKLED if (folder / file).exists()]
    if pickled and missing(SOURCE, folder):
        raise DataError(
            f"{name}: {folder / pickled[0]} is the Python version, whose pickles can run code and are not read; "
            f"expected the binary version. Run: cusal data get {name}, or put {ARCHIVE} into {folder}."
        )


# A CIFAR-10 batch in binary form: records of one label and 3,072 bytes, channel by channel.


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
