"""`PoolClassifier` with pools of 20,000 to 1,000,000 items: time, memory, and what approximate neighbours cost.

    CUSAL_DATA=... python benchmarks/large_pools.py                  all cases, about ten minutes of one core
    CUSAL_DATA=... python benchmarks/large_pools.py --sizes 1000000 --searches cells --keep
    CUSAL_DATA=... python benchmarks/large_pools.py --sizes 20000

Images of MNIST and Fashion-MNIST together, 20 classes, by their first 50 principal components; above 120,000 items also
the images moved by a pixel in up to eight directions. "cells" looks for neighbours within the nearest cells, as pools
above 20,000 items do; "exact" compares all pairs. Each case is a process of its own, which reads the features from a
file. Cases that take seconds run three times: their times are medians, with the lowest and the highest of the graph.
The others are single runs.

    graph      processor seconds of the first fit, which finds the neighbours
    fit        of a fit after that, to 400 labels
    predict    of the whole pool
    MB         most memory in use, above that of the process with the pool and without a model
    accuracy   on 4,000 images of the test sets, mean over three draws of 100 and of 400 random labels

"found" is the share of the ten true neighbours that cells find, of 500 items of the pool.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

RESULTS = Path(__file__).parent / "results" / "large_pools"
SIZES, EXACT_UP_TO = (20_000, 100_000, 300_000, 1_000_000), 100_000
REPEATS = 3  # of the cases below
QUICK = {(20_000, "cells"), (20_000, "exact"), (100_000, "cells")}
COMPONENTS, FITTED_TO, TEST = 50, 20_000, 4_000
LABELS, DRAWS = (100, 400), 3
NEIGHBOURS, ASKED = 10, 500
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--searches", default="cells,exact,found")
    parser.add_argument("--keep", action="store_true", help="keep the other rows that are stored already")
    parser.add_argument("--out", type=Path, default=RESULTS, help="without an ending")
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)  # of a process that the main one starts
    options = parser.parse_args()
    if options.case:
        folder, size, search = Path(options.case[0]), int(options.case[1]), options.case[2]
        print(json.dumps(found_share(folder, size) if search == "found" else measure(folder, size, search)))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in map(int, options.sizes.split(",")):
            write_features(Path(folder), size)
            for search in options.searches.split(","):
                if search != "exact" or size <= EXACT_UP_TO:
                    rows.append(repeated(folder, size, search))
                    print(rows[-1], flush=True)
    stored = options.out.with_suffix(".json")
    if options.keep and stored.exists():
        new = {(row["size"], row["search"]) for row in rows}
        rows += [row for row in json.loads(stored.read_text()) if (row["size"], row["search"]) not in new]
    rows.sort(key=lambda row: (row["size"], row["search"]))
    stored.write_text(json.dumps(rows, indent=1) + "\n")
    text = report(rows)
    print(text)
    options.out.with_suffix(".txt").write_text(text + "\n")


def repeated(folder: str, size: int, search: str) -> Row:
    """Return the figures of one case, from as many processes as it is repeated."""
    command = [sys.executable, __file__, "--case", folder, str(size), search]
    found = [
        json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        for _ in range(REPEATS if (size, search) in QUICK else 1)
    ]
    if search == "found":
        return found[0]
    middle = {name: statistics.median(row[name] for row in found) for name in ("graph_s", "fit_s", "predict_s")}
    graphs = [row["graph_s"] for row in found]
    return found[0] | middle | {"runs": len(found), "graph_lowest_s": min(graphs), "graph_highest_s": max(graphs)}


def write_features(folder: Path, size: int) -> None:
    """Write the features and labels of a pool and of the test set."""
    from sklearn.decomposition import PCA

    from cusal.apps.bench import datasets

    both = [datasets.load(name) for name in ("mnist", "fashion_mnist")]
    rng = np.random.default_rng(0)
    images = np.concatenate([np.asarray(data.train).reshape(-1, 28, 28) for data in both])
    labels = np.concatenate([data.train_labels + 10 * place for place, data in enumerate(both)])
    tests = np.concatenate([np.asarray(data.test).reshape(-1, 28, 28) for data in both])
    test_labels = np.concatenate([data.test_labels + 10 * place for place, data in enumerate(both)])
    tested = rng.permutation(len(tests))[:TEST]
    encoder = PCA(COMPONENTS, random_state=0).fit(flat(images[rng.permutation(len(images))[:FITTED_TO]]))
    nearest_first = sorted(itertools.product((0, 1, -1), repeat=2), key=lambda by: abs(by[0]) + abs(by[1]))
    moved = nearest_first[: -(-size // len(images))]
    rows = [encoder.transform(flat(np.roll(images, shift, axis=(1, 2)))).astype(np.float32) for shift in moved]
    chosen = rng.permutation(len(images) * len(moved))[:size]
    np.save(folder / "pool.npy", np.concatenate(rows)[chosen])
    np.save(folder / "pool_labels.npy", np.tile(labels, len(moved))[chosen])
    np.save(folder / "test.npy", encoder.transform(flat(tests[tested])).astype(np.float32))
    np.save(folder / "test_labels.npy", test_labels[tested])


def flat(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1).astype(np.float32)


def measure(folder: Path, size: int, search: str) -> Row:
    """Return the figures of one case."""
    from cusal._items import Subset
    from cusal.models import PoolClassifier, _neighbours

    _neighbours.EXACT = size if search == "exact" else size - 1
    pool, labels, test, test_labels = (
        np.load(folder / f"{name}.npy") for name in ("pool", "pool_labels", "test", "test_labels")
    )
    whole = Subset(pool, np.arange(size))

    def fitted(count: int, draw: int) -> PoolClassifier:
        rows = np.random.default_rng(draw).permutation(size)[:count]
        return PoolClassifier().fit(pool[rows], labels[rows], unlabelled=whole)

    PoolClassifier().fit(pool[:1000], labels[:1000])  # what is loaded once for all
    before, started = megabytes(), time.process_time()
    keeper = fitted(LABELS[-1], 0)
    graph = time.process_time()
    fitted(LABELS[-1], 1)
    refitted = time.process_time()
    keeper.predict_proba(pool)
    predicted = time.process_time()
    accuracy = {
        count: 100 * np.mean([fitted(count, draw).score(test, test_labels) for draw in range(DRAWS)])
        for count in LABELS
    }
    return {
        "size": size,
        "search": search,
        "graph_s": round(graph - started, 2),
        "fit_s": round(refitted - graph, 2),
        "predict_s": round(predicted - refitted, 2),
        "mb": round(megabytes() - before),
        "accuracy": {count: round(float(value), 2) for count, value in accuracy.items()},
    }


def found_share(folder: Path, size: int) -> Row:
    """Return the share of the true neighbours that cells find."""
    from cusal.models import _neighbours

    _neighbours.EXACT = size - 1
    pool = np.load(folder / "pool.npy")
    asked = pool[np.random.default_rng(0).choice(size, ASKED, replace=False)]
    index = _neighbours.Neighbours(pool)
    found = index.find(asked, NEIGHBOURS + 1)  # the item itself is among them
    index.centres = None
    true = index.find(asked, NEIGHBOURS + 1)
    both = sum(len(np.intersect1d(*pair)) - 1 for pair in zip(found, true, strict=True))
    return {"size": size, "search": "found", "share": round(both / (ASKED * NEIGHBOURS), 4)}


def megabytes() -> float:
    """Return the most memory that this process has had so far; `getrusage` would count its parent's too."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def report(rows: list[Row]) -> str:
    """Return the figures as a table."""
    columns = ("graph_s", "fit_s", "predict_s", "mb")
    accuracy = "".join(f"{f'accuracy, {count}':>16}" for count in LABELS)
    lines = [f"{'items':>8}{'search':>8}" + "".join(f"{name:>11}" for name in columns) + accuracy]
    for row in (row for row in rows if row["search"] != "found"):
        values = [row["accuracy"].get(str(count), row["accuracy"].get(count)) for count in LABELS]
        figures = "".join(f"{row[name]:>11}" for name in columns) + "".join(f"{value:>16.2f}" for value in values)
        lines.append(f"{row['size']:>8}{row['search']:>8}{figures}")
    lines += [f"{row['size']:>8}   {row['share']:.2%} found" for row in rows if row["search"] == "found"]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
