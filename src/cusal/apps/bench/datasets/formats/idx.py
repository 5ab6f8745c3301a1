"""The IDX format of MNIST: two zero bytes, the type, the number of axes, their sizes, then the data."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal.apps.bench.datasets.dataset import Dataset, Labels, Source, normalise
from cusal.apps.bench.datasets.files import as_classes, corrupt, find_form, read_bytes

UNSIGNED_BYTE = 8
STEMS = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
FORMS = (tuple(f"{stem}.gz" for stem in STEMS), STEMS)  # as published, and unpacked


def read_idx(path: Path, *, axes: int) -> NDArray[np.uint8]:
    """Return the array in an IDX file of unsigned bytes; its header and its length must agree exactly."""
    raw = read_bytes(path)
    start = 4 + 4 * axes
    if len(raw) < start or raw[:4] != bytes([0, 0, UNSIGNED_BYTE, axes]):
        raise corrupt(path, f"it does not start like an IDX file of bytes with {axes} axes")
    shape = tuple(int(size) for size in np.frombuffer(raw, ">u4", count=axes, offset=4))
    expected = int(np.prod(shape, dtype=np.int64))
    if len(raw) - start != expected:
        raise corrupt(path, f"its header promises {expected} bytes of data, but {len(raw) - start} follow")
    return np.frombuffer(raw, np.uint8, offset=start).reshape(shape)


def load_idx(
    name: str, source: Source, folder: Path, *, classes: tuple[str, ...], scale: tuple[float, float]
) -> Dataset:
    """Return a data set of grey images from four IDX files; `scale` is its pixels' mean and deviation."""
    paths = find_form(name, source, folder)
    train, train_labels = _read_pair(paths[0], paths[1], source, scale=scale)
    test, test_labels = _read_pair(paths[2], paths[3], source, scale=scale)
    return Dataset(name, train, train_labels, test, test_labels, classes=classes)


def _read_pair(
    images_at: Path, labels_at: Path, source: Source, *, scale: tuple[float, float]
) -> tuple[NDArray[np.float32], Labels]:
    images, labels = read_idx(images_at, axes=3), read_idx(labels_at, axes=1)
    if images.shape[1:] != source.shape[1:]:
        raise corrupt(images_at, f"its images have shape {images.shape[1:]}, expected {source.shape[1:]}")
    mean, deviation = scale
    items = normalise(images[:, None], mean=(mean,), deviation=(deviation,))
    return items, as_classes(labels, labels_at, count=len(images), classes=source.classes)
