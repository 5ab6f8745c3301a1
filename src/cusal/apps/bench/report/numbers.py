"""The numbers of a report as CSV: a line for each run, round and number; and one for each rank in a suite."""

import csv
import dataclasses
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from cusal.apps.bench.report.curves import Curves
from cusal.apps.bench.report.suites import MEASURED, Rank, Suite, find_suites, rank
from cusal.tables import safe_cell

COLUMNS = ("experiment", "strategy", "seed", "round", "split", "kind", "name", "value", "dataset", "title")


def write_csv(experiments: Iterable[Curves], out: Path) -> list[Path]:
    """Write `numbers.csv` into the folder, and `ranks.csv` where there is a suite."""
    experiments = list(experiments)
    path = out / "numbers.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for curves in experiments:
            about = (curves.about.dataset, curves.about.title)
            for run in curves.runs:
                named = (safe_cell(curves.experiment), safe_cell(run.strategy), run.seed)
                writer.writerows(
                    (*named, number, *map(safe_cell, key), repr(float(value)), *map(safe_cell, about))
                    for key, by_round in run.values.items()
                    for number, value in sorted(by_round.items())
                    if np.isfinite(value)
                )
    suites = find_suites(experiments)
    return [path, _write_ranks(suites, out / "ranks.csv")] if suites else [path]


def _write_ranks(suites: Iterable[Suite], path: Path) -> Path:
    names = [field.name for field in dataclasses.fields(Rank)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["suite", "group", "measure", "against", *names])
        for suite in suites:
            for group, tasks in suite.parts().items():
                for measure in MEASURED:
                    for one in rank(suite, measure, tasks):
                        line = [suite.name, group, measure.name, suite.against, *dataclasses.astuple(one)]
                        writer.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in line])
    return path
