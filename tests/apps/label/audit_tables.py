"""Tables of predictions for the tests of audits in the browser."""

import csv
from pathlib import Path

import numpy as np

from cusal.audit.audit import Audit
from cusal.audit.prediction_table import read_predictions
from cusal.tables import NamedColumns

NAMES = ("bill", "advert", "private")


def true_name(key: str) -> str:
    """Return what a letter is in truth, by its id."""
    return NAMES[int(key.rpartition("-")[2]) % 3]


def write_predictions(path: Path, count: int = 300, seed: int = 0) -> Path:
    """Write a table of letters, of which three in four are predicted as what they are."""
    rng = np.random.default_rng(seed)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "predicted", "confidence", "source"])
        for row in range(count):
            right = rng.random() < 0.75
            name = true_name(f"letter-{row}") if right else NAMES[(row + 1) % 3]
            sure = rng.uniform(0.6, 1) if right else rng.uniform(0.3, 0.9)
            rows.writerow([f"letter-{row}", f"Letter number {row} is short.", name, round(sure, 4), "post"])
    return path


def audit_of(path: Path, seed: int = 0) -> Audit:
    """Return the audit of a table, as the command line makes it."""
    return read_predictions(str(path), NamedColumns()).audit(seed)
