"""Text messages, of which one in eight is spam (Almeida, Hidalgo and Yamakami 2011)."""

from pathlib import Path

from cusal.apps.bench.datasets.csv_files import csv_source, load_csv
from cusal.apps.bench.datasets.dataset import Dataset

SOURCE = csv_source(
    "text/sms_spam.csv.gz",
    "SMS spam",
    classes=2,
    sizes=(4_460, 1_114),
    licence="CC BY 4.0",
)


def load(folder: Path) -> Dataset:
    """Return the texts, split by class."""
    return load_csv("sms_spam", SOURCE, folder)
