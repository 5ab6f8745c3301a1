"""Every number of a report as one CSV file in long format: a line for each run, round and number."""

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from cusal.bench.report.curves import Curves

COLUMNS = ("experiment", "strategy", "seed", "round", "split", "kind", "name", "value")


def write_csv(experiments: Iterable[Curves], out: Path) -> list[Path]:
    """Write `numbers.csv` into the folder."""
    path = out / "numbers.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for curves in experiments:
            for run in curves.runs:
                for key, by_round in run.values.items():
                    for number, value in sorted(by_round.items()):
                        if np.isfinite(value):
                            writer.writerow(
                                [curves.experiment, run.strategy, run.seed, number, *key, repr(float(value))]
                            )
    return [path]
