"""Questions of a bank's customers, 77 intents (Casanueva et al. 2020)."""

from pathlib import Path

from cusal.apps.bench.datasets.csv_files import csv_source, load_csv
from cusal.apps.bench.datasets.dataset import Dataset

SOURCE = csv_source(
    "text/banking77.csv.gz",
    "Banking77",
    classes=77,
    sizes=(10_003, 3_080),
    licence="CC BY 4.0",
)


def load(folder: Path) -> Dataset:
    """Return the texts, in its published split."""
    return load_csv("banking77", SOURCE, folder)
