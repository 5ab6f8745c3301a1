"""Hashes that depend on the content of an item, not on its position or storage type."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_array
from cusal._items import count_items, is_sparse, take

TILE = 256  # items that are read together: items on disk are never all in memory
LOOKED_AT = 512  # items of a data set that is not in memory


def content_keys(X: Any, seed: int = 0) -> NDArray[np.uint64]:
    """Return a number below 2**64 for each item, (n,), which depends only on its content and the seed.

    Items of equal content have equal numbers, whether they are stored as float32 or as float64.
    """
    keyed = hashlib.blake2b(digest_size=8, key=str(seed).encode())
    keys = np.empty(count_items(X), dtype=np.uint64)
    for start in range(0, len(keys), TILE):
        rows = take(X, slice(start, start + TILE))
        tile = rows.toarray() if is_sparse(rows) else as_array(rows)
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


def fingerprint(items: Any) -> str:
    """Return a digest of the content of the items, in their order, to recognise them later.

    Items in memory are read completely. Of items on disk, and of data sets that take one integer at a time, `LOOKED_AT`
    are read.
    """
    digest = hashlib.blake2b(str(count_items(items)).encode(), digest_size=16)
    if hasattr(items, "indptr"):  # sparse
        for part in (items.data, items.indices, items.indptr):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()
    if hasattr(items, "detach"):
        items = as_array(items)
    in_memory = isinstance(items, np.ndarray | list | tuple) or hasattr(items, "iloc") or hasattr(items, "to_numpy")
    rows = np.arange(count_items(items))
    if not in_memory and len(rows) > LOOKED_AT:
        rows = np.linspace(0, len(rows) - 1, LOOKED_AT).astype(np.int64)
    for start in range(0, len(rows), TILE):
        tile = take(items, rows[start : start + TILE])
        for content in _item_contents(tile):
            digest.update(content)
    return digest.hexdigest()


def _item_contents(tile: Any) -> list[bytes]:
    """Return the content of each item as bytes; an item other than an array, text or record has none."""
    if isinstance(tile, list | tuple):
        return [_object_content(item) for item in tile]
    return _contents(as_array(tile[:] if getattr(tile, "lazy", False) else tile))


def _object_content(item: Any) -> bytes:
    if hasattr(item, "tobytes"):  # an array, or an image of Pillow
        return bytes(item.tobytes())
    return repr(item).encode() if isinstance(item, str | bytes | int | float | tuple | list | dict) else b""
