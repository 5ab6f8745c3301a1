"""A validation split: the last train items in place of the test items, so that settings are not chosen on the test set.

As many items as the test split has, and at most a fifth of the train split: of MNIST's 60,000 train items the first
50,000 stay, and the last 10,000 take the place of the test set.
"""

from dataclasses import replace

import numpy as np

from cusal._items import Subset
from cusal._types import Indices
from cusal.apps.bench.datasets import Dataset, Items
from cusal.errors import InvalidInput

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
