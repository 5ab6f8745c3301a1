"""A tree of class folders with image files, decoded when it is indexed: FOLDER/CLASS/*.JPEG."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cusal.apps.bench.datasets.dataset import Dataset, Labels, normalise, split_stratified
from cusal.apps.bench.datasets.files import corrupt
from cusal.errors import DataError, MissingExtra

IMAGE_SUFFIXES = (".jpeg", ".jpg", ".png")


@dataclass(frozen=True, eq=False)
class ImageFolder:
    """Images on disk that are indexed like a (n, 3, crop, crop) float32 array.

    Each is resized so that its shorter side has `side` pixels, cropped in the middle, and normalised.
    """

    paths: tuple[str, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    side: int = 256
    crop: int = 224
    lazy: ClassVar[bool] = True  # models read batches of them, never all

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array that this stands for."""
        return (len(self.paths), 3, self.crop, self.crop)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, key: Any, /) -> NDArray[np.float32]:
        chosen = np.arange(len(self.paths))[key]
        images = np.empty((np.size(chosen), *self.shape[1:]), dtype=np.uint8)
        # Pillow decodes outside the interpreter's lock, so that threads share the work.
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            wanted = (self.paths[index] for index in np.ravel(chosen))
            for row, image in enumerate(threads.map(self._decode, wanted)):
                images[row] = image
        pixels = normalise(images, mean=self.mean, deviation=self.deviation)
        return pixels.reshape(*np.shape(chosen), *self.shape[1:])

    def pixel_range(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return what black and white are in each channel once normalised, (channels,) each."""
        mean, deviation = np.array(self.mean, np.float32), np.array(self.deviation, np.float32)
        return -mean / deviation, (1 - mean) / deviation

    def add_to_digest(self, digest: Any) -> None:
        """Add what decides the pixels to a hash: how images are prepared, and the names and sizes of their files."""
        digest.update(repr((self.mean, self.deviation, self.side, self.crop)).encode())
        for path in map(Path, self.paths):
            digest.update(f"{path.parent.name}/{path.name} {path.stat().st_size}\n".encode())

    def _decode(self, path: str) -> NDArray[np.uint8]:
        try:
            from PIL import Image
        except ImportError as error:
            raise MissingExtra("reading images", "images") from error
        try:
            with Image.open(path) as image:
                picture = image.convert("RGB")
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise corrupt(Path(path), str(error)) from error
        scale = self.side / min(picture.size)
        width, height = (max(self.side, round(scale * length)) for length in picture.size)
        left, top = (width - self.crop) // 2, (height - self.crop) // 2
        picture = picture.resize((width, height), Image.Resampling.BILINEAR)
        picture = picture.crop((left, top, left + self.crop, top + self.crop))
        return np.asarray(picture).transpose(2, 0, 1)


def list_images(folder: Path, classes: tuple[str, ...]) -> tuple[tuple[str, ...], Labels]:
    """Return the paths of all images below the class folders, in name order, and their labels."""
    paths: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(classes):
        place = folder / name
        files = sorted(entry.path for entry in os.scandir(place) if entry.name.lower().endswith(IMAGE_SUFFIXES))
        if not files:
            raise DataError(f"{place} holds no image; expected files that end in {', '.join(IMAGE_SUFFIXES)}.")
        paths += files
        labels += [label] * len(files)
    return tuple(paths), np.array(labels, dtype=np.int64)


def list_classes(folder: Path) -> tuple[str, ...]:
    """Return the names of the class folders, sorted."""
    return tuple(sorted(entry.name for entry in os.scandir(folder) if entry.is_dir()))


# One's own images: FOLDER/CLASS/*.jpg, or FOLDER/train/CLASS/*.jpg and FOLDER/test/CLASS/*.jpg, read lazily.


PREFIX = "images"
SUFFIXES = ("/",)
SPLITS = ("train", "test")
MEAN = (0.485, 0.456, 0.406)  # of ImageNet, as networks that were trained on it expect
DEVIATION = (0.229, 0.224, 0.225)


def load(path: Path) -> Dataset:
    """Return the data set of a folder: in its own split, or a fifth of each class for the test."""
    if list_classes(path) == tuple(sorted(SPLITS)):
        classes = _checked(path / "train", list_classes(path / "train"))
        (train, train_labels), (test, test_labels) = (list_images(path / split, classes) for split in SPLITS)
    else:
        classes = _checked(path, list_classes(path))
        paths, labels = list_images(path, classes)
        first, second = split_stratified(labels)
        train, test = (tuple(paths[row] for row in rows) for rows in (first, second))
        train_labels, test_labels = labels[first], labels[second]
    if not len(test):
        raise DataError(f"{path}: no class has three images, so that none is left for the test; add images.")
    return Dataset(f"{PREFIX}:{path}", _images(train), train_labels, _images(test), test_labels, classes=classes)


def _checked(path: Path, classes: tuple[str, ...]) -> tuple[str, ...]:
    if len(classes) < 2:
        raise DataError(f"{path} holds {len(classes)} folders; expected one for each class, two or more, with images.")
    return classes


def _images(paths: tuple[str, ...]) -> ImageFolder:
    return ImageFolder(paths, mean=MEAN, deviation=DEVIATION)
