"""Does the evidence of picks that are spread out mislead recalibration, and does anything mend it?

    python benchmarks/spread_evidence.py --collect FOLDER --seeds 0-4     sessions with their evidence, kept in FOLDER
    python benchmarks/spread_evidence.py --judge FOLDER --seeds 0-4       calibration error by each recalibration

Logistic regression (C = 1) or `--head pool`, the splits and batches of `cusal bench light`. Evidence are five-fold
predictions of the labelled items at 60, 100, 160 and 220 labels; the calibration error is that of the test set, in
points. "auto" is what a session does.
"""

import argparse
import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.apps.bench.grid import read_grid
from cusal.recalibration import CrossValidatedRecalibration
from cusal.recalibration.covariate_weights import covariate_weights
from successor_rules import RULES, Round, squared
from successors import Task

FIRST = 20
JUDGED = (60, 100, 160, 220)
TASKS = "vowel,pendigits,dna,image_segment,shuttle,letter,digits"
SESSIONS = {  # rule and share of every batch that is drawn at random
    "margin": ("margin", 0.0),
    "diverse_margin": ("diverse_margin", 0.0),
    "diverse_margin, audit .1": ("diverse_margin", 0.1),
    "random": ("margin", 1.0),
}


def collect(task: Task, head: str, rule: str, share: float) -> list[dict[str, Any]]:
    """Return the evidence of one session at each of the label counts."""
    labelled, drawn, found = task.first, np.ones(len(task.first), dtype=bool), []
    for number in range(task.spec.rounds + 1):
        model = task.fitted(head, labelled)
        rng = np.random.default_rng([task.spec.seed, number])
        open_rows = np.setdiff1d(np.arange(len(task.labels)), labelled)
        probs = task.probs(model, open_rows)
        if len(labelled) in JUDGED:
            found.append(evidence(task, head, model, labelled, drawn, open_rows, probs))
        audited = rng.choice(len(open_rows), round(share * task.spec.batch_size), replace=False)
        left = np.setdiff1d(np.arange(len(open_rows)), audited)
        seen = Round(open_rows[left], probs[left], *task.space_of(head, model), labelled, None, None, rng)
        seen.batch_size = task.spec.batch_size - len(audited)
        picks = np.concatenate([audited, left[RULES[rule](seen)]] if share < 1 else [audited]).astype(int)
        labelled = np.concatenate([labelled, open_rows[picks]])
        drawn = np.concatenate([drawn, np.arange(len(picks)) < len(audited)])
    return found


def evidence(
    task: Task, head: str, model: Any, labelled: Any, drawn: Any, open_rows: Any, probs: Any
) -> dict[str, Any]:
    """Return out-of-fold predictions, and how far items are from the labelled ones that their model was fitted to."""
    vectors = task.space_of(head, model)[0]
    folds = folds_of(task.labels[labelled], len(labelled))
    apart = np.zeros(len(labelled))
    said = np.full((len(labelled), task.classes), 1 / task.classes)
    for number in range(5):
        inside, out = labelled[folds != number], np.flatnonzero(folds == number)
        apart[out] = squared(vectors[labelled[out]], vectors[inside]).min(axis=1)
        if len(set(task.labels[inside])) > 1:
            said[out] = task.probs(task.fitted(head, inside), labelled[out])
    test = np.zeros((len(task.test_labels), task.classes))
    test[:, model.classes_] = model.predict_proba(task.test)
    return {
        "labels": len(labelled),
        "probs": said,
        "truth": task.labels[labelled],
        "drawn": drawn,
        "like": covariate_weights(vectors[labelled], folds, vectors[open_rows[:2000]]),
        "apart": apart,
        "open": probs.astype(np.float32),
        "open_apart": squared(vectors[open_rows], vectors[labelled]).min(axis=1),
        "test": test.astype(np.float32),
        "test_truth": task.test_labels,
    }


def folds_of(labels: np.ndarray, seed: int) -> np.ndarray:
    """Return a fold for each label, (n,); a class is spread over the five folds."""
    fold = np.empty(len(labels), dtype=np.int64)
    mixed = np.random.default_rng(seed).permutation(len(labels))
    fold[mixed[np.argsort(labels[mixed], kind="stable")]] = np.arange(len(labels)) % 5
    return fold


def even(weights: np.ndarray) -> np.ndarray:
    return weights / weights.mean()


def as_session(found: dict[str, Any], *, first: bool = False) -> np.ndarray:
    """The weights of a session: 1 for items drawn at random, .2 for others, of mean 1; the first labels may count."""
    drawn = found["drawn"].copy()
    drawn[:FIRST] = first
    return even(np.where(drawn, 1.0, 0.2))


def columns_of(probs: np.ndarray, apart: np.ndarray, names: str) -> np.ndarray:
    top = np.log(np.clip(np.sort(probs, axis=1)[:, -2:], 1e-7, None))
    columns = {"confidence": top[:, 1], "margin": top[:, 1] - top[:, 0], "distance": np.log(apart + 1e-12)}
    return np.stack([columns[name] for name in names.split(", ")], axis=1)


def like_pool(found: dict[str, Any], names: str, most: float = 5.0) -> np.ndarray:
    """Weights by which labelled items look like the open ones: the odds of a logistic regression between the two."""
    own = columns_of(found["probs"], found["apart"], names)
    both = np.vstack([own, columns_of(found["open"].astype(float), found["open_apart"], names)])
    both = (both - both.mean(axis=0)) / (both.std(axis=0) + 1e-12)
    judge = LogisticRegression(class_weight="balanced").fit(both, np.arange(len(both)) >= len(own))
    return even(np.clip(np.exp(judge.decision_function(both[: len(own)])), 1 / most, most))


def scaled(found: dict[str, Any], weights: np.ndarray, *, offsets: bool = True, guard: bool = True) -> np.ndarray:
    """Return the test probabilities after a recalibration by weighted evidence."""
    made = CrossValidatedRecalibration(found["probs"], found["truth"], weights, offsets)
    test = found["test"].astype(float)
    return made.apply(test) if guard else made._fit(np.ones(made.evidence, dtype=np.bool_)).apply(test)


def weights_of(found: dict[str, Any]) -> np.ndarray:
    """Return what evidence weighs in "auto"."""
    return even(as_session(found) * found["like"])


Way = Callable[[dict[str, Any]], np.ndarray]  # test probabilities after it
WAYS: dict[str, Way] = {
    "raw": lambda found: found["test"].astype(float),
    "auto": lambda found: scaled(found, weights_of(found), offsets=False),
    "vector": lambda found: scaled(found, as_session(found)),
    "temperature": lambda found: scaled(found, as_session(found), offsets=False),
    "no guard": lambda found: scaled(found, as_session(found), guard=False),
    "first labels drawn": lambda found: scaled(found, as_session(found, first=True)),
    "a fifth of the evidence": lambda found: scaled(found, as_session(found) / 5),
    "like the pool: confidence": lambda found: scaled(found, like_pool(found, "confidence, margin")),
    "like the pool: distance": lambda found: scaled(found, like_pool(found, "distance")),
    "like the pool: both": lambda found: scaled(found, like_pool(found, "confidence, margin, distance")),
    "both, and as drawn": lambda found: scaled(
        found, even(as_session(found) * like_pool(found, "confidence, margin, distance"))
    ),
    "distance, and as drawn": lambda found: scaled(found, even(as_session(found) * like_pool(found, "distance"))),
    "the same, temperature": lambda found: scaled(
        found, even(as_session(found) * like_pool(found, "distance")), offsets=False
    ),
}


def judge(folder: Path, seeds: range, tasks: list[str], ways: list[str], other: str) -> None:
    """Print the calibration error by recalibration and session, and the differences to margin and to `other`."""
    errors: dict[tuple[str, str], dict[tuple[str, int], float]] = {}
    for task in tasks:
        for seed in seeds:
            for session in SESSIONS:
                path = folder / f"{task}-{seed}-{session}.pickle"
                if path.exists():
                    rounds = pickle.loads(path.read_bytes())
                    for way in ways:
                        values = [cusal.metrics.ece(WAYS[way](one), one["test_truth"]) for one in rounds]
                        errors.setdefault((session, way), {})[task, seed] = 100 * float(np.mean(values))
    for session in SESSIONS:
        for way in ways:
            if (own := errors.get((session, way))) is None:
                continue
            line = f"{session:26}{way:38}{np.mean(list(own.values())):7.2f}"
            line += against(own, errors.get((session, other), {}), other)
            line += against(own, errors.get(("margin", way), {}), "margin") if session != "margin" else ""
            print(line)
    for session in SESSIONS:
        for task in tasks:
            keys = [key for key in errors.get((session, ways[0]), {}) if key[0] == task]
            if keys:
                shown = [f"{way} {np.mean([errors[session, way][key] for key in keys]):.1f}" for way in ways]
                print(f"{session}, {task}: " + "; ".join(shown))


def against(own: dict[Any, float], other: dict[Any, float], name: str) -> str:
    pairs = np.array([own[key] - other[key] for key in own if key in other])
    if len(pairs) == 0 or not pairs.any():
        return f"{'':32}"
    return f"  {name} {pairs.mean():+6.2f} (p {wilcoxon(pairs).pvalue:.4f}, {len(pairs):3d})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collect", type=Path)
    parser.add_argument("--judge", type=Path)
    parser.add_argument("--grid", default="light", help="a suite of tasks")
    parser.add_argument("--tasks", default=TASKS, help='"all" takes those of the grid')
    parser.add_argument("--head", default="lr", choices=["lr", "pool"])
    parser.add_argument("--seeds", default="0-4", help="first-last")
    parser.add_argument("--ways", default=";".join(WAYS), help="separated by semicolons")
    parser.add_argument("--against", default="vector", help="the way that the others are set against")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")  # classes with fewer items than folds, lbfgs at its limit
    first, last = map(int, options.seeds.split("-"))
    suite = read_grid(options.grid).override({"seeds": 1}).choose(["margin"]).members()
    names = [member.task["name"] for member in suite]
    seeds, tasks = range(first, last + 1), names if options.tasks == "all" else options.tasks.split(",")
    if options.collect:
        options.collect.mkdir(parents=True, exist_ok=True)
        for seed in seeds:
            for member, name in zip(suite, names, strict=True):
                if name in tasks:
                    task = Task(replace(member.specs()[0], seed=seed))
                    for session, settings in SESSIONS.items():
                        path = options.collect / f"{name}-{seed}-{session}.pickle"
                        if not path.exists():
                            path.write_bytes(pickle.dumps(collect(task, options.head, *settings)))
            print(f"seed {seed}", flush=True)
    if options.judge:
        judge(options.judge, seeds, tasks, options.ways.split(";"), options.against)


if __name__ == "__main__":
    main()
