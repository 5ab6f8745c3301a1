"""The fast estimator beside the dense sum and the paper's listing, in one run.

    python benchmarks/estimator.py            all sizes, some minutes
    python benchmarks/estimator.py --quick    a tenth of each pool, a minute or two
    python benchmarks/estimator.py --hundred  the cases of 100 classes alone, twice, into estimator_hundred.json
    python benchmarks/estimator.py --small    the small pools alone

The predictions are real: MNIST and CIFAR-10 test probabilities (10 classes) and ImageNet logits of Tiny-ImageNet
images (100 and 1000 classes), both under CUSAL_DATA. Larger sets are drawn from them with replacement and Gaussian
noise on the logits; labelled points and pool come from different rows. "Broad" predictions are synthetic: a confidence
between .3 and .99, and what is left spread over the other classes by a Dirichlet distribution. Both sides use two
threads and are timed in turn; the best repetition counts, by the clock and by the processor (where the machine is
shared, the clock suffers).
"""

import argparse
import json
import multiprocessing
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "2")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # else torch's idle threads spin and count as processor time

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.special import softmax

from cusal.calibration import Estimator, pointwise_error, pruned
from cusal.calibration.kernel import log_kernel

DATA = Path(os.environ.get("CUSAL_DATA", "data"))
RESULTS = Path(__file__).parent / "results"
TOLERANCE = 1e-9
BANDWIDTH = 1e-3
THREADS = 2
Problem = tuple[np.ndarray, np.ndarray, np.ndarray]

CASES = {  # name: (source, n, m, K, sharpness, aim)
    "MNIST, few labels": ("mnist", 420, 60_000, 10, 1.0, 5),
    "CIFAR-10, few labels": ("cifar10", 420, 60_000, 10, 1.0, 5),
    "MNIST, many labels": ("mnist", 11_000, 50_000, 10, 1.0, 20),
    "CIFAR-10, many labels": ("cifar10", 11_000, 50_000, 10, 1.0, 20),
    "100 classes": ("imagenet", 5_000, 20_000, 100, 1.0, 20),
    "100 classes, broad .1": ("broad", 5_000, 5_000, 100, 0.1, 20),  # for "broad", the concentration of the rest
    "100 classes, broad .3": ("broad", 5_000, 5_000, 100, 0.3, 20),
    "100 classes, broad 1": ("broad", 5_000, 5_000, 100, 1.0, 20),
    "1000 classes": ("imagenet", 20_000, 5_000, 1000, 1.0, 20),
    "1000 classes, sharpened": ("imagenet", 20_000, 5_000, 1000, 1.5, 20),
}
BANDWIDTHS = [
    *((source, classes, b) for source, classes in (("mnist", 10), ("imagenet", 100)) for b in (0.01, 0.1, 1.0)),
    *(("imagenet", 1000, b) for b in (0.1, 0.3, 1.0)),
]
SMALL_POOLS = [  # m items of n labelled points: preparing these takes most of the time
    (source, n, classes, m, b)
    for source, classes in (("mnist", 10), ("imagenet", 100), ("imagenet", 1000))
    for n in (420, 5_000)
    for b in (0.001, 1.0)
    for m in (1, 8, 32, 64, 200)
]
GROWTH = {  # what grows: (n, m, K) for each value
    "labelled points n": [(n, 5_000, 10) for n in (100, 300, 1000, 3000, 10_000, 30_000)],
    "pool points m": [(2_000, m, 10) for m in (1000, 3000, 10_000, 30_000, 100_000)],
    "classes K": [(3_000, 2_000, k) for k in (10, 30, 100, 300, 1000)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of each pool")
    parser.add_argument("--hundred", action="store_true", help="the cases of 100 classes alone, twice")
    parser.add_argument("--small", action="store_true", help="the small pools alone; the other figures stay")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    share = 10 if options.quick else 1
    options.out.mkdir(parents=True, exist_ok=True)
    if options.small:
        stored = options.out / "estimator.json"
        stored.write_text(json.dumps(json.loads(stored.read_text()) | {"small_pools": small_pools()}, indent=1) + "\n")
        return
    if options.hundred:
        hundred_classes(share, options.out)
        return
    print(f"{'case':26}{'n':>7}{'m':>8}{'K':>6}{'fast s':>9}{'rival s':>9}{'ratio':>8}{'cpu':>8}{'aim':>6}  matter")
    cases = [compare(name, case, share) for name, case in CASES.items()]
    cases.append(against_listing(10_000 // share))
    wide = [
        compare_bandwidth(f"b = {b:g}", problem(source, 5_000, min(5_000, 2_000_000 // classes) // share, classes), b)
        for source, classes, b in BANDWIDTHS
    ]
    small = small_pools()
    sizes = {axis: [growth(axis, size, share) for size in values] for axis, values in GROWTH.items()}
    draw(sizes, options.out / "estimator_growth.png")
    record = {
        "machine": machine(),
        "quick": options.quick,
        "cases": cases,
        "bandwidths": wide,
        "small_pools": small,
        "growth": sizes,
    }
    (options.out / "estimator.json").write_text(json.dumps(record, indent=1) + "\n")
    print(f"written to {options.out / 'estimator.json'} and estimator_growth.png")


def small_pools() -> list[dict[str, Any]]:
    """Measure what `pointwise_error` chooses for a few items, checks included."""
    rows = []
    for source, labelled, classes, size, bandwidth in SMALL_POOLS:
        pool, reference, labels = problem(source, labelled, size, classes)

        def ours(given: Problem = (pool, reference, labels), bandwidth: float = bandwidth) -> np.ndarray:
            return pointwise_error(*given, bandwidth=bandwidth).error

        def rival(given: Problem = (pool, reference, labels), bandwidth: float = bandwidth) -> np.ndarray:
            return dense(*given, bandwidth)

        ours()
        times = timed({"fast": ours, "dense": rival}, patience=0.5, most=30)
        rows.append(summary(f"m = {size}, b = {bandwidth:g}", pool, reference, times["fast"], times["dense"]))
        show(rows[-1])
    return rows


def hundred_classes(share: int, out: Path, runs: int = 2) -> None:
    """Measure the cases of 100 classes, with wide kernels too, several times over: the noise shows."""
    rows: list[dict[str, Any]] = []
    for _ in range(runs):
        for name, (source, count, pool_size, classes, sharpness, _) in CASES.items():
            if classes == 100:
                given = problem(source, count, min(pool_size, 5_000) // share, classes, sharpness)
                rows.append(compare_bandwidth(name, given, BANDWIDTH))
        given = problem("imagenet", 5_000, 5_000 // share, 100)
        rows += [compare_bandwidth(f"100 classes, b = {b:g}", given, b) for b in (0.01, 0.1, 1.0)]
    record = {"machine": machine(), "share": share, "rows": rows}
    (out / "estimator_hundred.json").write_text(json.dumps(record, indent=1) + "\n")


def broad(count: int, classes: int, concentration: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Give predictions of confidence .3 to .99 and their top classes."""
    top, confidence = rng.integers(classes, size=count), rng.uniform(0.3, 0.99, count)
    rest = rng.dirichlet(np.full(classes - 1, concentration), count) * (1 - confidence)[:, None]
    probs = np.empty((count, classes), dtype=np.float32)
    is_top = np.arange(classes) == top[:, None]
    probs[is_top], probs[~is_top] = confidence, rest.ravel()
    return probs, top


def problem(source: str, count: int, pool: int, classes: int, sharpness: float = 1.0) -> Problem:
    """Give (pool, reference, labels) of the sizes asked for, float32."""
    rng = np.random.default_rng(0)
    if source == "broad":
        reference, labels = broad(count, classes, sharpness, rng)
        labels = np.where(rng.random(count) < 0.7, labels, rng.integers(classes, size=count))
        return broad(pool, classes, sharpness, rng)[0], reference, labels
    if source == "imagenet":
        with np.load(DATA / "logits" / "tiny-imagenet-val-efficientnet-lite0.npz") as stored:
            logits, labels = stored["logits"].astype(np.float32), stored["labels"].astype(np.int64)
        if classes < 1000:  # the classes with most images, and their images alone
            chosen = np.argsort(-np.bincount(labels, minlength=1000), kind="stable")[:classes]
            number = np.full(1000, -1)
            number[chosen] = np.arange(classes)
            keep = number[labels] >= 0
            logits, labels = logits[keep][:, chosen], number[labels[keep]]
        noise = 0.3
    else:
        probs = np.load(DATA / "extra" / f"{source}_test_set_pyx.npy")
        labels = np.load(DATA / "extra" / f"{source}_test_set_original_labels.npy").astype(np.int64)
        logits, noise = np.log(probs + 1e-30).astype(np.float32), 0.5
    rows = rng.permutation(len(logits))
    half = len(rows) // 2

    def resample(rows: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        drawn = rng.choice(rows, size)
        noisy = logits[drawn] + noise * rng.standard_normal((size, logits.shape[1]), dtype=np.float32)
        return softmax(sharpness * noisy, axis=1), labels[drawn]

    reference, reference_labels = resample(rows[:half], count)
    return resample(rows[half:], pool)[0], reference, reference_labels


def dense(pool: np.ndarray, reference: np.ndarray, labels: np.ndarray, bandwidth: float = BANDWIDTH) -> np.ndarray:
    """The error from every pair in torch: float64 product by tiles, shift by the maximum, exp, one-hot product."""
    classes = pool.shape[1]
    points = torch.from_numpy(reference).double() / bandwidth
    constants = torch.lgamma(torch.tensor(1 / bandwidth + classes).double()) - torch.lgamma(points + 1).sum(dim=1)
    weights, one_hot = points.T.contiguous(), torch.nn.functional.one_hot(torch.from_numpy(labels), classes).double()
    error = torch.empty(len(pool), dtype=torch.float64)
    step = max(1, (1 << 21) // len(reference))
    for start in range(0, len(pool), step):
        probs = torch.from_numpy(pool[start : start + step]).double()
        kernels = torch.addmm(constants, probs.clamp_min(torch.finfo(torch.float64).tiny).log(), weights)
        largest = kernels.amax(dim=1, keepdim=True)
        mass = kernels.sub_(largest).exp_() @ one_hot
        log_density = largest + mass.sum(dim=1, keepdim=True).log()
        ratio = mass * (largest - log_density.clamp_min(np.log(Estimator().density_floor))).exp()
        error[start : start + step] = (ratio - probs).abs().sum(dim=1)
    return error.numpy()


def listing(pool: np.ndarray, reference: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The error as the paper's listing computes it: all (n + m)^2 kernels in float32, exp, clamp."""
    probs = torch.from_numpy(np.concatenate([reference, pool])).float()
    scaled = probs / BANDWIDTH
    constants = torch.lgamma(scaled.sum(dim=1) + probs.shape[1]) - torch.lgamma(scaled + 1).sum(dim=1)
    kernels = torch.exp(torch.log(probs) @ scaled.T + constants)[len(reference) :, : len(reference)]
    mass = kernels @ torch.nn.functional.one_hot(torch.from_numpy(labels), probs.shape[1]).float()
    ratio = mass / kernels.sum(dim=1).clamp(min=1e-10)[:, None]
    return (ratio - probs[len(reference) :]).abs().sum(dim=1).numpy()


def estimate(pool: np.ndarray, reference: np.ndarray, labels: np.ndarray, bandwidth: float = BANDWIDTH) -> np.ndarray:
    return pruned.pointwise(pool, reference, labels, Estimator(bandwidth), tolerance=TOLERANCE)[0]


def timed(calls: dict[str, Callable[[], Any]], patience: float = 8.0, most: int = 7) -> dict[str, dict[str, Any]]:
    """Call each in turn until `patience` seconds are over, twice to `most` times; give the best and the last result."""
    best: dict[str, dict[str, Any]] = {name: {"seconds": np.inf, "cpu": np.inf, "all": []} for name in calls}
    begin, rounds = time.perf_counter(), 0
    while rounds < 2 or (rounds < most and time.perf_counter() - begin < patience):
        for name, call in calls.items():
            clock, cpu = time.perf_counter(), time.process_time()
            best[name]["result"] = call()
            best[name]["seconds"] = min(best[name]["seconds"], time.perf_counter() - clock)
            best[name]["all"].append(time.process_time() - cpu)
            best[name]["cpu"] = min(best[name]["all"])
        rounds += 1
    return best


def compare(name: str, case: tuple[str, int, int, int, float, int], share: int) -> dict[str, Any]:
    source, count, pool_size, classes, sharpness, aim = case
    pool, reference, labels = problem(source, count, pool_size // share, classes, sharpness)
    estimate(pool[:10], reference, labels)  # compiled code is loaded
    times = timed({"fast": lambda: estimate(pool, reference, labels), "dense": lambda: dense(pool, reference, labels)})
    log_k = log_kernel(pool[:200], reference, BANDWIDTH)
    matter = float((log_k > log_k.max(axis=1, keepdims=True) - np.log(count / TOLERANCE)).mean())
    row = summary(name, pool, reference, times["fast"], times["dense"])
    row |= {"aim": aim, "matter": matter, "extra_mb": extra_memory(pool, reference, labels)}
    row["difference"] = float(np.abs(times["fast"]["result"] - times["dense"]["result"]).max())
    show(row)
    return row


def against_listing(pool_size: int) -> dict[str, Any]:
    pool, reference, labels = problem("mnist", 420, pool_size, 10)
    estimate(pool[:10], reference, labels)
    times = timed(
        {"fast": lambda: estimate(pool, reference, labels), "rival": lambda: listing(pool, reference, labels)}
    )
    row = summary("the paper's listing", pool, reference, times["fast"], times["rival"])
    show(row)
    return row


def compare_bandwidth(name: str, sets: Problem, bandwidth: float, patience: float = 5) -> dict[str, Any]:
    """A wider kernel, for which more and more pairs matter: with b = 1, all of them."""
    given = (*sets, bandwidth)
    estimate(given[0][:10], *given[1:])
    times = timed({"fast": lambda: estimate(*given), "dense": lambda: dense(*given)}, patience=patience)
    row = summary(name, given[0], given[1], times["fast"], times["dense"])
    show(row)
    return row


def growth(axis: str, size: tuple[int, int, int], share: int) -> dict[str, Any]:
    count, pool_size, classes = size
    source = "imagenet" if axis == "classes K" else "mnist"
    pool, reference, labels = problem(source, count, max(100, pool_size // share), classes)
    estimate(pool[:10], reference, labels)
    times = timed(
        {"fast": lambda: estimate(pool, reference, labels), "dense": lambda: dense(pool, reference, labels)}, patience=2
    )
    return summary("growth", pool, reference, times["fast"], times["dense"])


def summary(
    name: str, pool: np.ndarray, reference: np.ndarray, ours: dict[str, Any], rival: dict[str, Any]
) -> dict[str, Any]:
    size = {"name": name, "n": len(reference), "m": len(pool), "K": pool.shape[1]}
    times = {
        "seconds": ours["seconds"],
        "cpu": ours["cpu"],
        "rival_seconds": rival["seconds"],
        "rival_cpu": rival["cpu"],
    }
    turns = [theirs / mine for mine, theirs in zip(ours["all"], rival["all"], strict=True)]
    ratios = {"ratio": rival["seconds"] / ours["seconds"], "cpu_ratio": rival["cpu"] / ours["cpu"]}
    return size | times | ratios | {"cpu_ratio_range": [min(turns), max(turns)]}


def show(row: dict[str, Any]) -> None:
    print(
        f"{row['name']:26.26}{row['n']:7}{row['m']:8}{row['K']:6}{row['seconds']:9.3f}{row['rival_seconds']:9.3f}"
        f"{row['ratio']:8.1f}{row['cpu_ratio']:8.1f}{row.get('aim', ''):>6}  "
        + (f"{row['matter']:.2%}" if "matter" in row else ""),
        flush=True,
    )


def extra_memory(*arrays: np.ndarray) -> float:
    """Megabytes by which the peak resident memory of a fresh process grows through one estimate."""
    with tempfile.TemporaryDirectory() as folder:
        for number, array in enumerate(arrays):
            np.save(f"{folder}/{number}.npy", array)
        with multiprocessing.get_context("spawn").Pool(1) as workers:
            return workers.apply(_peak_growth, (folder,))


def _peak_growth(folder: str) -> float:
    pool, reference, labels = (np.load(f"{folder}/{number}.npy") for number in range(3))
    estimate(pool[:300], reference[:300], labels[:300])  # compiled code is loaded
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten (Linux)
    before = _peak()
    estimate(pool, reference, labels)
    return _peak() - before


def _peak() -> float:
    """The peak in megabytes from the kernel's record of this process; getrusage would count the parent's as well."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def machine() -> dict[str, Any]:
    versions = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__}
    return {"processors": os.cpu_count(), "threads": THREADS, "load": os.getloadavg()[0], **versions}


def draw(sizes: dict[str, list[dict[str, Any]]], path: Path) -> None:
    figure, axes = plt.subplots(1, len(sizes), figsize=(11, 3.6), sharey=True, constrained_layout=True)
    for axis, (name, rows) in zip(axes, sizes.items(), strict=True):
        letter = name[-1]
        grown = [row[letter] for row in rows]
        axis.loglog(grown, [row["rival_cpu"] for row in rows], "s--", color="0.45", label="dense float64 (torch)")
        axis.loglog(grown, [row["cpu"] for row in rows], "o-", color="C0", label="cusal, within 1e-9")
        for row in (rows[0], rows[-1]):
            axis.annotate(f"{row['cpu_ratio']:.0f}x", (row[letter], row["cpu"]), xytext=(0, -13),
                          textcoords="offset points", ha="center", fontsize=9)  # fmt: skip
        fixed = ", ".join(f"{key} = {rows[0][key]:,}" for key in "nmK" if key != letter)
        axis.set(xlabel=name, title=fixed)
        axis.grid(True, which="major", alpha=0.3)
        axis.margins(0.12, 0.15)
    axes[0].set_ylabel("processor seconds")
    axes[0].legend(frameon=False, loc="upper left")
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
