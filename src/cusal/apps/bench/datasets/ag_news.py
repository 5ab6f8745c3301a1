"""News in four sections (Zhang, Zhao and LeCun 2015): the published test set, split again here."""

from pathlib import Path

from cusal.apps.bench.datasets.csv_files import csv_source, load_csv
from cusal.apps.bench.datasets.dataset import Dataset

SOURCE = csv_source(
    "text/ag_news_test7600.csv.gz",
    "AG News, its 7,600 test items",
    classes=4,
    sizes=(6_080, 1_520),
    licence="non-commercial use",
)


def load(folder: Path) -> Dataset:
    """Return the texts, split by class."""
    return load_csv("ag_news", SOURCE, folder, without=("split",))
