"""How often the 90 % interval of `estimate_accuracy` covers the truth, where nothing or little can be learned.

    python benchmarks/unlearnable.py              168 states, into results/unlearnable.json; some minutes on one core

Pools of up to 800 items; labels by the default strategy in batches of 20, without an audit and with a tenth at random;
states at 40, 80 and 160 labels, seeds 100 and 101, which chose nothing. The truth is the accuracy on the open items.
"weak" has a signal that lets the best model be right 69 % of the time; "column" has the items of breast cancer, a
column of noise a hundred times as wide and labels by coin; "flipped" has 30 % of the labels of breast cancer turned.
"""

import argparse
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cusal
from cusal.models import FewLabelClassifier
from cusal.recalibration.skill import Skill

RESULTS = Path(__file__).parent / "results"
AT, SEEDS, POOL, BATCH = (40, 80, 160), (100, 101), 800, 20
Data = tuple[NDArray[np.float64], NDArray[np.int64]]
Row = dict[str, Any]


def coins(rng: np.random.Generator) -> Data:
    return rng.normal(size=(POOL, 10)), rng.integers(2, size=POOL)


def noise(rng: np.random.Generator) -> Data:
    return rng.normal(size=(POOL, 10)), (rng.random(POOL) < 0.2).astype(np.int64)


def weak(rng: np.random.Generator) -> Data:
    X = rng.normal(size=(POOL, 10))
    return X, (rng.random(POOL) < 1 / (1 + np.exp(-X[:, 0]))).astype(np.int64)


def column(rng: np.random.Generator) -> Data:
    X, _ = shuffled(load_breast_cancer, rng)
    return np.hstack([X, 100 * X.std() * rng.normal(size=(len(X), 1))]), rng.integers(2, size=len(X))


def flipped(rng: np.random.Generator) -> Data:
    X, y = shuffled(load_breast_cancer, rng)
    return X, np.where(rng.random(len(y)) < 0.3, 1 - y, y)


def shuffled(load: Callable[..., Any], rng: np.random.Generator) -> Data:
    X, y = load(return_X_y=True)
    rows = rng.permutation(len(y))[:POOL]
    return X[rows], y[rows]


TASKS: dict[str, Callable[[np.random.Generator], Data]] = {
    "coins": coins,
    "20 % noise": noise,
    "weak": weak,
    "column": column,
    "flipped": flipped,
    "digits": lambda rng: shuffled(load_digits, rng),
    "breast cancer": lambda rng: shuffled(load_breast_cancer, rng),
}
LEARNABLE = ("digits", "breast cancer")
MODELS: dict[str, Callable[[], Any]] = {
    "default": FewLabelClassifier,
    "LR": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    kept = Skill.allowed_for
    rows: list[Row] = []
    for seed in SEEDS[: options.seeds]:
        for task in TASKS:
            for model in MODELS:
                for audit in (0.0, 0.1):
                    rows += states(task, model, audit, seed, kept)
        stored = {"seeds": SEEDS[: options.seeds], "labels": AT, "summary": summarise(rows), "states": rows}
        (RESULTS / "unlearnable.json").write_text(json.dumps(stored, indent=1) + "\n")
        print(f"seed {seed}", flush=True)
    for row in summarise(rows):
        print(row)


def states(task: str, model: str, audit: float, seed: int, allowed_for: Callable[..., Any]) -> list[Row]:
    """Return estimates with and without the allowance for no skill, and the truth, at each number of labels."""
    X, y = TASKS[task](np.random.default_rng(seed))
    session = cusal.Session(X, MODELS[model](), audit=audit, seed=seed)
    rows = []
    while len(session.labels) < AT[-1]:
        picks = session.ask(BATCH).indices
        session.tell(picks, y[picks])
        if len(session.labels) not in AT:
            continue
        open_items = session.pool.open
        truth = float(np.mean(session.predict(X[open_items]) == y[open_items]))
        now = session.estimate_accuracy()
        Skill.allowed_for = lambda self, *ends: ends  # type: ignore[method-assign, assignment, misc]
        before = session.estimate_accuracy()
        Skill.allowed_for = allowed_for  # type: ignore[method-assign]
        row = {"task": task, "model": model, "audit": audit, "seed": seed, "labels": len(session.labels)}
        row |= {"truth": round(truth, 4), "says guessing": now.guessing is not None}
        row["now"] = [round(value, 4) for value in (now.estimate, now.low, now.high)]
        row["before"] = [round(value, 4) for value in (before.estimate, before.low, before.high)]
        rows.append(row)
    return rows


def summarise(rows: list[Row]) -> list[Row]:
    """Return coverage, width and mean error by kind of task, model and audit, with the allowance and before it."""
    summary = []
    kinds = {"learnable": LEARNABLE, "flipped": ("flipped",)}
    kinds["cannot be learned"] = tuple(set(TASKS) - set(LEARNABLE) - {"flipped"})
    for kind, tasks in kinds.items():
        for model in MODELS:
            for audit in (0.0, 0.1):
                own = [row for row in rows if row["task"] in tasks and (row["model"], row["audit"]) == (model, audit)]
                if not own:
                    continue
                line: Row = {"tasks": kind, "model": model, "audit": audit, "states": len(own)}
                for name in ("before", "now"):
                    covers = [row[name][1] <= row["truth"] <= row[name][2] for row in own]
                    line[f"coverage {name}"] = round(float(np.mean(covers)), 3)
                    line[f"width {name}"] = round(float(np.mean([row[name][2] - row[name][1] for row in own])), 3)
                    line[f"error {name}"] = round(float(np.mean([abs(row[name][0] - row["truth"]) for row in own])), 3)
                line["says guessing"] = round(float(np.mean([row["says guessing"] for row in own])), 3)
                summary.append(line)
    return summary


if __name__ == "__main__":
    main()
