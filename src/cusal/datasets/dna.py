"""Primate splice-junction gene sequences (Noordewier, Towell and Shavlik 1991): 60 positions as three bits each, three classes."""

from pathlib import Path

from cusal.datasets.csv_files import csv_source, load_csv
from cusal.datasets.dataset import Dataset

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
