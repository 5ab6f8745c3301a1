"""One's own table: a .csv or .csv.gz file with a header row.

The label is in the column named `label`, else in the last one; an optional column `split` holds train or
test; every other column is a number. Each is standardised with the train split's mean and deviation.
"""

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal.datasets.dataset import Dataset
from cusal.datasets.files import corrupt, read_bytes
from cusal.datasets.split import split_stratified
from cusal.errors import DataError

SPLITS = ("train", "test")


def load_csv(path: Path) -> Dataset:
    """Give the data set in a table of numbers with a label."""
    header, rows = _read(path)
    target = header.index("label") if "label" in header else len(header) - 1
    features = [column for column, name in enumerate(header) if column != target and name != "split"]
    if not features:
        raise DataError(f"{path} has no column of numbers beside {header[target]!r}; expected at least one.")
    values = np.stack([_numbers(path, header[column], [row[column] for row in rows]) for column in features], axis=1)
    names, numbers = np.unique([row[target] for row in rows], return_inverse=True)
    labels = numbers.astype(np.int64)
    train, test = _split(path, header, rows) if "split" in header else split_stratified(labels)
    if not len(train) or not len(test):
        raise DataError(f"{path}: the {SPLITS[bool(len(train))]} split is empty; expected items in both.")
    deviation = values[train].std(axis=0)
    deviation[deviation == 0] = 1.0  # a constant column says nothing and stays at zero
    items = ((values - values[train].mean(axis=0)) / deviation).astype(np.float32)
    classes = tuple(str(name) for name in names)
    return Dataset(f"csv:{path}", items[train], labels[train], items[test], labels[test], classes=classes)


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    if not path.is_file():
        raise DataError(f"{path} not found; give the path of a .csv or .csv.gz file after csv:.")
    try:
        lines = list(csv.reader(io.StringIO(read_bytes(path).decode("utf-8-sig"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise corrupt(path, str(error)) from error
    rows = [line for line in lines if line]
    if len(rows) < 2:
        raise DataError(f"{path} has {len(rows)} rows; expected a header row and items below it.")
    header = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise DataError(f"{path}: row {number} has {len(row)} fields, but the header has {len(header)}.")
    return header, rows[1:]


def _split(path: Path, header: list[str], rows: list[list[str]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    column = header.index("split")
    values = np.array([row[column] for row in rows])
    known = np.isin(values, SPLITS)
    if not known.all():
        row = int(np.argmin(known))
        raise DataError(f"{path}: row {row + 2} has split {str(values[row])!r}; expected train or test.")
    return np.flatnonzero(values == "train"), np.flatnonzero(values == "test")


def _numbers(path: Path, name: str, fields: list[str]) -> NDArray[np.float64]:
    values = np.array([_number(field) for field in fields])
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argmin(finite))
        raise DataError(
            f"{path}: column {name!r} holds {fields[row][:40]!r} in row {row + 2}; supported are columns of "
            "finite numbers, one `label` and an optional `split`. Turn text into embeddings first."
        )
    return values


def _number(field: str) -> float:
    try:
        return float(field)
    except ValueError:
        return float("nan")
