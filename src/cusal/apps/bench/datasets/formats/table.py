"""One's own table: a .csv or .csv.gz file with a header row. `datasets/columns.py` says what its columns mean."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from cusal.apps.bench.datasets.columns import OwnTable
from cusal.apps.bench.datasets.dataset import Dataset
from cusal.apps.bench.datasets.files import corrupt, read_bytes
from cusal.errors import DataError

SUFFIXES = (".csv", ".csv.gz")


def load(path: Path) -> Dataset:
    """Return the data set in a table of numbers, or of texts, with a label."""
    header, columns = read_columns(path)
    return OwnTable("csv", path, header, columns, first_row=2).as_dataset()


def read_columns(path: Path) -> tuple[list[str], list[Sequence[str]]]:
    """Return the titles of a file's columns, and their fields."""
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
    return header, list(zip(*rows[1:], strict=True))
