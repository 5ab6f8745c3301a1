"""CIFAR-10: 32 x 32 colour images of ten kinds (Krizhevsky 2009), in the forms that its publisher ships.

The binary version is the one that is downloaded: it needs no pickle.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal.datasets.dataset import Dataset, Labels, Source
from cusal.datasets.files import as_classes, find_form
from cusal.datasets.formats.cifar import read_archive, read_binary, read_files, read_pickle
from cusal.datasets.pixels import normalise

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
MEAN = (0.4914, 0.4822, 0.4465)
DEVIATION = (0.2470, 0.2435, 0.2616)
BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
BINARY = tuple(f"cifar-10-batches-bin/{batch}.bin" for batch in BATCHES)
PYTHON = tuple(f"cifar-10-batches-py/{batch}" for batch in BATCHES)
ARCHIVES = {"cifar-10-binary.tar.gz": BINARY, "cifar-10-python.tar.gz": PYTHON}
SOURCE = Source(
    title="CIFAR-10",
    classes=len(CLASSES),
    shape=(3, 32, 32),
    train=50_000,
    test=10_000,
    licence="research use, citing Krizhevsky 2009",
    forms=(BINARY, ("cifar-10-binary.tar.gz",), PYTHON, ("cifar-10-python.tar.gz",)),
    checksums=(("cifar-10-binary.tar.gz", "md5:c32a1d4ab5d03f1284b67883e8d87530"),),
    addresses=("https://www.cs.toronto.edu/~kriz/",),
)


def load(folder: Path, *, batch: int = 10_000) -> Dataset:
    """Give CIFAR-10, normalised with the training pixels' mean and deviation of each channel."""
    return load_part("cifar10", folder, batch=batch, keep=lambda labels: np.arange(len(labels)))


def load_part(name: str, folder: Path, *, batch: int, keep: Callable[[Labels], Labels]) -> Dataset:
    """Give the training images whose positions `keep` chooses by their labels, and the whole test set.

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
    paths = find_form(name, SOURCE, folder)
    members = ARCHIVES.get(paths[0].name)
    files = read_archive(paths[0], members) if members else read_files(paths)
    for path, raw in files.items():
        read = read_binary if path.suffix == ".bin" else read_pickle
        images, labels = read(raw, path, count=batch)
        yield images, as_classes(labels, path, count=batch, classes=SOURCE.classes)
