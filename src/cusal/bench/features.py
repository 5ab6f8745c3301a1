"""The features that a grid asks for, in place of the images of a data set."""

from dataclasses import replace
from typing import Any

import numpy as np

from cusal._checks import as_count
from cusal._types import Indices
from cusal.datasets import Dataset, Items
from cusal.datasets.formats.image_folder import ImageFolder
from cusal.errors import UnknownName
from cusal.features import images
from cusal.features.cache import cached_features

SETTINGS = ("side", "per_class")


def check_features(name: str, **settings: Any) -> None:
    """Raise an error if there are no such features or settings, without loading torch."""
    images.check_extractor(name)
    for key in settings:
        if key not in SETTINGS:
            raise UnknownName(f"setting of {name}", key, ["name", *SETTINGS])
    images.check_extractor(name, settings.get("side", images.DEFAULT_SIDE))
    as_count(settings.get("per_class", 1), "per_class")


def featured(data: Dataset, features: dict[str, Any]) -> Dataset:
    """Return a data set of images with their features as items, (n, 1280) float32, read-only and mapped from disk.

    `features` has the `name` of the network and perhaps `side`, to which images are resized, and `per_class`, how many
    images of each class to keep at most in either split. What the cache lacks is computed first.
    """
    check_features(**features)
    images.check_images(data.train, data.name)
    if "per_class" in features:
        data = _thinned(data, features["per_class"])
    side = features.get("side", images.DEFAULT_SIDE)
    splits = {"train": data.train, "test": data.test}
    found = cached_features(splits, title=data.name, network=features["name"], side=side)
    return replace(data, train=found["train"], test=found["test"])


def _thinned(data: Dataset, per_class: int) -> Dataset:
    """Return the data set with at most so many images of each class, evenly spaced among those that there are."""
    kept = {}
    for split, labels in (("train", data.train_labels), ("test", data.test_labels)):
        members = (np.flatnonzero(labels == number) for number in range(len(data.classes)))
        rows = [some[np.linspace(0, len(some) - 1, min(per_class, len(some))).round().astype(int)] for some in members]
        kept[split] = np.sort(np.concatenate(rows))
    train, test = kept["train"], kept["test"]
    return replace(
        data,
        train=_some(data.train, train),
        train_labels=data.train_labels[train],
        test=_some(data.test, test),
        test_labels=data.test_labels[test],
    )


def _some(items: Items, rows: Indices) -> Items:
    if isinstance(items, ImageFolder):
        return replace(items, paths=tuple(items.paths[row] for row in rows))
    return items[rows]  # type: ignore[no-any-return]
