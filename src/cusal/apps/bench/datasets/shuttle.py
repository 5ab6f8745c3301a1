"""States of the space shuttle's radiators by nine sensors, seven classes of very unequal size (Statlog)."""

from pathlib import Path

from cusal.apps.bench.datasets.csv_files import csv_source, load_csv
from cusal.apps.bench.datasets.dataset import Dataset

SOURCE = csv_source(
    "tabular/shuttle.csv.gz",
    "Statlog shuttle",
    classes=7,
    sizes=(46_400, 11_600),
    shape=(9,),
    licence="CC BY 4.0, UCI",
)


def load(folder: Path) -> Dataset:
    """Return the table, split by class and standardised."""
    return load_csv("shuttle", SOURCE, folder)
