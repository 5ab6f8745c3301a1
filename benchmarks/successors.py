"""Rules that might follow `diverse_margin`, on the tasks of `cusal bench light`.

    python benchmarks/successors.py --seeds 0-1                     every rule of successor_rules.py, resumed if stopped
    python benchmarks/successors.py --seeds 5-9 --rules "less_variance;longer" --heads pool
    python benchmarks/successors.py --table                         what is stored, against diverse_margin

Splits, first labels and batches are those of the preset. A score is the mean test accuracy over the 20 rounds after
the first choice, in points. Rules that share task, seed and head share all but their picks.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors

from cusal._items import Subset, take
from cusal.apps.bench.experiment import suited_data
from cusal.apps.bench.grid import read_grid
from cusal.apps.bench.loaded_data import draw_items, draw_test
from cusal.apps.bench.spec import Spec
from cusal.features.dense_vectors import item_vectors
from cusal.models import PoolClassifier
from cusal.recalibration.scaling import fit_scaling
from successor_rules import RULES, Round

RESULTS = Path(__file__).parent / "results" / "successors.json"
HEADS = {"lr": lambda: LogisticRegression(C=1, max_iter=1000), "pool": PoolClassifier}
NEIGHBOURS = 20
Scores = dict[str, float]  # "head | rule | task | seed": points


class Task:
    """A pool and a test set as a seed draws them."""

    def __init__(self, spec: Spec) -> None:
        data = suited_data(spec)
        first, rows = draw_items(spec, data.train_labels, len(data.classes))
        test = draw_test(spec, data.test)
        self.spec, self.classes = spec, len(data.classes)
        self.items, self.labels = take(data.train, rows), data.train_labels[rows]
        self.test, self.test_labels = take(data.test, test), data.test_labels[test]
        self.first = np.searchsorted(rows, first)
        self.space: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def fitted(self, head: str, rows: np.ndarray) -> Any:
        model = HEADS[head]()
        if head == "pool":
            return model.fit(take(self.items, rows), self.labels[rows], Subset(self.items, np.arange(len(self.labels))))
        return model.fit(take(self.items, rows), self.labels[rows])

    def probs(self, model: Any, rows: np.ndarray) -> np.ndarray:
        whole = np.zeros((len(rows), self.classes))
        whole[:, model.classes_] = model.predict_proba(take(self.items, rows))
        return whole

    def space_of(self, head: str, model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return vectors of all items, their nearest items and how typical they are; computed once."""
        if head not in self.space:
            found = model.embed(self.items) if hasattr(model, "embed") else item_vectors(self.items)
            vectors = np.asarray(self.items if found is None else found, dtype=np.float64)
            apart, nearest = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(vectors).kneighbors(vectors)
            rank = np.argsort(np.argsort(-apart.mean(axis=1)))
            self.space[head] = vectors, nearest[:, 1:], rank / (len(rank) - 1)
        return self.space[head]

    def pooled(self, labelled: np.ndarray, open_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what PoolClassifier, fitted to the same labels, says of the open items, and its vectors of all."""
        model = self.fitted("pool", labelled)
        return self.probs(model, open_rows), self.space_of("pool", model)[0]

    def folds(self, labelled: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield positions among the labelled items to fit and to predict; a class is spread over the five folds."""
        fold = np.empty(len(labelled), dtype=np.int64)
        mixed = np.random.default_rng(len(labelled)).permutation(len(labelled))
        fold[mixed[np.argsort(self.labels[labelled[mixed]], kind="stable")]] = np.arange(len(labelled)) % 5
        for number in range(5):
            inside = np.flatnonzero(fold != number)
            if len(set(self.labels[labelled[inside]])) > 1:
                yield inside, np.flatnonzero(fold == number)

    def recalibrated(self, head: str, labelled: np.ndarray, probs: np.ndarray) -> np.ndarray:
        """Return probabilities by a temperature and offsets from five-fold predictions of the labelled items."""
        outside = np.zeros((len(labelled), self.classes))
        for inside, out in self.folds(labelled):
            outside[out] = self.probs(self.fitted(head, labelled[inside]), labelled[out])
        scaling = fit_scaling(outside, self.labels[labelled], weights=np.ones(len(labelled)), with_offsets=True)
        return scaling.apply(probs)


def score(task: Task, head: str, rule: str) -> float:
    """Return the mean accuracy over the rounds after the first choice, in points."""
    labelled, course = task.first, []
    for number in range(task.spec.rounds + 1):
        model = task.fitted(head, labelled)
        course.append(float((model.predict(task.test) == task.test_labels).mean()))
        if number == task.spec.rounds:
            return 100 * float(np.mean(course[1:]))
        open_rows = np.setdiff1d(np.arange(len(task.labels)), labelled)
        probs = task.probs(model, open_rows)
        picks = RULES[rule](
            Round(
                open_rows,
                probs,
                *task.space_of(head, model),
                labelled,
                lambda labelled=labelled, probs=probs: task.recalibrated(head, labelled, probs),
                lambda labelled=labelled, open_rows=open_rows: task.pooled(labelled, open_rows),
                np.random.default_rng([task.spec.seed, number]),
                task.spec.batch_size,
            )
        )
        assert len(set(picks.tolist())) == task.spec.batch_size, rule
        labelled = np.concatenate([labelled, open_rows[picks]])
    raise AssertionError


def table(scores: Scores, seeds: list[int]) -> str:
    """Return each rule against diverse_margin: points, worst task, tasks won and paired tests."""
    lines = []
    for head in HEADS:
        for rule in RULES:
            gains: dict[str, list[float]] = {}
            for key, value in scores.items():
                of, name, task, seed = key.split(" | ")
                against = scores.get(f"{head} | diverse_margin | {task} | {seed}")
                if (of, name) == (head, rule) and int(seed) in seeds and against is not None:
                    gains.setdefault(task, []).append(value - against)
            if gains and rule != "diverse_margin":
                lines.append(f"| {head} | {rule} | {row_of(gains)} |")
    return "\n".join(lines)


def row_of(gains: dict[str, list[float]]) -> str:
    by_task = {task: float(np.mean(values)) for task, values in gains.items()}
    pairs = np.concatenate(list(gains.values()))
    worst = min(by_task, key=lambda task: by_task[task])
    won = sum(value > 0 for value in by_task.values())
    p = [wilcoxon(values).pvalue if np.any(values) else 1.0 for values in (list(by_task.values()), pairs)]
    return (
        f"{np.mean(list(by_task.values())):+.2f} | {by_task[worst]:+.1f} ({worst}) | {won} of {len(by_task)} | "
        f"{p[0]:.4f} | {p[1]:.4f} ({len(pairs)} pairs)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default=";".join(RULES), help="separated by semicolons")
    parser.add_argument("--heads", default="lr")
    parser.add_argument("--tasks", default="", help="all of the preset, if not given")
    parser.add_argument("--seeds", default="0-1", help="first-last; 0 to 4 choose, 5 to 9 confirm")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")  # lbfgs at its limit, classes with fewer items than folds
    first, last = map(int, options.seeds.split("-"))
    scores: Scores = json.loads(options.out.read_text()) if options.out.exists() else {}
    members = [] if options.table else read_grid("light").override({"seeds": 1}).choose(["margin"]).members()
    for seed in range(first, last + 1):
        for member in members:
            name, task = member.task["name"], None
            if options.tasks and name not in options.tasks.split(","):
                continue
            began = time.process_time()
            for head in options.heads.split(","):
                for rule in options.rules.split(";"):
                    key = f"{head} | {rule} | {name} | {seed}"
                    if key not in scores:
                        task = task or Task(replace(member.specs()[0], seed=seed))
                        scores[key] = round(score(task, head, rule), 3)
            if task:
                options.out.write_text(json.dumps(scores, indent=0, sort_keys=True) + "\n")
                print(f"{name}, seed {seed}: {time.process_time() - began:.0f} s of processor time", flush=True)
    print(table(scores, list(range(first, last + 1))))


if __name__ == "__main__":
    main()
