"""Rounds per minute of the MNIST preset, beside the same schedule driven by scikit-activeml with skorch.

    python benchmarks/rounds.py                         pools of 10,000 and 60,000 items, in some minutes
    python benchmarks/rounds.py --pools 10000 --rounds 5

Each case runs in a process of its own, on one thread: one round to warm up, then `--rounds` that count. The libraries
take turns, `--repeats` times, and of each the fastest round is taken, by processor time: other work on the machine can
only add to it (time by the clock stands in the JSON too).

A round of ours is what `cusal bench mnist` does: fit, predict the pool, choose, metrics on test set and pool, raw and
recalibrated, write to the store. A round of theirs is fit, query, and the raw metrics on the test set. `--labels` says
how many labels the rounds begin with: the preset's 20, and 220, half-way through it.

scikit-activeml takes part where it and skorch are installed (requirements/peers.txt).
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "rounds.json"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
OURS, THEIRS, PLAIN = "cusal", "scikit-activeml", "scikit-activeml, plain network"
METHODS = {"margin": "margin_sampling", "least_confidence": "least_confident", "entropy": "entropy"}
PREDICT_BATCH = 1024  # skorch's fastest of 128, 160, 256, 512, 1024 and 2048; its default is the training batch
CLOCK = time.perf_counter
Case = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="rounds that count, after one that does not")
    parser.add_argument("--repeats", type=int, default=2, help="processes for each library and setting")
    parser.add_argument("--pools", default="10000,60000", help="pool sizes; 60000 takes all that MNIST has")
    parser.add_argument("--labels", default="20,220", help="labels at the beginning")
    parser.add_argument("--strategy", default="margin", choices=METHODS)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        case = json.loads(options.case)
        print(json.dumps(KINDS[case["kind"]](case)))
        return
    peers = all(importlib.util.find_spec(name) for name in ("skactiveml", "skorch"))
    if not peers:
        print("scikit-activeml or skorch is not installed: cusal is measured alone")
    load = os.getloadavg()
    hardware = measure({"kind": "hardware"})
    rows = []
    for pool in map(int, options.pools.split(",")):
        for labels in map(int, options.labels.split(",")):
            case = {"pool": pool, "labels": labels, "strategy": options.strategy, "rounds": options.rounds}
            rows.append(compare(case, [OURS, THEIRS, PLAIN] if peers else [OURS], options.repeats))
            print(line(rows[-1]), flush=True)
    print(hardware_line(hardware))
    content = {"settings": settings(load), "hardware": hardware, "rounds": rows}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(content, indent=1) + "\n")
    print(f"written to {options.out}")


def compare(case: Case, libraries: list[str], repeats: int) -> Case:
    """Give the rates of all libraries in one setting, their ratios to ours, and where our round's time goes."""
    turns = [[measure(case | {"kind": library}) for library in libraries] for _ in range(repeats)]
    measured = {
        library: min(results, key=lambda result: result["cpu_seconds"])
        | {"all": [one["cpu_seconds"] for one in results]}
        for library, results in zip(libraries, zip(*turns, strict=True), strict=True)
    }
    total, phases = measured[OURS]["cpu_seconds"], measured[OURS]["phases"]
    row = case | {"libraries": measured}
    row["ratios"] = {name: round(one["cpu_seconds"] / total, 2) for name, one in measured.items() if name != OURS}
    row["ratios_by_clock"] = {
        name: round(one["seconds"] / measured[OURS]["seconds"], 2) for name, one in measured.items() if name != OURS
    }
    row["shares"] = {name: round(seconds / total, 3) for name, seconds in phases.items()}
    row["shares"]["other"] = round(1 - sum(row["shares"].values()), 3)
    return row


def measure(case: Case) -> Case:
    """Run one case in a process of its own, on one thread."""
    command = [sys.executable, __file__, "--case", json.dumps(case)]
    environment = os.environ | dict.fromkeys(THREADS, "1")
    process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if process.returncode:
        raise SystemExit(f"{case['kind']} failed:\n{process.stderr}")
    result: Case = json.loads(process.stdout.splitlines()[-1])
    return result


def line(row: Case) -> str:
    rates = [f"{name} {one['rounds_per_minute']:.1f}" for name, one in row["libraries"].items()]
    ratios = [f"{ratio:.2f} x" for ratio in row["ratios"].values()]
    shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in row["shares"].items())
    start = f"pool {row['pool']:6}, {row['labels']:4} labels, rounds per minute: "
    return f"{start}{'; '.join(rates)}{'; ratios ' * bool(ratios)}{', '.join(ratios)}\n    cusal's round: {shares}"


def hardware_line(row: Case) -> str:
    return (
        f"Gflop/s: predict_proba {row['predict_gflops']:.1f}, the bare network {row['network_gflops']:.1f}, "
        f"products of its shapes {row['own_products_gflops']:.1f}, a large product {row['large_product_gflops']:.1f}"
    )


def make_spec(case: Case) -> Any:
    from cusal.apps.bench.grid import read_grid

    (spec,) = read_grid("mnist").override({"seeds": 1}).choose([case["strategy"]]).specs()
    pool = case["pool"] if case["pool"] < 60_000 else None
    # One round to warm up, and one at the end that asks for nothing.
    return replace(spec, pool=pool, warm_up=case["labels"], rounds=case["rounds"] + 1)


class Stopwatch:
    """Time and processor time of rounds, from marks at their ends."""

    def __init__(self) -> None:
        self.marks: list[tuple[float, float]] = []
        self.accuracy = 0.0

    def mark(self, accuracy: float) -> None:
        self.marks.append((CLOCK(), time.process_time()))
        self.accuracy = accuracy

    def send(self, news: Any) -> None:  # a worker tells its news to whatever has `send`
        if news.kind == "round":
            self.mark(news.accuracy)

    def result(self, rounds: int) -> Case:
        """Give the fastest round; the first warmed up, and what comes after the last that counts is left out."""
        spent = [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(self.marks[: rounds + 1])]
        fastest_round = min(range(rounds), key=lambda i: spent[i][1])
        seconds, cpu_seconds = spent[fastest_round]
        return {
            "round": fastest_round + 1,
            "rounds_per_minute": round(60 / cpu_seconds, 2),
            "cpu_seconds": round(cpu_seconds, 4),
            "seconds": round(seconds, 4),
            "accuracy": round(self.accuracy, 4),
        }


def run_ours(case: Case) -> Case:
    """The runner's own worker, with its store, which also has the seconds of each phase."""
    from cusal.apps.bench.store import Store
    from cusal.apps.bench.worker import run

    time.perf_counter = time.process_time  # in this process alone, so that the phases are in processor seconds
    spec, watch = make_spec(case), Stopwatch()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "runs.db") as store:
        store.add([spec.run])
        news = run(store, store.claim([spec.run.id]), watch)
        rounds = store.rounds()
    if news.kind != "done":
        raise SystemExit(news.text)
    result = watch.result(case["rounds"])
    names = {"fit": "fit", "predict": "predict pool", "select": "select", "test": "test"}
    seconds = rounds[result["round"]]
    return result | {"phases": {name: round(seconds[f"seconds_{key}"], 4) for key, name in names.items()}}


def run_theirs(case: Case) -> Case:
    """The loop that scikit-activeml documents, with the settings that make it fastest and the schedule ours.

    The network goes on from the weights of the round before, nothing is set aside for validation, nothing is printed
    or recorded by callbacks, and `query` uses the fitted classifier.
    """
    import numpy as np
    import torch
    from skactiveml.classifier import SkorchClassifier
    from skactiveml.pool import UncertaintySampling
    from skactiveml.utils import MISSING_LABEL

    from cusal.apps.bench.experiment import Experiment
    from cusal.models.networks import MnistNet
    from cusal.session.scores import METRICS

    torch.manual_seed(0)
    spec, watch = make_spec(case), Stopwatch()
    experiment = Experiment(spec)
    items, test, test_labels = experiment.items, experiment.data.test, experiment.data.test_labels
    known = np.full(len(items), MISSING_LABEL)
    warm_up = np.searchsorted(experiment.rows, experiment.warm_up)
    known[warm_up] = experiment.labels[warm_up]
    net = {
        "max_epochs": spec.epochs,
        "lr": spec.learning_rate,
        "batch_size": spec.train_batch_size,
        "optimizer": torch.optim.Adam,
        "optimizer__fused": True,
        "iterator_train__shuffle": True,
        "iterator_valid__batch_size": PREDICT_BATCH,
        "train_split": None,
        "callbacks": "disable",
        "verbose": 0,
        "warm_start": True,
    }
    module = MnistNet if case["kind"] == THEIRS else plain_network()
    classifier = SkorchClassifier(module, neural_net_param_dict=net, classes=list(range(10)), random_state=0)
    strategy = UncertaintySampling(method=METHODS[case["strategy"]], random_state=0)
    for _ in range(case["rounds"] + 1):
        classifier.fit(items, known)
        probs = classifier.predict_proba(test)
        scores = {name: metric(probs, test_labels) for name, metric in METRICS.items()}
        query = strategy.query(items, known, clf=classifier, fit_clf=False, batch_size=spec.batch_size)
        known[query] = experiment.labels[query]
        watch.mark(scores["accuracy"])
    return watch.result(case["rounds"])


def plain_network() -> Any:
    """The same layers as most would write them: torch's own pooling and its default memory layout."""
    from torch import nn

    return nn.Sequential(
        *(nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10)),
    )


def hardware(case: Case) -> Case:
    """Floating-point rates on one thread: of prediction, of the bare network, and of matrix products."""
    import numpy as np
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from cusal.models.networks import MnistNet
    from cusal.models.networks._pooling import max_pool
    from cusal.models.torch_classifier import TorchClassifier

    rows, tile = 8192, 128
    items = np.random.default_rng(0).standard_normal((rows, 1, 28, 28), dtype=np.float32)
    model = TorchClassifier(MnistNet(), epochs=1, random_state=0).fit(items[:20], np.arange(20) % 10)
    net, tiles = model.module_, torch.from_numpy(items).split(tile)
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        net(tiles[0])
    flops = counter.get_total_flops() / tile

    @torch.inference_mode()
    def layer_times() -> Case:
        first = net.conv1(tiles[0])
        second = net.conv2(max_pool(first).relu())
        return {
            "conv1": fastest(lambda: net.conv1(tiles[0])) / tile,
            "pool1": fastest(lambda: max_pool(first).relu()) / tile,
            "conv2": fastest(lambda: net.conv2(max_pool(first).relu())) / tile,
            "pool2": fastest(lambda: max_pool(second).relu()) / tile,
            "linear": fastest(lambda: net.after_dropout(max_pool(second).relu())) / tile,
        }

    @torch.inference_mode()
    def own_products() -> float:
        """Seconds for an item of the products that the layers come down to, their inputs already laid out for it."""
        shapes = ((tile * 576, 25, 10), (tile * 64, 250, 20), (tile, 320, 50), (tile, 50, 10))
        return sum(product_seconds(*shape) for shape in shapes) / tile

    with torch.inference_mode():
        bare = fastest(lambda: [net(part) for part in tiles], repeats=5) / rows
    predicted = fastest(lambda: model.predict_proba(items), repeats=5) / rows
    layers = layer_times()
    layers["conv2"] -= layers["pool1"]
    layers["linear"] -= layers["pool2"]
    return {
        "flops_per_item": flops,
        "large_product_gflops": round(2 * 1024**3 / product_seconds(1024, 1024, 1024) / 1e9, 2),
        "own_products_gflops": round(flops / own_products() / 1e9, 2),
        "network_gflops": round(flops / bare / 1e9, 2),
        "predict_gflops": round(flops / predicted / 1e9, 2),
        "microseconds_per_item": {name: round(1e6 * seconds, 2) for name, seconds in layers.items()}
        | {"network": round(1e6 * bare, 2), "predict_proba": round(1e6 * predicted, 2)},
    }


def product_seconds(rows: int, inner: int, columns: int) -> float:
    import torch

    left, right, out = torch.rand(rows, inner), torch.rand(inner, columns), torch.empty(rows, columns)
    return fastest(lambda: torch.mm(left, right, out=out))


def fastest(call: Callable[[], Any], repeats: int = 30) -> float:
    """Processor seconds of the fastest of some calls, after one that warms up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def settings(load: tuple[float, float, float]) -> Case:
    versions = {}
    for name in ("numpy", "torch", "scikit-activeml", "skorch"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "preset": "mnist: MnistNet, 10 labels a round, 30 epochs, Adam 1e-3, batch 128, warm start",
        "predict_batch_of_skorch": PREDICT_BATCH,
        "threads": 1,
        "cores": os.cpu_count(),
        "load_before": [round(value, 1) for value in load],
        "load_after": [round(value, 1) for value in os.getloadavg()],
        "python": platform.python_version(),
        "versions": versions,
    }


KINDS = {OURS: run_ours, THEIRS: run_theirs, PLAIN: run_theirs, "hardware": hardware}

if __name__ == "__main__":
    main()
