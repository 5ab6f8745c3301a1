"""Requests to an assistant, 150 intents (Larson et al. 2019), without those that are out of scope."""

from collections.abc import Sequence
from pathlib import Path

from cusal.apps.bench.datasets.csv_files import csv_source, load_csv
from cusal.apps.bench.datasets.dataset import Dataset

SOURCE = csv_source(
    "text/clinc150_full.csv.gz",
    "CLINC150",
    classes=150,
    sizes=(15_000, 4_500),
    licence="CC BY 3.0",
)


def load(folder: Path) -> Dataset:
    """Return the texts, in its published split, without validation items."""
    return load_csv("clinc150", SOURCE, folder, keep=_in_scope)


def _in_scope(columns: dict[str, Sequence[str]]) -> list[int]:
    return [row for row, split in enumerate(columns["split"]) if split in ("train", "test")]
