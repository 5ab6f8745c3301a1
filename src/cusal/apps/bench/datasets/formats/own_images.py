"""One's own images: FOLDER/CLASS/*.jpg, or FOLDER/train/CLASS/*.jpg and FOLDER/test/CLASS/*.jpg, read lazily."""

from pathlib import Path

from cusal.apps.bench.datasets.dataset import Dataset, split_stratified
from cusal.apps.bench.datasets.formats.image_folder import ImageFolder, list_classes, list_images
from cusal.errors import DataError

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
