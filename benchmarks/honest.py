"""Honest probabilities, honest accuracy, when to stop: measured on light heads.

    CUSAL_DATA=... python benchmarks/honest.py          ten tasks, three seeds, in some minutes on one core

Logistic regression on tables (standardised), texts (TF-IDF) and digits, from 20 random labels in batches of 10. The
strategies are the default with and without the app's audit share of .1, margin, margin with .2, and random. All
recalibrations look at the same sessions: recalibration changes neither what is asked nor what is fitted. Every figure
is of the open items, whose labels are known here.

    ECE x 100     raw (none) and by each recalibration, mean over the rounds with 60, 140 and 220 labels
    accuracy      mean absolute error of `estimate_accuracy` in points, and how often its 90 % interval covers
    calibration   how often the 90 % intervals of `calibration` cover the ECE, before and after
    stopping      labels when `stopping` said stop, or all; points lost against the best round of the session
"""

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import cusal

RESULTS = Path(__file__).parent / "results" / "honest.json"
TABLES = ("vowel", "image_segment", "dna", "pendigits", "letter", "shuttle")
TEXTS = ("sms_spam", "ag_news_test7600", "banking77")
METHODS = (None, "prequential", "cross-fit", "auto", "vector")
STRATEGIES = {
    "diverse_margin": ("diverse_margin", 0.0),
    "diverse_margin, audit .1": ("diverse_margin", 0.1),
    "margin": ("margin", 0.0),
    "margin, audit .2": ("margin", 0.2),
    "random": ("random", 0.0),
}
POOL, FIRST = 2500, 20
JUDGED_FROM, JUDGED_EVERY = 60, 80
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default=",".join(("digits", *TABLES, *TEXTS)))
    parser.add_argument("--seeds", default="2,3,4", help="0 and 1 chose how the guard judges")
    parser.add_argument("--labels", type=int, default=220, help="labels at the end")
    parser.add_argument("--batch", type=int, default=10, help="labels of a round")
    parser.add_argument("--cold-start", action="store_true", help="let the session choose the first labels too")
    parser.add_argument("--strategies", default=";".join(STRATEGIES), help="separated by semicolons")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="lbfgs failed to converge")
    warnings.filterwarnings("ignore", message="The number of unique classes is greater than 50%")
    started, rows = time.perf_counter(), []
    for task in options.tasks.split(","):
        for seed in map(int, options.seeds.split(",")):
            items, labels = load(task, seed)
            for name in options.strategies.split(";"):
                row = run(items, labels, name, seed, options)
                rows.append(row | {"task": task, "seed": seed})
        print(f"{task}: {time.perf_counter() - started:.0f} s", flush=True)
    settings = {
        "head": "LogisticRegression(max_iter=200)",
        "pool": POOL,
        "first": FIRST,
        "batch": options.batch,
        "cold start": options.cold_start,
        "labels": options.labels,
        "seeds": options.seeds,
        "cusal": cusal.__version__,
        "seconds": round(time.perf_counter() - started),
    }
    print(table(rows))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    options.out.write_text(f'{{"settings": {json.dumps(settings)}, "runs": [\n{lines}\n]}}\n')
    print(f"written to {options.out}")


def load(task: str, seed: int) -> tuple[Any, np.ndarray]:
    """Return the items and class numbers of a task: a sample of the size of the pool."""
    if task == "digits":
        from sklearn.datasets import load_digits

        items, names = load_digits(return_X_y=True)
        items = items / 16
    else:
        items, names = read_file(task)
    chosen = np.random.default_rng(seed).permutation(len(names))[:POOL]
    items, names = items[chosen], names[chosen]
    if task in TEXTS:
        from sklearn.feature_extraction.text import TfidfVectorizer

        items = TfidfVectorizer(min_df=2, sublinear_tf=True, max_features=3000).fit_transform(items)
    return items, np.unique(names, return_inverse=True)[1]


def read_file(task: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of a task of CUSAL_DATA: standardised numbers, or texts."""
    import pandas as pd
    from sklearn.preprocessing import StandardScaler

    room = "text" if task in TEXTS else "tabular"
    frame = pd.read_csv(Path(os.environ["CUSAL_DATA"], room, f"{task}.csv.gz"))
    names = frame["label"].astype(str).to_numpy()
    if room == "text":
        return frame["text"].astype(str).to_numpy(), names
    return StandardScaler().fit_transform(pd.get_dummies(frame.drop(columns="label")).astype(float)), names


def run(items: Any, labels: np.ndarray, name: str, seed: int, options: argparse.Namespace) -> Row:
    """Return what one session measured of itself, beside the truth."""
    from sklearn.linear_model import LogisticRegression

    strategy, audit = STRATEGIES[name]
    session = cusal.Session(
        items,
        LogisticRegression(max_iter=200),
        strategy,
        labelled=None if options.cold_start else first_labels(labels, seed),
        classes=range(labels.max() + 1),
        seed=seed,
        recalibrate="auto",
        audit=audit,
    )
    judged, course = [], []
    while (options.cold_start and len(session.labels) < FIRST) or len(set(session.labels.values())) < 2:
        query = session.ask(FIRST)
        session.tell(query.indices, labels[query.indices].tolist())
    while True:
        count = len(session.labels)
        stopping = session.stopping()
        right = session.view.probs.argmax(axis=1) == labels[session.view.candidates]
        course.append({"labels": count, "accuracy": float(right.mean()), "stop": stopping.stop, "gain": stopping.gain})
        if count >= JUDGED_FROM and (count - JUDGED_FROM) % JUDGED_EVERY == 0:
            judged.append(judge(session, labels))
        if count >= options.labels:
            return {"strategy": name, "judged": judged, "course": course}
        query = session.ask(options.batch)
        session.tell(query.indices, labels[query.indices].tolist())


def first_labels(labels: np.ndarray, seed: int) -> dict[int, int]:
    """Return random labels to begin with, of two classes at least."""
    rng = np.random.default_rng(seed)
    while True:
        first = rng.choice(len(labels), FIRST, replace=False)
        if len(set(labels[first])) > 1:
            return {int(i): int(labels[i]) for i in first}


def judge(session: cusal.Session, labels: np.ndarray) -> Row:
    """Return estimates of the open items beside the truth, and their ECE by each recalibration."""
    truth = labels[session.view.candidates]
    row: Row = {"labels": len(session.labels), "ece": {}, "accuracy": {}}
    for method in METHODS:
        raw = session.open_probs
        probs = (raw if method is None else session.recalibration_by(method).apply(raw))[:, session.class_columns]
        row["ece"][str(method)] = cusal.metrics.ece(probs, truth)
        row["accuracy"][str(method)] = float((probs.argmax(axis=1) == truth).mean())
    estimate, calibration = session.estimate_accuracy(), session.calibration
    row["estimate"] = [estimate.estimate, estimate.low, estimate.high]
    row["before"] = [calibration.ece_before, *calibration.ece_before_interval]
    row["after"] = [calibration.ece_after, *calibration.ece_after_interval]
    return row


def table(rows: list[Row]) -> str:
    """Return all figures by task and strategy, means over seeds and label counts, and over tasks below."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["strategy"], row["task"]].append(row)
        groups[row["strategy"], "all tasks"].append(row)
    names = (*(f"ECE {method}" for method in METHODS), "vector gains", "MAE", "covers", "before", "after")
    names = (*names, "stops at", "loses")
    lines = [f"{'':36}" + "".join(f"{name:>17}" for name in names)]
    for strategy, task in sorted(groups, key=lambda key: (key[0], key[1] == "all tasks", key[1])):
        figures = "".join(f"{value:17.2f}" for value in summary(groups[strategy, task]))
        lines.append(f"{strategy + ', ' + task:36}" + figures)
    return "\n".join(lines)


def summary(rows: list[Row]) -> list[float]:
    """Return the figures of the table's columns."""
    judged = [one for row in rows for one in row["judged"]]
    ece = [100 * np.mean([one["ece"][str(method)] for one in judged]) for method in METHODS]
    gained = 100 * np.mean([one["accuracy"]["vector"] - one["accuracy"]["None"] for one in judged])
    error = 100 * np.mean([abs(one["estimate"][0] - one["accuracy"]["auto"]) for one in judged])
    covers = np.mean([inside(one["accuracy"]["auto"], one["estimate"]) for one in judged])
    before = np.mean([inside(one["ece"]["None"], one["before"]) for one in judged])
    after = np.mean([inside(one["ece"]["auto"], one["after"]) for one in judged])
    stops = [stop_of(row["course"]) for row in rows]
    return [*ece, gained, error, covers, before, after, *np.mean(stops, axis=0)]


def inside(value: float, interval: list[float]) -> bool:
    """Return whether a value lies in an interval, which is given as estimate, low, high."""
    return interval[1] <= value <= interval[2]


def stop_of(course: list[Row]) -> tuple[int, float]:
    """Return the labels at the first round that said stop, or at the last, and the points lost against the best."""
    stopped = next((one for one in course if one["stop"]), course[-1])
    return stopped["labels"], 100 * (max(one["accuracy"] for one in course) - stopped["accuracy"])


if __name__ == "__main__":
    main()
