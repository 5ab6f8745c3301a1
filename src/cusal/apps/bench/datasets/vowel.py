"""Steady vowels of British English by ten measurements of the sound, eleven classes (Deterding 1989)."""

from pathlib import Path

from cusal.apps.bench.datasets.csv_files import csv_source, load_csv
from cusal.apps.bench.datasets.dataset import Dataset

SOURCE = csv_source(
    "tabular/vowel.csv.gz",
    "Vowel recognition",
    classes=11,
    sizes=(792, 198),
    shape=(10,),
    licence="CC BY 4.0, UCI",
)


def load(folder: Path) -> Dataset:
    """Return the table, split by class and standardised."""
    return load_csv("vowel", SOURCE, folder)
