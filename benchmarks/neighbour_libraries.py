"""Libraries for approximate neighbours beside the cells of `PoolClassifier`, on the points of `large_pools.py`.

    python -m venv other && other/bin/pip install numpy faiss-cpu hnswlib pynndescent
    CUSAL_DATA=... python benchmarks/neighbour_libraries.py --libraries other/bin/python

Ten neighbours of every point: processor seconds of one thread, of building the index and of asking it, the least of
`--repeats` processes, and the share of the true ten that are found, of 500 points. The libraries are no dependency of
cusal and have an environment of their own; those that are not installed there are left out. Where a library has a
setting for how long it looks, there is a row for each of several.
"""

import argparse
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

import numpy as np

from large_pools import ASKED, NEIGHBOURS, write_features

RESULTS = Path(__file__).parent / "results" / "neighbour_libraries.json"
CASES = (  # (library, way, how many cells, candidates or neighbours it looks at)
    ("cusal", "cells", 16),
    ("faiss-cpu", "cells", 4),
    ("faiss-cpu", "cells", 16),
    ("faiss-cpu", "graph", 16),
    ("faiss-cpu", "graph", 48),
    ("hnswlib", "graph", 16),
    ("hnswlib", "graph", 48),
    ("pynndescent", "descent", 11),
    ("pynndescent", "descent", 20),
)
Found = tuple[Callable[[], Any], Callable[[Any], np.ndarray]]  # how an index is built, and asked for all points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libraries", default=sys.executable, help="the Python that has the libraries")
    parser.add_argument("--sizes", default="100000,300000")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--case", nargs=4, help=argparse.SUPPRESS)  # of a process that the main one starts
    options = parser.parse_args()
    if options.case:
        folder, library, way, effort = options.case
        print(json.dumps(measure(Path(folder), library, way, int(effort))))
        return
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in map(int, options.sizes.split(",")):
            write_features(Path(folder), size)
            np.save(Path(folder) / "true.npy", true_neighbours(np.load(Path(folder) / "pool.npy")))
            turns = [[run(options.libraries, folder, case) for case in CASES] for _ in range(options.repeats)]
            for repeats in zip(*turns, strict=True):
                if best := min(filter(None, repeats), key=lambda row: row["seconds"], default=None):
                    rows.append({"size": size} | best | {"all_seconds": [row["seconds"] for row in repeats if row]})
                    print(rows[-1], flush=True)
    if all(row["library"] == "cusal" for row in rows):
        print("none of the libraries is installed: nothing is written")
        return
    options.out.write_text(json.dumps(rows, indent=1) + "\n")


def run(libraries: str, folder: str, case: tuple[str, str, int]) -> dict[str, Any] | None:
    """Return the figures of one process, or None without the library."""
    python = sys.executable if case[0] == "cusal" else libraries
    command = [python, __file__, "--case", folder, *map(str, case)]
    process = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] | None = json.loads(process.stdout.splitlines()[-1])
    return result


def measure(folder: Path, library: str, way: str, effort: int) -> dict[str, Any] | None:
    try:
        version = importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None
    points = np.load(folder / "pool.npy")
    for some in (points[:25_000], points):  # the first loads and compiles what is needed
        build, ask = WAYS[library, way](some, effort)
        started = time.process_time()
        index = build()
        built = time.process_time()
        found = ask(index)
        asked = time.process_time()
    true = np.load(folder / "true.npy")
    shares = [len(np.intersect1d(found[row], near)) for row, near in zip(asked_rows(len(points)), true, strict=True)]
    return {
        "library": library,
        "version": version,
        "way": way,
        "effort": effort,
        "seconds": round(asked - started, 2),
        "build_seconds": round(built - started, 2),
        "share": round(sum(shares) / true.size, 4),
    }


def asked_rows(size: int) -> np.ndarray:
    return np.random.default_rng(0).choice(size, ASKED, replace=False)


def true_neighbours(points: np.ndarray) -> np.ndarray:
    """Return the nearest others of the points that are asked about, (ASKED, NEIGHBOURS)."""
    asked = asked_rows(len(points))
    distances = (points**2).sum(axis=1) / 2 - points[asked] @ points.T
    distances[np.arange(ASKED), asked] = np.inf
    return np.argpartition(distances, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]


def cusal_cells(points: np.ndarray, effort: int) -> Found:
    from cusal.models import _neighbours

    _neighbours.PROBED = effort
    return lambda: _neighbours.Neighbours(points), lambda index: index.of_pool(NEIGHBOURS)


def faiss_cells(points: np.ndarray, effort: int) -> Found:
    import faiss

    faiss.omp_set_num_threads(1)
    cells = int(np.sqrt(len(points)))

    def build() -> Any:
        quantiser = faiss.IndexFlatL2(points.shape[1])
        index = faiss.IndexIVFFlat(quantiser, points.shape[1], cells)
        index.cp.max_points_per_centroid = 39  # the least that faiss takes without a warning
        index.train(points)
        index.add(points)
        index.nprobe = effort
        return index

    return build, lambda index: index.search(points, NEIGHBOURS + 1)[1]


def faiss_graph(points: np.ndarray, effort: int) -> Found:
    import faiss

    faiss.omp_set_num_threads(1)

    def build() -> Any:
        index = faiss.IndexHNSWFlat(points.shape[1], 16)
        index.hnsw.efConstruction = 40
        index.add(points)
        index.hnsw.efSearch = effort
        return index

    return build, lambda index: index.search(points, NEIGHBOURS + 1)[1]


def hnswlib_graph(points: np.ndarray, effort: int) -> Found:
    import hnswlib

    def build() -> Any:
        index = hnswlib.Index("l2", points.shape[1])
        index.init_index(len(points), M=16, ef_construction=40, random_seed=0)
        index.add_items(points, num_threads=1)
        index.set_ef(effort)
        return index

    return build, lambda index: index.knn_query(points, NEIGHBOURS + 1, num_threads=1)[0]


def descent(points: np.ndarray, effort: int) -> Found:
    import pynndescent

    def build() -> Any:
        return pynndescent.NNDescent(points, n_neighbors=effort, random_state=0, n_jobs=1)

    return build, lambda index: index.neighbor_graph[0][:, : NEIGHBOURS + 1]


WAYS = {
    ("cusal", "cells"): cusal_cells,
    ("faiss-cpu", "cells"): faiss_cells,
    ("faiss-cpu", "graph"): faiss_graph,
    ("hnswlib", "graph"): hnswlib_graph,
    ("pynndescent", "descent"): descent,
}


if __name__ == "__main__":
    main()
