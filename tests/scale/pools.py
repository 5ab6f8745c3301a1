"""Pools for the tests of this folder: probabilities with ties, written in every form that can be read."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KINDS = ("npy", "npy by column", "npz", "npz compressed", "list", "fixed list", "columns")
PRECISIONS = ("float16", "three decimals", "float32", "float64")


class Pool(NamedTuple):
    probs: np.ndarray
    reference: np.ndarray
    labels: np.ndarray


def make_pool(rows: int = 700, classes: int = 4, *, dtype: str = "float32", seed: int = 0) -> Pool:
    """Some rows lie near labelled ones, some are unsupported, and some are equal."""
    rng = np.random.default_rng(seed)
    reference = rng.dirichlet(np.full(classes, 0.4), 60)
    near = np.abs(reference[rng.integers(60, size=rows)] + rng.normal(0, 0.01, (rows, classes)))
    probs = np.where(rng.random((rows, 1)) < 0.8, near, rng.dirichlet(np.ones(classes), rows)) + 1e-6
    probs /= probs.sum(axis=1, keepdims=True)
    probs[rng.integers(rows, size=rows // 10)] = probs[rng.integers(rows, size=rows // 10)]
    return Pool(probs.astype(dtype), reference.astype(dtype), rng.integers(classes, size=60))


def rough_pool(precision: str, classes: int = 4) -> Pool:
    """Return a pool as files often hold it: rows that sum to one, and rows that only nearly do."""
    pool = make_pool(classes=classes, dtype="float64")
    if precision == "three decimals":
        return Pool(np.round(pool.probs, 3), np.round(pool.reference, 3), pool.labels)
    return Pool(pool.probs.astype(precision), pool.reference.astype(precision), pool.labels)


def write_part(folder: Path, name: str, kind: str, probs: np.ndarray, ids: object = None) -> Path:
    """Write one part and return its path; row groups hold 100 rows."""
    path = folder / f"{name}.{kind[:3] if kind.startswith('np') else 'parquet'}"
    if kind.startswith("npy"):
        np.save(path, np.asfortranarray(probs) if "column" in kind else probs)
    elif kind.startswith("npz"):
        write = np.savez_compressed if "compressed" in kind else np.savez
        write(path, probs=probs, **({} if ids is None else {"ids": ids}))
    else:
        pq.write_table(as_table(kind, probs, ids), path, row_group_size=100)
    return path


def as_table(kind: str, probs: np.ndarray, ids: object = None) -> pa.Table:
    if kind == "columns":
        columns = {f"p{k}": probs[:, k] for k in range(probs.shape[1])}
    elif kind == "fixed list":
        columns = {"probs": pa.FixedSizeListArray.from_arrays(pa.array(probs.ravel()), probs.shape[1])}
    else:
        columns = {"probs": pa.array(list(probs))}
    return pa.table(columns if ids is None else {**columns, "id": ids})


def write_labelled(folder: Path, pool: Pool) -> Path:
    path = folder / "labelled.npz"
    np.savez(path, probs=pool.reference, labels=pool.labels)
    return path
