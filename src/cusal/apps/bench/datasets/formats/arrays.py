"""One's own arrays: an .npz file with `train, train_labels, test, test_labels`, or with `X, y`."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._files import load_arrays
from cusal.apps.bench.datasets.dataset import Dataset, split_stratified
from cusal.errors import DataError

SUFFIXES = (".npz",)
SPLIT = ("train", "train_labels", "test", "test_labels")
WHOLE = ("X", "y")


def load(path: Path) -> Dataset:
    """Return the data set in an .npz file: items as they are, in float32, and labels numbered in order."""
    arrays = load_arrays(path)
    if all(name in arrays for name in SPLIT):
        train, train_labels, test, test_labels = (arrays[name] for name in SPLIT)
    elif all(name in arrays for name in WHOLE):
        items, labels = (arrays[name] for name in WHOLE)
        _check(path, WHOLE, items, labels)
        first, second = split_stratified(np.unique(labels, return_inverse=True)[1])
        train, train_labels, test, test_labels = items[first], labels[first], items[second], labels[second]
    else:
        raise DataError(
            f"{path} holds {', '.join(sorted(arrays)) or 'nothing'}; "
            f"expected the arrays {', '.join(SPLIT)}, or {' and '.join(WHOLE)}."
        )
    _check(path, SPLIT[:2], train, train_labels)
    _check(path, SPLIT[2:], test, test_labels)
    if train.shape[1:] != test.shape[1:]:
        raise DataError(f"{path}: train items have shape {train.shape[1:]}, but test items {test.shape[1:]}.")
    classes, numbers = np.unique(np.concatenate([train_labels, test_labels]), return_inverse=True)
    numbers = numbers.astype(np.int64)
    return Dataset(
        f"npz:{path}",
        train.astype(np.float32),
        numbers[: len(train)],
        test.astype(np.float32),
        numbers[len(train) :],
        classes=tuple(str(value) for value in classes),
    )


def _check(path: Path, names: tuple[str, ...], items: NDArray[Any], labels: NDArray[Any]) -> None:
    if labels.ndim != 1 or items.ndim < 2 or len(items) != len(labels):
        raise DataError(
            f"{path}: {names[0]} has shape {items.shape} and {names[1]} {labels.shape}; "
            "expected (n, ...) items and (n,) labels."
        )
    if not len(items):
        raise DataError(f"{path}: {names[0]} is empty; expected at least one item.")
    if labels.dtype.kind not in "iubUS":
        raise DataError(f"{path}: {names[1]} holds {labels.dtype}; expected whole numbers or text.")
    if items.dtype.kind not in "fiub" or not np.isfinite(items).all():
        raise DataError(f"{path}: {names[0]} holds {items.dtype} with values that are not finite numbers.")
