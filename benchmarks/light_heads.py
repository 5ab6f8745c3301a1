"""Strategies under a light model: logistic regression on tables, TF-IDF text and digits, against margin.

    python benchmarks/light_heads.py                              four strategies, eight tasks, three seeds
    python benchmarks/light_heads.py --strategies badge,entropy --tasks vowel,dna --seeds 5-9
    python benchmarks/light_heads.py --cold-start                 the first 20 labels, against random ones

Each run has a pool of up to 2,500 items and a test set of up to 1,500, 20 random first labels and 10 batches of 10.
Its score is the mean test accuracy over the rounds 1 to 10, in points. Strategies that share a task and a seed share
the pool, the test set and the first labels, so that differences are paired. Tables and texts are read from the
folders `tabular` and `text` of CUSAL_DATA.
"""

import argparse
import csv
import gzip
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import cusal

POOL, TEST, FIRST, BATCH, ROUNDS = 2500, 1500, 20, 10, 10
TASKS = "digits,pendigits,vowel,image_segment,letter,dna,sms_spam,ag_news_test7600"
Split = tuple[Any, np.ndarray, Any, np.ndarray]  # pool, its labels, test set, its labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strategies", default="diverse_margin,random,least_confidence", help="each against margin")
    parser.add_argument("--tasks", default=TASKS)
    parser.add_argument("--seeds", default="0-2", help="first-last")
    parser.add_argument("--cold-start", action="store_true", help="compare the first 20 labels alone")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="The number of unique classes is greater than 50%")  # letter's first 20
    first, last = map(int, options.seeds.split("-"))
    rules: dict[str, Callable[[Split, int], float]] = {
        name: lambda split, seed, name=name: over_rounds(split, seed, name)
        for name in ["margin", *options.strategies.split(",")]
    }
    if options.cold_start:
        rules = {"random": random_labels, "cold_start": cold_start}
    compare(rules, options.tasks.split(","), range(first, last + 1))


def compare(rules: dict[str, Callable[[Split, int], float]], tasks: list[str], seeds: range) -> None:
    """Print the score of the first rule on each task, and how far the others are from it."""
    against, *others = rules
    started = time.perf_counter()
    print(f"{'task':18}{against:>12}" + "".join(f"{name:>20}" for name in others))
    differences: dict[str, list[list[float]]] = {name: [] for name in others}
    for task in tasks:
        items, labels = load(task)
        splits = [split_task(items, labels, seed) for seed in seeds]
        scores = {name: [rule(*pair) for pair in zip(splits, seeds, strict=True)] for name, rule in rules.items()}
        for name in others:
            differences[name].append(np.subtract(scores[name], scores[against]).tolist())
        shown = "".join(f"{np.mean(differences[name][-1]):+20.2f}" for name in others)
        print(f"{task:18}{np.mean(scores[against]):12.2f}{shown}", flush=True)
    for name in others:
        by_task = np.mean(differences[name], axis=1)
        pairs = np.ravel(differences[name])
        p = wilcoxon(pairs).pvalue if pairs.any() else 1.0
        print(
            f"{name}: {pairs.mean():+.2f} points against {against} (p = {p:.4f} over {len(pairs)} pairs of task and "
            f"seed), worst task {by_task.min():+.2f}, {int((by_task > 0).sum())} of {len(tasks)} tasks won"
        )
    print(f"{time.perf_counter() - started:.0f} s")


def over_rounds(split: Split, seed: int, strategy: str) -> float:
    """Return the mean accuracy of a strategy after each of its batches, in points."""
    labels = split[1]
    start = random_start(labels, seed)
    session = session_of(split, seed, strategy, labelled=(start, labels[start]))
    oracle = labels.__getitem__  # as a function, so that the pool is not scored in every round
    rounds = cusal.simulate(session, oracle, rounds=ROUNDS, batch_size=BATCH, test=split[2:])
    return 100 * float(np.mean([record.test.raw["accuracy"] for record in rounds if record.test and record.round]))


def random_labels(split: Split, seed: int) -> float:
    return with_labels(split, seed, random_start(split[1], seed))


def cold_start(split: Split, seed: int) -> float:
    return with_labels(split, seed, session_of(split, seed, "margin").ask(FIRST).indices)


def with_labels(split: Split, seed: int, indices: np.ndarray) -> float:
    """Return the accuracy with the labels of these items alone, in points."""
    labels = split[1][indices]
    if len(set(labels)) == 1:
        return 100 * float((split[3] == labels[0]).mean())
    session = session_of(split, seed, "margin", labelled=(indices, labels))
    return 100 * session.evaluate(split[2], split[3]).raw["accuracy"]


def session_of(split: Split, seed: int, strategy: str, **options: Any) -> cusal.Session:
    model = LogisticRegression(C=1, max_iter=1000)
    classes = range(int(split[1].max()) + 1)
    return cusal.Session(split[0], model, strategy, classes=classes, seed=seed, recalibrate=None, **options)


def random_start(labels: np.ndarray, seed: int) -> np.ndarray:
    """Return 20 random items of the pool, of two classes at least."""
    rng = np.random.default_rng([seed, 1])
    while True:
        start = rng.choice(len(labels), FIRST, replace=False)
        if len(set(labels[start])) > 1:
            return start


def split_task(items: Any, labels: np.ndarray, seed: int) -> Split:
    """Return a random pool and a random test set, at least a third of the items; texts become TF-IDF rows."""
    order = np.random.default_rng(seed).permutation(len(labels))
    size = min(POOL, len(labels) * 2 // 3)
    pool, test = order[:size], order[size : size + TEST]
    features = TfidfVectorizer(sublinear_tf=True, min_df=2) if isinstance(items[0], str) else StandardScaler()
    return features.fit_transform(items[pool]), labels[pool], features.transform(items[test]), labels[test]


def load(task: str) -> tuple[Any, np.ndarray]:
    """Return the items, an array of rows or of texts, and the class numbers of a task."""
    bundled = {"digits": load_digits, "breast_cancer": load_breast_cancer}
    if task in bundled:
        return bundled[task](return_X_y=True)
    data = Path(os.environ["CUSAL_DATA"])
    path = next(path for kind in ("tabular", "text") if (path := data / kind / f"{task}.csv.gz").exists())
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    labels = np.unique([row["label"] for row in rows], return_inverse=True)[1]
    if path.parent.name == "text":
        return np.array([row["text"] for row in rows], dtype=object), labels
    return np.array([[float(value) for name, value in row.items() if name != "label"] for row in rows]), labels


if __name__ == "__main__":
    main()
