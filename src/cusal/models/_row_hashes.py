"""Rows of a matrix told apart by their content: a number of 64 bits for each, at the speed of reading them.

Equal rows have equal numbers, whether they are kept in float32 or float64 and wherever they lie. Two different rows
share one with a probability of about 2**-64. Sparse rows are compared as float32.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

Hashes = NDArray[np.uint64]

BLOCK = 1 << 20  # numbers that are mixed together, so that copies of them stay small
STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # of splitmix64 (Steele, Lea and Flood 2014)
LAST_SHIFT = 31


def row_hashes(X: Any) -> Hashes:
    """Return a number for each row of a dense or CSR matrix of floats, (n,)."""
    rng = np.random.default_rng(0)
    if issparse(X):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        # Each row is summed by itself and in the order of its columns, so that its sum is the same in any matrix. In
        # float32, since scikit-learn's fit_transform and transform of one text differ in the last bit of float64.
        sums: NDArray[np.float64] = X.astype(np.float32).astype(np.float64) @ rng.random(X.shape[1]) + 0.0
        return _scattered(sums.view(np.uint64).copy())
    offsets = rng.integers(2**64, size=X.shape[1], dtype=np.uint64)
    hashes = np.empty(len(X), dtype=np.uint64)
    step = max(1, BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        block = slice(start, start + step)
        hashes[block] = _mixed(X[block], offsets)
    return hashes


def _mixed(X: NDArray[np.floating[Any]], offsets: Hashes) -> Hashes:
    # Adding zero makes one of the two zeros. Whole numbers differ in their first bits alone: an offset for each column
    # and a full mix spread that over all bits, where a product would push it out at the top.
    bits = np.ascontiguousarray(X.astype(np.float64) + 0.0).view(np.uint64)
    total: Hashes = _scattered(bits + offsets).sum(axis=1, dtype=np.uint64)
    return total


def _scattered(bits: Hashes) -> Hashes:
    """Return numbers of which every bit depends on all bits of the values that they came from."""
    for shift, factor in STEPS:
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(LAST_SHIFT)
    return bits


def fingerprint(hashes: Hashes) -> tuple[int, int, int]:
    """Return what tells one set of rows from another, in whatever order they are."""
    return len(hashes), int(hashes.sum(dtype=np.uint64)), int(np.bitwise_xor.reduce(hashes))
