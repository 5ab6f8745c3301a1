"""A data set from the columns of a table, whatever file they were read from.

The label is the column named `label`, else the last one; an optional column `split` holds train or test; a column of
ids is left out. Where there is a column `text`, or one of prose and no number, its texts are the items, and further
columns are left out. Otherwise the items are rows of numbers, standardised with the train split's mean and standard
deviation: plain numbers as they are, and all else as `cusal.features.TableFeatures` reads it (dates, numbers written
in other ways, categories, gaps, texts).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices
from cusal.apps.bench.datasets.dataset import Dataset, split_stratified
from cusal.errors import DataError
from cusal.tables import NamedColumns, read, roles

SPLITS = ("train", "test")
TEXT, SPLIT = "text", "split"


def load_table(kind: str, path: Path) -> Dataset:
    """Return the data set in a table of one's own; `kind` is the prefix of its name as a data set."""
    table = read(path, strict=True)
    columns = table.values()
    if not table.sample:
        raise DataError(f"{path} has no rows; expected a header row and items below it.")
    label = "label" if "label" in columns else table.columns[-1]
    found = roles(table, NamedColumns(label=label))
    text = TEXT if TEXT in columns and label != TEXT else None if found.numbers - {SPLIT} else found.text
    without = {name for name in (found.id, SPLIT) if name is not None and name != text}
    own = OwnTable(kind, path, columns, label, table.first_row, text=text, without=frozenset(without))
    return own.as_dataset()


@dataclass(frozen=True)
class OwnTable:
    """The columns of one file.

    `kind` is the prefix of its name as a data set; `first_row` is the number that the file's reader would give to its
    first row, for messages; `text` is the column whose texts are the items; `without` are columns to leave out.
    """

    kind: str
    path: Path
    columns: Mapping[str, Sequence[Any]]
    label: str
    first_row: int
    text: str | None = None
    without: frozenset[str] = frozenset((SPLIT,))

    def as_dataset(self) -> Dataset:
        """Return the data set that the columns hold; raise a DataError that names the column and the row."""
        if self.text is None and not self._names():
            raise DataError(f"{self.path} has no column beside {self.label!r}; expected numbers, categories, or texts.")
        names, numbers = np.unique(self._texts(self.label), return_inverse=True)
        labels = numbers.astype(np.int64)
        train, test = self._split() if SPLIT in self.columns else split_stratified(labels)
        if not len(train) or not len(test):
            raise DataError(f"{self.path}: the {SPLITS[bool(len(train))]} split is empty; expected items in both.")
        items, reading = self._items(train)
        classes = tuple(str(name) for name in names)
        name = f"{self.kind}:{self.path}"
        return Dataset(name, items[train], labels[train], items[test], labels[test], classes=classes, reading=reading)

    def _names(self) -> list[str]:
        return [name for name in self.columns if name != self.label and name not in self.without]

    def _items(self, train: Indices) -> tuple[NDArray[Any], str]:
        """Return (n,) texts, or (n, columns) numbers, and what was taken for what."""
        begun = f"Read {self.path.name}: the label from {self.label}"
        if self.text is not None:
            return np.array(self._texts(self.text), dtype=object), f"{begun}, the text from {self.text}."
        features = self._names()
        plain = {name: _numbers(self.columns[name]) for name in features}
        if all(np.isfinite(values).all() for values in plain.values()):
            return _standardised(np.stack([*plain.values()], axis=1), train), f"{begun}, {len(features)} numbers."
        return self._features(features, train, begun)

    def _features(self, names: Sequence[str], train: Indices, begun: str) -> tuple[NDArray[np.float32], str]:
        from cusal.features import TableFeatures  # loads scikit-learn, which plain numbers can do without

        learned = TableFeatures().fit({name: [self.columns[name][row] for row in train] for name in names})
        rows = {name: self.columns[name] for name in names}
        made = learned.get_feature_names_out()
        return learned.transform(rows).astype(np.float32), f"{begun}, {len(names)} columns as {len(made)} numbers."

    def _split(self) -> tuple[Indices, Indices]:
        values = np.array(self._texts(SPLIT))
        known = np.isin(values, SPLITS)
        if not known.all():
            row = int(np.argmin(known))
            raise DataError(
                f"{self.path}: row {row + self.first_row} has split {str(values[row])!r}; expected train or test."
            )
        return np.flatnonzero(values == "train"), np.flatnonzero(values == "test")

    def _texts(self, name: str) -> list[str]:
        values = self.columns[name]
        empty = next((row for row, value in enumerate(values) if value is None or value == ""), None)
        if empty is not None:
            row = empty + self.first_row
            raise DataError(f"{self.path}: column {name!r} is empty in row {row}; give every row a value.")
        return [str(value) for value in values]


def _standardised(values: NDArray[np.float64], train: Indices) -> NDArray[np.float32]:
    deviation = values[train].std(axis=0)
    deviation[deviation == 0] = 1.0  # a constant column says nothing and stays at zero
    return ((values - values[train].mean(axis=0)) / deviation).astype(np.float32)  # type: ignore[no-any-return]


def _numbers(cells: Sequence[Any]) -> NDArray[np.float64]:
    """Return plain numbers, NaN where there is none."""
    try:
        return np.array([float(cell) for cell in cells])
    except (TypeError, ValueError):
        return np.array([np.nan])
