"""One's own table in a Parquet file. `datasets/columns.py` says what its columns mean."""

from pathlib import Path

from cusal.apps.bench.datasets.columns import load_table
from cusal.apps.bench.datasets.dataset import Dataset

SUFFIXES = (".parquet", ".pq")


def load(path: Path) -> Dataset:
    """Return the data set in a table of numbers, categories or texts, with a label."""
    return load_table("parquet", path)
