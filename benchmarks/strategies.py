"""Time and peak memory of the strategies that build their batch jointly, beside scikit-activeml's.

    python benchmarks/strategies.py            20,000 items, in some minutes
    python benchmarks/strategies.py --full     200,000 items x 100 classes x 768 features

Each case runs in a process of its own, which holds the pool, chooses one batch and reports the time spent
choosing (by the clock, and of the processor where the machine is shared) and its peak resident memory, libraries
and pool included. scikit-activeml's cases run where it is installed (requirements/peers.txt); its pool grows for
as long as the process stays within `LIMIT`, and ours runs at that size too. Its time contains predicting the pool.
Cases of less than three seconds run three times: the median counts, and `cpu_range` has the lowest and the highest.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIMIT = 2 << 30
ADDRESS_SPACE = 8 << 30  # a case that wants more is stopped before the machine suffers
RESULTS = Path(__file__).parent / "results" / "strategies.json"
LABELLED = 1000
REPEATS, QUICK = 3, 3.0  # runs of a case that takes fewer processor seconds
SIZES = (1000, 2000, 20_000, 50_000, 100_000, 200_000)
Case = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="200,000 items instead of 20,000")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(run_case(json.loads(options.case))))
        return
    items = 200_000 if options.full else 20_000
    rows = [measure(case) for case in our_cases(items)]
    if importlib.util.find_spec("skactiveml"):
        rows += [row for name in ("badge", "coreset") for row in against_peer(name, items)]
    else:
        print("scikit-activeml is not installed: its cases are left out")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"settings": settings(), "cases": rows}, indent=1) + "\n")
    print(f"written to {options.out}")


def our_cases(items: int) -> list[Case]:
    size = {"library": "cusal", "items": items, "classes": 100, "features": 768}
    cases = [size | {"strategy": name, "batch_size": 100} for name in ("badge", "coreset")]
    for batch_size in (100, 1000):  # 1,000 are clustered exactly, 10,000 through micro-clusters
        cases += [size | {"strategy": name, "batch_size": batch_size} for name in ("cluster_margin", "cluster_cusal")]
    return cases


def against_peer(name: str, items: int) -> list[Case]:
    """Both libraries at the largest size that the peer holds within the limit, and the size where it leaves it."""
    case = {"library": "scikit-activeml", "strategy": name, "classes": 100, "features": 768, "batch_size": 100}
    largest: Case = {}
    for size in [size for size in SIZES if size <= items]:
        row = measure(case | {"items": size})
        if "stopped" in row or row["peak_bytes"] > LIMIT:
            return [largest, measure(largest | {"library": "cusal"}), row]
        largest = row
    return [largest, measure(largest | {"library": "cusal"})]


def measure(case: Case) -> Case:
    """Run one case in processes of its own and add what they measured."""
    case = {key: case[key] for key in ("library", "strategy", "items", "classes", "features", "batch_size")}
    command = [sys.executable, __file__, "--case", json.dumps(case)]
    runs: list[Case] = []
    while len(runs) < (REPEATS if not runs or runs[0]["cpu_seconds"] < QUICK else 1):
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            break
        runs.append(json.loads(process.stdout.splitlines()[-1]))
    if runs:
        spent = sorted(run["cpu_seconds"] for run in runs)
        row = case | sorted(runs, key=lambda run: run["cpu_seconds"])[len(runs) // 2]
        row |= {"runs": len(runs), "cpu_range": [spent[0], spent[-1]]}
        shown = f"{row['seconds']:8.2f} s ({row['cpu_seconds']:.2f} cpu) {row['peak_bytes'] / 2**20:7.0f} MB peak"
    else:
        shown = (process.stderr.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        row = case | {"stopped": shown}
    print(
        f"{row['library']:16}{row['strategy']:16}{row['items']:7} items, batch {row['batch_size']:4}: {shown}",
        flush=True,
    )
    return row


def run_case(case: Case) -> Case:
    """Choose one batch; the pool is made before the clock starts."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    choose = prepare_peer(case) if case["library"] == "scikit-activeml" else prepare_ours(case)
    held = peak_bytes()
    start, start_cpu = time.perf_counter(), time.process_time()
    chosen = choose()
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    if len(set(chosen)) != case["batch_size"]:
        raise SystemExit("the batch holds an item twice")
    times = {"seconds": round(seconds, 3), "cpu_seconds": round(cpu_seconds, 3)}
    return times | {"peak_bytes": peak_bytes(), "peak_bytes_before": held}


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def make_items(case: Case) -> tuple[Any, Any, Any]:
    """Features around one centre for each class, the labelled ones first; their labels; a model to fit to them."""
    import numpy as np
    from sklearn.linear_model import SGDClassifier

    rng = np.random.default_rng(0)
    classes, features = case["classes"], case["features"]
    total = case["items"] + LABELLED
    truth = np.concatenate([np.arange(LABELLED) % classes, rng.integers(classes, size=case["items"])])
    centres = 0.1 * rng.standard_normal((classes, features), dtype=np.float32)
    items = rng.standard_normal((total, features), dtype=np.float32)
    for start in range(0, total, 4096):
        items[start : start + 4096] += centres[truth[start : start + 4096]]
    model = SGDClassifier(loss="log_loss", max_iter=20, tol=None, random_state=0)
    return items, truth[:LABELLED], model


def prepare_ours(case: Case) -> Callable[[], Any]:
    import numpy as np

    from cusal import strategies
    from cusal.strategies._view import View

    items, labels, model = make_items(case)
    model.fit(items[:LABELLED], labels)
    probs = np.empty((len(items), case["classes"]), dtype=np.float32)
    for start in range(0, len(items), 4096):
        probs[start : start + 4096] = model.predict_proba(items[start : start + 4096])
    view = View.of_arrays(
        np.arange(LABELLED, len(items)),
        np.random.default_rng(0),
        probs=probs[LABELLED:],
        reference=(probs[:LABELLED], labels),
        embeddings=items[LABELLED:],
        reference_embeddings=items[:LABELLED],
    )
    strategy = strategies.find(case["strategy"])()
    return lambda: strategy.select(view, case["batch_size"])


def prepare_peer(case: Case) -> Callable[[], Any]:
    import numpy as np
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import Badge, CoreSet

    items, labels, model = make_items(case)
    known = np.full(len(items), np.nan)
    known[:LABELLED] = labels
    if case["strategy"] == "coreset":
        return lambda: CoreSet(random_state=0).query(items, known, batch_size=case["batch_size"])
    classifier = SklearnClassifier(model, classes=range(case["classes"])).fit(items[:LABELLED], labels)
    badge = Badge(random_state=0)
    return lambda: badge.query(items, known, clf=classifier, fit_clf=False, batch_size=case["batch_size"])


def settings() -> Case:
    versions = {}
    for name in ("numpy", "scipy", "scikit-learn", "scikit-activeml"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "labelled": LABELLED,
        "dtype": "float32",
        "limit_bytes": LIMIT,
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": versions,
    }


if __name__ == "__main__":
    main()
