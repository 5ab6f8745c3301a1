"""Regions of outdoor images by 18 measurements, seven classes (Vision Group, University of Massachusetts, 1990)."""

from pathlib import Path

from cusal.apps.bench.datasets.csv_files import csv_source, load_csv
from cusal.apps.bench.datasets.dataset import Dataset

SOURCE = csv_source(
    "tabular/image_segment.csv.gz",
    "Image segmentation",
    classes=7,
    sizes=(1_848, 462),
    shape=(18,),
    licence="CC BY 4.0, UCI",
)


def load(folder: Path) -> Dataset:
    """Return the table, split by class and standardised."""
    return load_csv("image_segment", SOURCE, folder)
