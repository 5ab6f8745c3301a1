"""Accuracy of classifiers with 20 to 200 random labels, and the time of a fit, beside LogisticRegression(C=1).

    python benchmarks/heads.py                       twelve tasks, three seeds, in some minutes on one core
    python benchmarks/heads.py --tasks digits,vowel --seeds 1

A task has a pool of up to 2,500 items and a test set of up to 1,500 others. Labels are drawn at random from the pool;
`PoolClassifier` sees the rest of it without labels. Accuracy is raw, without recalibration. Tables are standardised,
texts are `cusal.features.TextFeatures`, images the first 50 principal components; all is fitted to the pool alone.
"scaled" divides features by their root mean squared norm, dense ones centred. Time is the processor's, of a fit to 100
labels and of the prediction of the test set; the graph of the pool is made once, before, and counted by itself.
`benchmarks/regret.py` has `FewLabelClassifier`, the default, on many tables.
"""

import argparse
import csv
import gzip
import importlib.metadata
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import softmax
from scipy.stats import wilcoxon
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cusal import metrics
from cusal.apps.bench import datasets
from cusal.features import TextFeatures
from cusal.models import PoolClassifier

RESULTS = Path(__file__).parent / "results"
POOL, TEST, COMPONENTS = 2500, 1500, 50
LABELS = (20, 50, 100, 200)
TIMED = 100  # labels
BASE = "LR, C = 1"
TABLES = ("dna", "image_segment", "letter", "pendigits", "shuttle", "vowel")
TEXTS = ("sms_spam", "ag_news_test7600", "banking77")
IMAGES = ("digits", "mnist", "fashion_mnist")
Case = dict[str, Any]


@dataclass
class Task:
    """Features and labels of a pool and of a test set, and the pool's rows in the order in which they are labelled."""

    pool: Any
    pool_labels: NDArray[Any]
    test: Any
    test_labels: NDArray[Any]
    order: NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default=",".join((*TABLES, *TEXTS, *IMAGES)), help="names, separated by commas")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS / "heads.json")
    options = parser.parse_args()
    heads, counts, base = tuple(HEADS), LABELS, BASE
    warnings.filterwarnings("ignore", message="The number of unique classes")  # few labels of many classes
    warnings.filterwarnings("ignore", category=FitFailedWarning)  # a fold whose other items are of one class
    names, seeds = options.tasks.split(","), range(options.first_seed, options.first_seed + options.seeds)
    begun = time.process_time()
    rows = []
    for name in names:
        read = read_task(name)
        for seed in seeds:
            rows += measure(name, seed, cut(name, *read, seed), heads, counts)
        print(
            f"{name:18}" + "".join(f"{head}: {mean_accuracy(rows, name, head):5.1f}   " for head in heads), flush=True
        )
    summary = summarise(rows, heads, counts, base)
    print_summary(summary, counts, base)
    stored = {
        "settings": settings(names, list(seeds)) | {"labels": counts, "base": base},
        "cpu_seconds": round(time.process_time() - begun),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(stored | {"summary": summary, "cases": rows}, indent=1) + "\n")
    print(f"written to {options.out}")


def read_task(name: str) -> tuple[Any, NDArray[Any]]:
    """Return all items of a data set and their labels."""
    if name in IMAGES:
        data = datasets.load(name)
        return np.asarray(data.train).reshape(len(data.train), -1), np.asarray(data.train_labels)
    folder = datasets.data_folder() / ("tabular" if name in TABLES else "text")
    with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labels = np.array([row["label"] for row in rows])
    if name in TEXTS:
        return np.array([row["text"] for row in rows], dtype=object), labels
    return np.array([[float(value) for key, value in row.items() if key != "label"] for row in rows]), labels


def cut(name: str, items: Any, labels: NDArray[Any], seed: int) -> Task:
    """Return a random pool and test set as features."""
    rng = np.random.default_rng([seed, len(items)])
    rows = rng.permutation(len(items))
    size = min(POOL, int(0.65 * len(items)))
    pool, test = rows[:size], rows[size : size + TEST]
    encoder = (
        TextFeatures() if name in TEXTS else PCA(COMPONENTS, random_state=0) if name in IMAGES else StandardScaler()
    )
    order = rng.permutation(size)
    while len(np.unique(labels[pool][order[: LABELS[0]]])) < 2:  # nothing learns from one class
        order = rng.permutation(size)
    return Task(encoder.fit_transform(items[pool]), labels[pool], encoder.transform(items[test]), labels[test], order)


def measure(name: str, seed: int, task: Task, heads: Sequence[str], counts: Sequence[int]) -> list[Case]:
    """Return accuracy, ECE and time of heads with each number of labels that the pool has."""
    rows = []
    started = time.process_time()
    # It keeps the graph of the pool in memory, as the model of a session does from round to round.
    keeper = fit_pooled(task, LABELS[0])
    graph = time.process_time() - started
    for labels in (count for count in counts if count < len(task.order)):
        for head in heads:
            started = time.process_time()
            predict, classes = HEADS[head](task, labels)
            fitted = time.process_time()
            probs = predict(task.test)
            times = {"fit_ms": 1e3 * (fitted - started), "predict_ms": 1e3 * (time.process_time() - fitted)}
            accuracy = float(np.mean(classes[probs.argmax(axis=1)] == task.test_labels))
            known = set(task.test_labels) <= set(classes)  # a class without a label has no column
            ece = round(metrics.ece(probs, task.test_labels, classes=classes), 4) if known else None
            row = {"task": name, "seed": seed, "head": head, "labels": labels}
            row |= {"accuracy": round(accuracy, 4), "ece": ece}
            rows.append(row | {key: round(value, 1) for key, value in times.items()})
    rows[0]["graph_ms"] = round(1e3 * graph, 1)
    del keeper
    return rows


# Each returns how a head that was fitted to the first labels of a task predicts, and the classes of the columns.

Fitted = tuple[Callable[[Any], NDArray[Any]], NDArray[Any]]


def fit_plain(model: Callable[[], Any], task: Task, labels: int) -> Fitted:
    rows = task.order[:labels]
    fitted = model().fit(task.pool[rows], task.pool_labels[rows])
    return fitted.predict_proba, fitted.classes_


def fit_scaled(model: Callable[[], Any], task: Task, labels: int) -> Fitted:
    mean = 0 if issparse(task.pool) else task.pool.mean(axis=0)
    squares = task.pool.multiply(task.pool) if issparse(task.pool) else (task.pool - mean) ** 2
    factor = 1 / np.sqrt(squares.sum() / task.pool.shape[0])

    def scale(rows: Any) -> Any:
        return rows * factor if issparse(rows) else (rows - mean) * factor

    chosen = task.order[:labels]
    fitted = model().fit(scale(task.pool[chosen]), task.pool_labels[chosen])
    return (lambda rows: fitted.predict_proba(scale(rows))), fitted.classes_


def fit_pooled(task: Task, labels: int, model: Callable[[], Any] = PoolClassifier) -> Fitted:
    rows, others = task.order[:labels], task.order[labels:]
    fitted = model().fit(task.pool[rows], task.pool_labels[rows], unlabelled=task.pool[others])
    return fitted.predict_proba, fitted.classes_


def fit_support_vectors(task: Task, labels: int) -> Fitted:
    """Fit an SVM with its default kernel; its scores as probabilities, since folds need more labels of each class."""
    rows = task.order[:labels]
    fitted = SVC().fit(task.pool[rows], task.pool_labels[rows])

    def probabilities(items: Any) -> NDArray[Any]:
        scores = fitted.decision_function(items)
        return softmax(np.column_stack([-scores, scores]) if scores.ndim == 1 else scores, axis=1)

    return probabilities, fitted.classes_


def regression(C: float = 1.0, weight: str | None = None) -> Any:
    return LogisticRegression(C=C, class_weight=weight, max_iter=1000)


def searched() -> Any:
    folds = KFold(3, shuffle=True, random_state=0)  # not stratified: with few labels some classes have one item
    return GridSearchCV(regression(), {"C": [0.1, 1, 10, 100]}, cv=folds, error_score=0.0)


HEADS: dict[str, Callable[[Task, int], Fitted]] = {
    BASE: partial(fit_plain, regression),
    "LR scaled, C = 30, balanced": partial(fit_scaled, partial(regression, 30.0, "balanced")),
    "LR, C by cross-validation": partial(fit_plain, searched),
    "random forest": partial(fit_plain, partial(RandomForestClassifier, random_state=0)),
    "SVM": fit_support_vectors,
    "PoolClassifier": fit_pooled,
    "PoolClassifier, no pool": lambda task, labels: fit_plain(PoolClassifier, task, labels),
}


def accuracies(rows: list[Case], **wanted: Any) -> NDArray[np.float64]:
    return np.array([100 * row["accuracy"] for row in rows if all(row[key] == wanted[key] for key in wanted)])


def mean_accuracy(rows: list[Case], name: str, head: str) -> float:
    return float(accuracies(rows, task=name, head=head).mean())


def mean_ece(rows: list[Case], head: str) -> float:
    return float(np.mean([row["ece"] for row in rows if row["head"] == head and row["ece"] is not None]))


def summarise(rows: list[Case], heads: Sequence[str], counts: Sequence[int], base: str) -> list[Case]:
    """Return points of accuracy against the base, over tasks and by the number of labels, and times."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    pairs = sorted({(row["task"], row["seed"]) for row in rows})
    summary = []
    for head in heads:
        by_task = {task: mean_accuracy(rows, task, head) - mean_accuracy(rows, task, base) for task in tasks}
        by_pair = [
            np.mean(accuracies(rows, task=t, seed=s, head=head) - accuracies(rows, task=t, seed=s, head=base))
            for t, s in pairs
        ]
        worst = min(by_task, key=by_task.__getitem__)
        timed = [row for row in rows if row["head"] == head and row["labels"] == TIMED]
        summary.append(
            {
                "head": head,
                "points": round(float(np.mean(list(by_task.values()))), 2),
                "by_labels": {
                    labels: round(
                        float(
                            np.mean(
                                accuracies(rows, head=head, labels=labels) - accuracies(rows, head=base, labels=labels)
                            )
                        ),
                        2,
                    )
                    for labels in counts
                },
                "by_task": {task: round(points, 2) for task, points in by_task.items()},
                "worst_task": worst,
                "worst_points": round(by_task[worst], 2),
                "tasks_won": sum(points > 0 for points in by_task.values()),
                "tasks": len(tasks),
                "p_task_by_seed": None if head == base else float(wilcoxon(by_pair).pvalue),
                "ece": round(mean_ece(rows, head), 4),
                "fit_ms": round(float(np.median([row["fit_ms"] for row in timed])), 1),
                "predict_ms": round(float(np.median([row["predict_ms"] for row in timed])), 1),
            }
        )
    return summary


def print_summary(summary: list[Case], counts: Sequence[int], base: str) -> None:
    labels = "".join(f"{count:>7}" for count in counts)
    titles = f"   {'worst task':24}{'won':>6}{'p':>8}{'fit ms':>9}{'predict ms':>12}"
    print(f"\n{'points against ' + base:30}{'mean':>7}{labels}{titles}{'ECE':>8}")
    for row in summary:
        by_labels = "".join(f"{row['by_labels'][count]:>+7.1f}" for count in counts)
        worst = f"{row['worst_points']:+.1f} {row['worst_task']}"
        p = "" if row["p_task_by_seed"] is None else f"{row['p_task_by_seed']:.2g}"
        won = f"{row['tasks_won']}/{row['tasks']}"
        print(
            f"{row['head']:30}{row['points']:>+7.1f}{by_labels}   {worst:24}{won:>6}{p:>8}"
            f"{row['fit_ms']:>9}{row['predict_ms']:>12}{row['ece']:>8.3f}"
        )


def settings(names: list[str], seeds: list[int]) -> Case:
    packages = ("numpy", "scipy", "scikit-learn")
    return {
        "tasks": names,
        "seeds": seeds,
        "labels": LABELS,
        "pool": POOL,
        "test": TEST,
        "components": COMPONENTS,
        "timed_labels": TIMED,
        "threads": os.environ["OMP_NUM_THREADS"],
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in packages},
    }


if __name__ == "__main__":
    main()
