"""ImageNet (ILSVRC 2012) in its usual class folders, train/nXXXXXXXX/ and val/nXXXXXXXX/, read lazily."""

from pathlib import Path

from cusal.apps.bench.datasets.dataset import Dataset, Source
from cusal.apps.bench.datasets.files import find_form
from cusal.apps.bench.datasets.formats.image_folder import ImageFolder, list_classes, list_images
from cusal.errors import DataError

MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)
SOURCE = Source(
    title="ImageNet (ILSVRC 2012)",
    classes=1000,
    shape=(3, 224, 224),
    train=1_281_167,
    test=50_000,
    licence="non-commercial research, on registration",
    folder="imagenet",
    forms=(("train", "val"),),
    advice="register at image-net.org and unpack it into the class folders train/nXXXXXXXX and val/nXXXXXXXX",
)


def load(folder: Path) -> Dataset:
    """Return ImageNet, or the part of its classes that is there; the validation images are the test set."""
    train_at, test_at = find_form("imagenet", SOURCE, folder)
    classes = list_classes(train_at)
    others = set(classes) ^ set(list_classes(test_at))
    if others or len(classes) < 2:
        some = ", ".join(sorted(others)[:3]) or "fewer than two class folders"
        raise DataError(f"{folder}: train and val must hold the same class folders, two or more; found {some}.")
    train, train_labels = list_images(train_at, classes)
    test, test_labels = list_images(test_at, classes)
    return Dataset(
        "imagenet",
        ImageFolder(train, mean=MEAN, deviation=DEVIATION),
        train_labels,
        ImageFolder(test, mean=MEAN, deviation=DEVIATION),
        test_labels,
        classes=classes,
    )
