"""Splice junctions of primate genes, 60 positions of three bits each (Noordewier, Towell and Shavlik 1991)."""

from pathlib import Path

from cusal.apps.bench.datasets.csv_files import csv_source, load_csv
from cusal.apps.bench.datasets.dataset import Dataset

SOURCE = csv_source(
    "tabular/dna.csv.gz",
    "Splice junctions of DNA",
    classes=3,
    sizes=(2_549, 637),
    shape=(180,),
    licence="CC BY 4.0, UCI",
)


def load(folder: Path) -> Dataset:
    """Return the table, split by class and standardised."""
    return load_csv("dna", SOURCE, folder)
