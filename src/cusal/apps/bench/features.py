"""The features that a grid asks for, in place of the items of a data set.

| name | of | settings |
|---|---|---|
| efficientnet_lite0 | images | `side`, to which they are resized |
| pca | images and tables in memory | `components`, 50 by default |
| tfidf | texts | `terms`, of which the most frequent are kept, 20,000 by default |
| sentences | texts | none: the vectors of all-MiniLM-L6-v2 |

`per_class` of any of them is how many items of each class to keep at most, in either split. All are computed without
labels, from the train split alone where they learn anything, and the same for every seed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cusal._checks import as_count
from cusal._types import Indices
from cusal.apps.bench.datasets import Dataset, Items
from cusal.apps.bench.datasets.formats.image_folder import ImageFolder
from cusal.errors import InvalidInput, UnknownName
from cusal.features import cached_features, check_images

SIDE, SMALLEST_SIDE = 96, 32  # of images; the network halves them five times
COMPONENTS = 50
TERMS = 20_000
PER_CLASS = "per_class"

Compute = Callable[..., tuple[Items, Items]]


@dataclass(frozen=True)
class _Kind:
    """Features of one name: the least value of each setting, what they can be computed of, and how."""

    settings: dict[str, int]
    check: Callable[[Dataset], None]
    compute: Compute


KINDS: dict[str, _Kind] = {}


def _features(name: str, check: Callable[[Dataset], None], **least: int) -> Callable[[Compute], Compute]:
    """Mark a function that computes features of both splits; `least` has the smallest value of each of its settings."""

    def register(compute: Compute) -> Compute:
        KINDS[name] = _Kind(least, check, compute)
        return compute

    return register


def check_features(name: str, **settings: Any) -> None:
    """Raise an error if there are no such features or settings, without loading torch."""
    if name not in KINDS:
        raise UnknownName("features", name, KINDS)
    for key in settings:
        if key not in (*KINDS[name].settings, PER_CLASS):
            raise UnknownName(f"setting of {name}", key, ["name", *KINDS[name].settings, PER_CLASS])
    for key, value in settings.items():
        as_count(value, key, least=KINDS[name].settings.get(key, 1))


def featured(data: Dataset, features: dict[str, Any]) -> Dataset:
    """Return a data set with features as its items.

    `features` has a name, and perhaps settings. What is slow to compute is kept on disk.
    """
    check_features(**features)
    settings = {key: value for key, value in features.items() if key not in ("name", PER_CLASS)}
    kind = KINDS[features["name"]]
    kind.check(data)
    if PER_CLASS in features:
        data = _thinned(data, features[PER_CLASS])
    train, test = kind.compute(data, **settings)
    return replace(data, train=train, test=test)


def _check_images(data: Dataset) -> None:
    check_images(data.train, data.name)


def _check_in_memory(data: Dataset) -> None:
    if not isinstance(data.train, np.ndarray) or data.train.ndim < 2:
        kind = "texts" if isinstance(data.train, np.ndarray) else "images in files"
        raise InvalidInput(
            f"the items of {data.name} are {kind}; pca needs rows or images in memory: take other features, such as "
            f"{'sentences' if kind == 'texts' else 'efficientnet_lite0'}."
        )


def _check_texts(data: Dataset) -> None:
    if not isinstance(data.train, np.ndarray) or data.train.ndim != 1:
        raise InvalidInput(
            f"the items of {data.name} have shape {data.train.shape[1:]}; these features need texts: leave them out, "
            "or give a table with a column `text`."
        )


@_features("efficientnet_lite0", _check_images, side=SMALLEST_SIDE)
def _efficientnet(data: Dataset, side: int = SIDE) -> tuple[Items, Items]:
    """Return (n, 1280) float32, read-only and mapped from disk."""
    splits = {"train": data.train, "test": data.test}
    found = cached_features(splits, title=data.name, network="efficientnet_lite0", side=side)
    return found["train"], found["test"]


@_features("pca", _check_in_memory, components=1)
def _principal_components(data: Dataset, components: int = COMPONENTS) -> tuple[Items, Items]:
    """Return (n, components) float32."""
    from sklearn.decomposition import PCA

    train, test = (np.asarray(items).reshape(len(items), -1) for items in (data.train, data.test))
    fitted = PCA(min(components, *train.shape), random_state=0).fit(train)
    return fitted.transform(train), fitted.transform(test)


@_features("tfidf", _check_texts, terms=1)
def _term_weights(data: Dataset, terms: int = TERMS) -> tuple[Items, Items]:
    """Return CSR rows of unit length, of the terms that most train texts have."""
    from sklearn.preprocessing import normalize

    from cusal.features import TextFeatures  # it loads scikit-learn

    weights = TextFeatures()
    train, test = weights.fit_transform(np.asarray(data.train)), weights.transform(np.asarray(data.test))
    texts_with = np.bincount(train.indices, minlength=train.shape[1])
    kept = np.sort(np.argsort(-texts_with, kind="stable")[:terms])
    return normalize(train[:, kept]), normalize(test[:, kept])


@_features("sentences", _check_texts)
def _sentences(data: Dataset) -> tuple[Items, Items]:
    """Return (n, 384) float32 of unit length."""
    from cusal.features import sentence_vectors

    return sentence_vectors(np.asarray(data.train)), sentence_vectors(np.asarray(data.test))


def _thinned(data: Dataset, per_class: int) -> Dataset:
    """Return the data set with at most so many items of each class, evenly spaced among those that there are."""
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
