"""A data set from the columns of a table, whatever file they were read from.

The label is the column named `label`, else the last one; an optional column `split` holds train or test. Where there is
a column `text`, its texts are the items, and further columns are left out. Otherwise every other column is a number;
each is standardised with the train split's mean and standard deviation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices
from cusal.apps.bench.datasets.dataset import Dataset
from cusal.apps.bench.datasets.split import split_stratified
from cusal.errors import DataError

SPLITS = ("train", "test")
TEXT = "text"


@dataclass(frozen=True)
class OwnTable:
    """The columns of one file and their names.

    `kind` is the prefix of its name as a data set; `first_row` is the number that the file's reader would give to its
    first row, for messages.
    """

    kind: str
    path: Path
    names: Sequence[str]
    columns: Sequence[Sequence[Any]]
    first_row: int

    def as_dataset(self) -> Dataset:
        """Return the data set that the columns hold; raise a DataError that names the column and the row."""
        target = self.names.index("label") if "label" in self.names else len(self.names) - 1
        values = self._values(target)
        names, numbers = np.unique(self._texts(target), return_inverse=True)
        labels = numbers.astype(np.int64)
        train, test = self._split() if "split" in self.names else split_stratified(labels)
        if not len(train) or not len(test):
            raise DataError(f"{self.path}: the {SPLITS[bool(len(train))]} split is empty; expected items in both.")
        items = values if values.ndim == 1 else _standardised(values, train)
        classes = tuple(str(name) for name in names)
        name = f"{self.kind}:{self.path}"
        return Dataset(name, items[train], labels[train], items[test], labels[test], classes=classes)

    def _values(self, target: int) -> NDArray[Any]:
        """Return (n,) texts, or (n, columns) numbers."""
        if TEXT in self.names and self.names.index(TEXT) != target:
            return np.array(self._texts(self.names.index(TEXT)), dtype=object)
        features = [place for place, name in enumerate(self.names) if place != target and name != "split"]
        if not features:
            raise DataError(
                f"{self.path} has no column of numbers beside {self.names[target]!r}; expected at least one, or a "
                "column `text`."
            )
        return np.stack([self._numbers(place) for place in features], axis=1)

    def _split(self) -> tuple[Indices, Indices]:
        values = np.array(self._texts(self.names.index("split")))
        known = np.isin(values, SPLITS)
        if not known.all():
            row = int(np.argmin(known))
            raise DataError(
                f"{self.path}: row {row + self.first_row} has split {str(values[row])!r}; expected train or test."
            )
        return np.flatnonzero(values == "train"), np.flatnonzero(values == "test")

    def _texts(self, place: int) -> list[str]:
        values = self.columns[place]
        if None in values:
            row = values.index(None) + self.first_row
            raise DataError(f"{self.path}: column {self.names[place]!r} is null in row {row}; give every row a value.")
        return [str(value) for value in values]

    def _numbers(self, place: int) -> NDArray[np.float64]:
        fields = self.columns[place]
        values = np.array([_number(field) for field in fields])
        finite = np.isfinite(values)
        if not finite.all():
            row = int(np.argmin(finite))
            raise DataError(
                f"{self.path}: column {self.names[place]!r} holds {str(fields[row])[:40]!r} "
                f"in row {row + self.first_row}; supported are columns of finite numbers, one `label` and an "
                "optional `split`. Texts go into a column `text`, without others."
            )
        return values


def _standardised(values: NDArray[np.float64], train: Indices) -> NDArray[np.float32]:
    deviation = values[train].std(axis=0)
    deviation[deviation == 0] = 1.0  # a constant column says nothing and stays at zero
    return ((values - values[train].mean(axis=0)) / deviation).astype(np.float32)  # type: ignore[no-any-return]


def _number(field: Any) -> float:
    try:
        return float(field)
    except (TypeError, ValueError):
        return float("nan")
