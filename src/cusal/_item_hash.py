"""Numbers that depend on what an item holds, and not on where it lies or how it is kept."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_array
from cusal._items import take

TILE = 256  # items that are read together: items on disk are never all in memory


def content_keys(X: Any, seed: int = 0) -> NDArray[np.uint64]:
    """Give each item a number below 2**64 that depends on its content and the seed alone, (n,).

    Items of equal content have equal numbers; whether numbers are kept as float32 or float64 does not count.
    """
    keyed = hashlib.blake2b(digest_size=8, key=str(seed).encode())
    keys = np.empty(len(X), dtype=np.uint64)
    for start in range(0, len(X), TILE):
        tile = as_array(take(X, slice(start, start + TILE)))
        keys[start : start + len(tile)] = [_hash(keyed, content) for content in _contents(tile)]
    return keys


def _contents(values: NDArray[Any]) -> list[bytes]:
    if values.dtype.kind in "fiub":
        with np.errstate(over="ignore"):
            return [row.tobytes() for row in np.ascontiguousarray(values, dtype=np.float32)]
    return [repr(row).encode() for row in values.tolist()]


def _hash(keyed: Any, content: bytes) -> int:
    state = keyed.copy()
    state.update(content)
    return int.from_bytes(state.digest(), "little")
