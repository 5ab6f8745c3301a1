"""When sessions say stop, and how good their estimate of the accuracy is: up to 520 labels, two models, twelve tasks.

    CUSAL_DATA=... python benchmarks/stopping.py                      seeds 2 to 4; half an hour on one core
    CUSAL_DATA=... python benchmarks/stopping.py --tasks digits --models PoolClassifier

Pools of up to 2,500 items and test sets of up to 1,500 as in heads.py, the default strategy `diverse_margin` from 20
random labels in batches of 25, without and with an audit share of .1. Rows that the file of results has already are
not done again, so that a run that was stopped resumes.

    stopping    labels when `session.stopping()` first says stop (kappa >= .99 twice running), or 520; points of
                accuracy on the test set lost there against the best round of the session
    oracle      the fewest labels with which the test accuracy is within half a point of the best: knows all labels
    estimate    mean absolute error of `estimate_accuracy` in points, how often its 90 % interval holds the accuracy
                of the open items, and half its width, with 70, 120, 220 and 420 labels

Seeds 0 and 1 chose how wide intervals are; the others report. Sessions judge themselves by out-of-fold predictions,
however long a fit takes: `recalibrate="auto"` does so only where five fits take under two seconds, which depends on
what else the machine is doing. A row without estimates is done again.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.models import PoolClassifier
from heads import IMAGES, TABLES, TEXTS, Task, cut, read_task

RESULTS = Path(__file__).parent / "results" / "stopping.json"
FIRST, BATCH, MOST = 20, 25, 520
JUDGED = (70, 120, 220, 420)
AUDITS = (0.0, 0.1)
NEAR = 0.005  # of the best accuracy: the oracle needs no more
MODELS: dict[str, Callable[[], Any]] = {
    "LogisticRegression": lambda: LogisticRegression(max_iter=200),
    "PoolClassifier": PoolClassifier,
}
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default=",".join((*TABLES, *TEXTS, *IMAGES)), help="names, separated by commas")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--seeds", default="2,3,4", help="0 and 1 chose how wide intervals are")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="lbfgs failed to converge")
    warnings.filterwarnings("ignore", message="The number of unique classes")  # few labels of many classes
    rows = json.loads(options.out.read_text())["rows"] if options.out.exists() else []
    done = {key_of(row) for row in rows if row["judged"]}
    seeds = [int(seed) for seed in options.seeds.split(",")]
    for name in options.tasks.split(","):
        started = time.perf_counter()
        for row in new_rows(name, options.models.split(","), seeds, done):
            rows = [*(other for other in rows if key_of(other) != key_of(row)), row]
            options.out.write_text(to_json(rows))
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
    text = report(rows)
    print(text)
    options.out.with_suffix(".txt").write_text(text + "\n")


def key_of(row: Row) -> tuple[Any, ...]:
    return row["task"], row["model"], row["audit"], row["seed"]


def new_rows(name: str, models: list[str], seeds: list[int], done: set[tuple[Any, ...]]) -> Iterable[Row]:
    """Yield the rows of a task that are not done yet."""
    wanted = [(model, audit, seed) for seed in seeds for model in models for audit in AUDITS]
    wanted = [case for case in wanted if (name, *case) not in done]
    read = read_task(name) if wanted else None
    for model, audit, seed in wanted:
        assert read is not None
        yield {"task": name, "model": model, "audit": audit, "seed": seed} | run(
            cut(name, *read, seed), model, audit, seed
        )


def run(task: Task, model: str, audit: float, seed: int) -> Row:
    """Return what a session said of itself after each batch, beside the truth."""
    first = task.order[:FIRST]
    labelled = dict(zip(first.tolist(), task.pool_labels[first].tolist(), strict=True))
    session = cusal.Session(task.pool, MODELS[model](), labelled=labelled, seed=seed, audit=audit)
    rounds, judged = [], []
    while True:
        count, stopping = len(session.labels), session.stopping()
        accuracy = raw_accuracy(session, task.test, task.test_labels)
        kappa = None if stopping.kappa is None else round(stopping.kappa, 4)
        row = {"labels": count, "accuracy": round(accuracy, 4), "kappa": kappa, "stop": stopping.stop}
        rounds.append(row)
        if count in JUDGED:
            judged.append(judge(session, task))
        if count >= MOST or len(session.pool.open) < BATCH:
            return {"rounds": rounds, "judged": judged}
        query = session.ask(BATCH)
        session.tell(query.indices, task.pool_labels[query.indices].tolist())


def judge(session: cusal.Session, task: Task) -> Row:
    """Return the estimated accuracy of the open items with its interval, and the true one."""
    found, candidates = session.estimate_accuracy(), session.pool.open
    truth = raw_accuracy(session, task.pool[candidates], task.pool_labels[candidates])
    values = {"truth": truth, "estimate": found.estimate, "low": found.low, "high": found.high}
    return {"labels": len(session.labels)} | {name: round(value, 4) for name, value in values.items()}


def raw_accuracy(session: cusal.Session, items: Any, labels: np.ndarray) -> float:
    """Return the accuracy on items; a temperature, which takes five more fits, would not change it."""
    session.fit()
    names = np.empty_like(session.classes_)
    names[session.class_columns] = session.classes_  # the model's classes are numbers
    return float((names[session.model.predict(items)] == labels).mean())


def to_json(rows: list[Row]) -> str:
    settings = {"first": FIRST, "batch": BATCH, "labels": MOST, "audits": AUDITS, "strategy": "diverse_margin"}
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    return f'{{"settings": {json.dumps(settings)},\n"rows": [\n{lines}\n]}}\n'


def report(rows: list[Row]) -> str:
    """Return the figures of stopping and of the estimate as text."""
    lines = [f"seeds {', '.join(map(str, sorted({row['seed'] for row in rows})))}", ""]
    lines.append(f"{'':52}{'labels':>8}{'lost':>7}{'worst':>7}{'oracle':>9}{'lost':>7}{'stopped':>10}")
    for model, audit, task, members in groups(rows):
        stops = np.array([stop_of(row["rounds"]) for row in members])
        oracle = np.array([oracle_of(row["rounds"]) for row in members])
        early = sum(any(one["stop"] for one in row["rounds"]) for row in members)
        lines.append(
            f"{model + f', audit {audit:g}, ' + task:52}{stops[:, 0].mean():8.0f}{stops[:, 1].mean():7.2f}"
            f"{stops[:, 1].max():7.2f}{oracle[:, 0].mean():9.0f}{oracle[:, 1].mean():7.2f}"
            f"{f'{early} of {len(members)}':>10}"
        )
    titles = "".join(f"{f'{count}: error':>12}{'covers':>8}{'+-':>6}" for count in JUDGED)
    lines += ["", f"{'':52}{titles}"]
    for model, audit, task, members in groups(rows):
        lines.append(f"{model + f', audit {audit:g}, ' + task:52}" + "".join(map(estimates(members), JUDGED)))
    return "\n".join(lines)


def groups(rows: list[Row]) -> Iterable[tuple[str, float, str, list[Row]]]:
    """Yield the rows of each model, audit share and task, and of all tasks together."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    for model in MODELS:
        for audit in AUDITS:
            own = [row for row in rows if row["model"] == model and row["audit"] == audit]
            for task in tasks:
                members = [row for row in own if row["task"] == task]
                if members:
                    yield model, audit, task, members
            if own:
                yield model, audit, "all tasks", own


def stop_of(rounds: list[Row]) -> tuple[float, float]:
    """Return the labels at the first round that said stop, or at the last, and the points lost against the best."""
    stopped = next((one for one in rounds if one["stop"]), rounds[-1])
    return stopped["labels"], 100 * (max(one["accuracy"] for one in rounds) - stopped["accuracy"])


def oracle_of(rounds: list[Row]) -> tuple[float, float]:
    """Return the same of one who knows the labels of the test set."""
    best = max(one["accuracy"] for one in rounds)
    first = next(one for one in rounds if one["accuracy"] >= best - NEAR)
    return first["labels"], 100 * (best - first["accuracy"])


def estimates(rows: list[Row]) -> Callable[[int], str]:
    """Return what writes error, coverage and half the width of intervals at a number of labels."""

    def written(count: int) -> str:
        found = [one for row in rows for one in row["judged"] if one["labels"] == count]
        if not found:
            return f"{'-':>12}{'-':>8}{'-':>6}"
        error = 100 * np.mean([abs(one["estimate"] - one["truth"]) for one in found])
        covers = np.mean([one["low"] <= one["truth"] <= one["high"] for one in found])
        half = 50 * np.mean([one["high"] - one["low"] for one in found])
        return f"{error:12.1f}{covers:8.2f}{half:6.1f}"

    return written


if __name__ == "__main__":
    main()
