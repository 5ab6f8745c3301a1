"""Speed and memory of `cusal predict`: a model file applied to tables of many rows.

    python benchmarks/label_predict.py                  a million rows of features, 100,000 texts
    python benchmarks/label_predict.py --rows 50000     fewer, and a tenth as many texts

Both models are fitted to 200 labels in a pool of 2,000 items. Each case is predicted in a process of its own, twice:
all rows, and a tenth of them; memory that does not grow with the rows shows in the two peaks. `cpu` is processor time,
which hardly depends on what else the machine does.
"""

import argparse
import csv
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cusal.apps.label import Project
from cusal.apps.label.export import command
from cusal.apps.label.sources import open_source
from cusal.apps.label.worker.process import Worker

RESULTS = Path(__file__).parent / "results" / "label_predict.json"
POOL, LABELS = 2_000, 200
Case = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--predict", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.predict:
        predict(*options.predict)
        return
    with tempfile.TemporaryDirectory() as name:
        cases = [
            *measure(Path(name), "features", people, options.rows),
            *measure(Path(name), "texts", mails, options.rows // 10),
        ]
    about = {"pool": POOL, "labels": LABELS, "python": platform.python_version(), "numpy": np.__version__}
    about |= {"processors": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}
    options.out.write_text(json.dumps({"settings": about, "cases": cases}, indent=1) + "\n")


def measure(folder: Path, name: str, make: Any, rows: int) -> Iterator[Case]:
    """Yield what predicting all rows of a table costs, and a tenth of them."""
    model = fit(folder, name, make)
    for count in (rows // 10, rows):
        table = folder / f"{name}-{count}.csv"
        write(table, make(count, seed=1))
        command_line = [sys.executable, __file__, "--predict", str(model), str(table)]
        figures = json.loads(subprocess.check_output(command_line, text=True))
        case = {"case": name, "rows": count, "model_bytes": model.stat().st_size} | figures
        print(json.dumps(case | {"rows_per_cpu_second": round(count / figures["cpu"])}), flush=True)
        yield case | {"rows_per_cpu_second": round(count / figures["cpu"])}


def fit(folder: Path, name: str, make: Any) -> Path:
    """Return the file of a model that was fitted to some rows."""
    rows = list(make(POOL, seed=0))
    write(folder / f"{name}.csv", iter(rows))
    source = open_source(folder / f"{name}.csv")
    with Project.create(folder / f"{name}.cusal.db", source.settings()) as project:
        if source.kind == "text":
            project.change_settings(features="tfidf")
        project.items.add(source.rows())
        project.answers.import_labels([(str(row["id"]), truth(row)) for row in rows[:LABELS]])
        worker = Worker(project)
        while project.rounds.last_number() is None:
            worker.step()
    command.export(str(folder / f"{name}.cusal.db"), str(folder / name), ["model"])
    return folder / name / "model.cusal"


def predict(model: str, table: str) -> None:
    """Print what predicting a table costs in this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    command.predict(model, table, f"{table}.predictions.csv")
    figures = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({name: round(value, 1) for name, value in figures.items()} | {"peak_megabytes": round(peak)}))


def people(count: int, seed: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    for number in range(count):
        town = ("Bern", "Rome", "Oslo")[rng.integers(3)]
        yield {"id": number, "age": int(rng.integers(90)), "income": round(float(rng.normal(50, 20)), 1), "town": town}


def mails(count: int, seed: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("abcdefghijklmnopqrst"), rng.integers(2, 9))) for _ in range(3000)])
    rng = np.random.default_rng(seed + 1)
    for number in range(count):
        yield {"id": number, "text": " ".join(rng.choice(words[:: 1 + number % 2], 20))}


def truth(row: dict[str, Any]) -> str:
    return ("old" if row["age"] > 45 else "young") if "age" in row else ("odd" if row["id"] % 2 else "even")


def write(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        first = next(rows)
        table = csv.DictWriter(file, list(first))
        table.writeheader()
        table.writerow(first)
        table.writerows(rows)


if __name__ == "__main__":
    main()
