"""Data sets as runs see them: read once for all runs of a process, and cut to the items that a seed draws."""

import json
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from cusal._items import Subset, count_items
from cusal._types import Indices
from cusal.apps.bench import datasets
from cusal.apps.bench.datasets import Dataset, Items
from cusal.apps.bench.features import featured
from cusal.apps.bench.spec import Spec
from cusal.errors import InvalidInput

FEATURED = 32  # data sets of features that a process keeps: they are small, and runs of a suite need them in turn


def features_key(spec: Spec) -> str:
    """Return the features that a spec wants as `load_data` takes them."""
    return json.dumps(spec.features, sort_keys=True)


def load_data(name: str, features: str = "{}", test: str = "test") -> datasets.Dataset:
    """Return a data set, read once for all runs of a process.

    features: a `features_key`, "{}" for the items themselves. test: "validation" puts the last train items in place of
    the test items.
    """
    data = _items(name) if features == "{}" else _features(name, features)
    return with_validation(data) if test == VALIDATION else data


def forget_data() -> None:
    """Free the memory of what `load_data` keeps."""
    _items.cache_clear()
    _features.cache_clear()


@lru_cache(maxsize=1)
def _items(name: str) -> datasets.Dataset:
    return datasets.load(name)


@lru_cache(maxsize=FEATURED)
def _features(name: str, features: str) -> datasets.Dataset:
    return featured(datasets.load(name), json.loads(features))


def as_rows(data: datasets.Dataset) -> datasets.Dataset:
    """Return a data set with each item as a row of numbers, for models that take nothing else.

    Raises
    ------
    InvalidInput
        If the items are images in files, or texts: the message names the features to ask for.
    """
    if len(data.train.shape) == 2:
        return data
    if not isinstance(data.train, np.ndarray) or data.train.ndim == 1:
        kind, wanted = ("texts", "tfidf") if len(data.train.shape) == 1 else ("images in files", "efficientnet_lite0")
        raise InvalidInput(
            f'the items of {data.name} are {kind}, but the model takes rows of numbers; add features = "{wanted}".'
        )
    train, test = (np.asarray(items).reshape(len(items), -1) for items in (data.train, data.test))
    return replace(data, train=train, test=test)


def draw_items(spec: Spec, labels: Indices, classes: int) -> tuple[Indices, Indices]:
    """Return the positions of the warm-up items, and of all that take part, ascending; from the seed alone."""
    rng = np.random.default_rng([spec.seed])
    if spec.warm_up >= len(labels):
        raise InvalidInput(f"warm_up is {spec.warm_up}, but {spec.dataset} has {len(labels)} train items; lower it.")
    if spec.balanced:
        warm_up = _balanced(rng, labels, spec.warm_up, classes)
    else:
        warm_up = rng.choice(len(labels), spec.warm_up, replace=False)
        while spec.warm_up > 1 and len(set(labels[warm_up])) == 1 < len(set(labels)):  # nothing learns from one class
            warm_up = rng.choice(len(labels), spec.warm_up, replace=False)
    rest = np.setdiff1d(np.arange(len(labels)), warm_up)
    size = spec.pool
    if size is None and "pool" in spec.at_most:
        size = min(spec.at_most["pool"], len(rest))
    if size is None:
        return np.sort(warm_up), np.arange(len(labels))
    if size > len(rest):
        raise InvalidInput(
            f"pool is {size}, but {spec.dataset} has {len(rest)} train items besides the warm-up; lower it."
        )
    pool = rng.choice(rest, size, replace=False)
    return np.sort(warm_up), np.sort(np.concatenate([warm_up, pool]))


def draw_test(spec: Spec, items: Any) -> Indices:
    """Return the positions of the test items that a run is measured on, ascending; from the seed alone."""
    count = count_items(items)
    most = spec.at_most.get("test", count)
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng([spec.seed, 1]).choice(count, most, replace=False))


def _balanced(rng: np.random.Generator, labels: Indices, size: int, classes: int) -> Indices:
    each, odd = divmod(size, classes)
    if odd:
        raise InvalidInput(
            f"warm_up is {size}, which {classes} classes cannot share equally; "
            f"give a multiple of {classes}, or balanced = false."
        )
    return np.concatenate([_some_of(rng, labels, number, each) for number in range(classes)])


def _some_of(rng: np.random.Generator, labels: Indices, number: int, count: int) -> Indices:
    members = np.flatnonzero(labels == number)
    if len(members) < count:
        raise InvalidInput(f"class {number} has {len(members)} train items, but a balanced warm-up needs {count}.")
    return rng.choice(members, count, replace=False)


# A validation split: the last train items in place of the test items, so that settings are not chosen on the test set.
#
# As many items as the test split has, and at most a fifth of the train split: of MNIST's 60,000 train items the first
# 50,000 stay, and the last 10,000 take the place of the test set.


VALIDATION = "validation"
SPLITS = ("test", VALIDATION)
MOST = 0.2  # of the train items


def with_validation(data: Dataset) -> Dataset:
    """Return a data set with the last of its train items as test items; its own test items are left out.

    Raises
    ------
    InvalidInput
        If the last items lack a class that the others have, as in data sorted by class.
    """
    count = len(data.train_labels)
    kept = count - min(len(data.test_labels), int(MOST * count))
    first, last = np.arange(kept), np.arange(kept, count)
    missing = np.setdiff1d(data.train_labels[first], data.train_labels[last])
    if len(missing):
        names = ", ".join(data.classes[number] for number in missing[:3])
        raise InvalidInput(
            f"the last {count - kept} train items of {data.name}, which are for validation, have none of {names}; "
            'expected items in random order. Shuffle the data, or use test = "test".'
        )
    return replace(
        data,
        train=_some(data.train, first),
        train_labels=data.train_labels[first],
        test=_some(data.train, last),
        test_labels=data.train_labels[last],
    )


def _some(items: Items, rows: Indices) -> Items:
    """Return items that follow each other, without a copy of them."""
    return items[rows[0] : rows[-1] + 1] if isinstance(items, np.ndarray) else Subset(items, rows)
