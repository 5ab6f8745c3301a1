"""One's own table: CSV, TSV or JSON lines, also with .gz. `datasets/columns.py` says what its columns mean."""

from pathlib import Path

from cusal.apps.bench.datasets.columns import load_table
from cusal.apps.bench.datasets.dataset import Dataset

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz")


def load(path: Path) -> Dataset:
    """Return the data set in a table of numbers, categories or texts, with a label."""
    return load_table("csv", path)
