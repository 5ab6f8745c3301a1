"""Capital letters by 16 measurements of their pixels (Frey and Slate 1991)."""

from pathlib import Path

from cusal.apps.bench.datasets.csv_files import csv_source, load_csv
from cusal.apps.bench.datasets.dataset import Dataset

SOURCE = csv_source(
    "tabular/letter.csv.gz",
    "Letter recognition",
    classes=26,
    sizes=(15_998, 4_002),
    shape=(16,),
    licence="CC BY 4.0, UCI",
)


def load(folder: Path) -> Dataset:
    """Return the table, split by class and standardised."""
    return load_csv("letter", SOURCE, folder)
