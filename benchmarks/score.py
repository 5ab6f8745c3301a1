"""Rows per second and peak resident memory of `cusal score`, for pools in files.

    python benchmarks/score.py             1,000,000 x 10 and 64,000 x 1000, in about a minute
    python benchmarks/score.py --full      10,000,000 x 10 and 1,280,000 x 1000 (5 GB), in files of float32
    python benchmarks/score.py --labelled 100000    1,280,000 x 1000 with so many labelled points, beside what is stored

Pools are real predictions drawn again with noise on their logits, where `CUSAL_DATA` has them (MNIST's out-of-sample
probabilities; ImageNet logits), else softmaxed noise; so are labelled points, where there are too few real ones. They
are written to a temporary folder (`--folder` says where; `--full` needs 10 GB) and deleted at the end. Each case runs
in a process of its own; `pool_bytes` is what it reads, `peak_bytes` its peak resident memory, libraries included. The
page cache is warm: the file was just written.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "score.json"
QUICK = ((1_000_000, 10), (64_000, 1000))
FULL = ((10_000_000, 10), (1_280_000, 1000))
LABELLED = {10: 1000, 1000: 2000}
PICKS = 1000
PARTS = 4
NOISE = 0.5
STEP = 4_000_000  # numbers that are made at a time
Case = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="pools that are larger than the memory used")
    parser.add_argument(
        "--labelled", type=int, help="measure this number of labelled points alone, and add it to --out"
    )
    parser.add_argument("--folder", type=Path, help="where the pools are written")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(run_case(json.loads(options.case))))
        return
    options.out.parent.mkdir(parents=True, exist_ok=True)
    if options.labelled:
        size, classes = FULL[1]
        case = {"rows": size, "classes": classes, "form": "npy", "labelled": options.labelled}
        record = json.loads(options.out.read_text())
        kept = [row for row in record["cases"] if row.get("labelled") != options.labelled]
        record["cases"] = kept + measure_all(case, ["cusal"], options.folder)
    else:
        sizes = [(size, form) for size in (FULL if options.full else QUICK) for form in ("npy", "parquet")]
        cases = [{"rows": size, "classes": classes, "form": form} for (size, classes), form in sizes]
        rows = [row for case in cases for row in measure_all(case, ["cusal", "margin"], options.folder)]
        record = {"settings": settings(), "cases": rows}
    options.out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"written to {options.out}")


def measure_all(case: Case, strategies: list[str], folder: Path | None) -> list[Case]:
    """Write the pool of a case, score it by each strategy, and delete it."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        pool = write_pool(Path(name), case)
        return [measure(pool, case | {"strategy": strategy}) for strategy in strategies]


def measure(pool: Path, case: Case) -> Case:
    """Score one pool in a process of its own and add what it measured."""
    command = [sys.executable, __file__, "--case", json.dumps({"pool": str(pool), "strategy": case["strategy"]})]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    measured = json.loads(process.stdout.splitlines()[-1])
    size = sum(file.stat().st_size for file in ([pool] if pool.is_file() else pool.iterdir()))
    row = case | measured | {"rows_per_second": round(case["rows"] / measured["seconds"]), "pool_bytes": size}
    print(
        f"{case['rows']:>10,} x {case['classes']:<5}{case['form']:8} {case['strategy']:8}"
        f"{row['rows_per_second']:>10,} rows/s  {row['seconds']:>7.1f} s"
        f"  {row['peak_bytes'] / 1e6:>6.0f} MB resident, {size / 1e6:,.0f} MB read"
    )
    return row


def run_case(case: Case) -> Case:
    from cusal import strategies
    from cusal.scale import Files, Request, score

    folder = Path(case["pool"]).parent
    files = Files(case["pool"], folder / "picks.csv", folder / "labelled.npz")
    warm_up(folder, case["strategy"])
    begun, used = time.perf_counter(), time.process_time()
    picks = score(files, Request(PICKS, strategies.find(case["strategy"])()), quiet=True)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "peak_bytes": peak_bytes(),
        "load_average": round(os.getloadavg()[0], 1),  # seconds say little where others compute: see cpu_seconds
        "decided_by_error_alone": None if picks.decided_by is None else int((picks.decided_by == "calibration").sum()),
    }


def warm_up(folder: Path, strategy: str) -> None:
    """Load the compiled code: the labelled points as a pool of their own."""
    from cusal import strategies
    from cusal.scale import Files, Request, score

    with tempfile.TemporaryDirectory() as name:
        labelled = folder / "labelled.npz"
        score(Files(labelled, Path(name) / "picks.csv", labelled), Request(10, strategies.find(strategy)()), quiet=True)


def peak_bytes() -> int:
    # ru_maxrss would begin with what the parent held when it forked; this belongs to the process alone.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def read_source(classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return logits (n, classes) and labels of real predictions, or of invented ones."""
    data = Path(os.environ.get("CUSAL_DATA", "/nonexistent"))
    imagenet = data / "logits" / "tiny-imagenet-val-efficientnet-lite0.npz"
    if classes == 1000 and imagenet.exists():
        with np.load(imagenet) as stored:
            return stored["logits"].astype(np.float32), stored["labels"].astype(np.int64)
    mnist = data / "extra" / "mnist_test_set_pyx.npy"
    if classes == 10 and mnist.exists():
        labels = np.load(data / "extra" / "mnist_test_set_original_labels.npy")
        return np.log(np.load(mnist) + 1e-6).astype(np.float32), labels.astype(np.int64)
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 3, (5000, classes)).astype(np.float32)
    return logits, logits.argmax(axis=1)


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def write_pool(folder: Path, case: Case) -> Path:
    """Write the labelled points and the pool; give the pool's path."""
    rows, classes = case["rows"], case["classes"]
    logits, labels = read_source(classes)
    rng = np.random.default_rng(0)
    labelled = case.get("labelled", LABELLED[classes])
    chosen = rng.choice(len(logits), labelled, replace=labelled > len(logits))
    reference = logits[chosen]
    if labelled > len(logits):
        reference += NOISE * rng.standard_normal(reference.shape, dtype=np.float32)
    np.savez(folder / "labelled.npz", probs=softmax(reference), labels=labels[chosen])
    if case["form"] == "npy":
        path = folder / "pool.npy"
        np.lib.format.open_memmap(path, "w+", np.float32, (rows, classes))
        with path.open("r+b") as file:
            file.seek(-4 * rows * classes, os.SEEK_END)
            for probs in draw(logits, rows, rng):
                probs.tofile(file)
        return path
    path = folder / "pool"
    path.mkdir()
    for part in range(PARTS):
        write_parquet(path / f"part-{part}.parquet", draw(logits, rows // PARTS, rng), classes)
    return path


def draw(logits: np.ndarray, rows: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield rows of probabilities, some at a time: logits drawn again, with noise."""
    classes = logits.shape[1]
    step = STEP // classes
    for start in range(0, rows, step):
        count = min(step, rows - start)
        noise = NOISE * rng.standard_normal((count, classes), dtype=np.float32)
        yield softmax(logits[rng.integers(len(logits), size=count)] + noise)


def write_parquet(path: Path, blocks: Iterator[np.ndarray], classes: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = pa.list_(pa.float32(), classes)
    with pq.ParquetWriter(path, pa.schema({"probs": kind}), use_dictionary=False) as writer:
        for probs in blocks:
            column = pa.FixedSizeListArray.from_arrays(pa.array(probs.ravel()), classes)
            writer.write_table(pa.table({"probs": column}), row_group_size=len(probs))


def settings() -> Case:
    names = ("numpy", "numba", "pyarrow")
    return {
        "picks": PICKS,
        "labelled": LABELLED,
        "noise": NOISE,
        "real_predictions": bool(os.environ.get("CUSAL_DATA")),
        "threads": os.environ.get("NUMBA_NUM_THREADS"),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in names},
    }


if __name__ == "__main__":
    main()
