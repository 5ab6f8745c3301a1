"""SVHN, cropped digits: 32 x 32 colour images of house numbers (Netzer et al. 2011), as MATLAB files."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal.apps.bench.datasets.dataset import Dataset, Labels, Source, normalise
from cusal.apps.bench.datasets.files import as_classes, corrupt, find_form
from cusal.apps.bench.datasets.formats.matlab import read_mat

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
