"""Handwritten digits by eight points of the pen's path (Alpaydin and Alimoglu 1998)."""

from pathlib import Path

from cusal.apps.bench.datasets.csv_files import csv_source, load_csv
from cusal.apps.bench.datasets.dataset import Dataset

SOURCE = csv_source(
    "tabular/pendigits.csv.gz",
    "Pen-based digits",
    classes=10,
    sizes=(8_793, 2_199),
    shape=(16,),
    licence="CC BY 4.0, UCI",
)


def load(folder: Path) -> Dataset:
    """Return the table, split by class and standardised."""
    return load_csv("pendigits", SOURCE, folder)
