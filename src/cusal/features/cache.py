"""Features on disk: computed once, shared by all processes that need them.

A file of the cache is named by what defines it: title, network, side, and a digest of all images. While they are
computed, finished rows wait in a `.part` file, so that a computation that was stopped resumes where it was; a lock
makes the processes that need the same features wait for the one that computes them.

The features of the first split have mean 0 and standard deviation 1, one by one; the others are scaled with the same
numbers.
"""

import hashlib
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from cusal._files import cache_folder, load_array
from cusal._progress import Progress
from cusal.errors import CusalError, DataError, MissingExtra
from cusal.features.images import WIDTH, Extractor, Images, Vectors, pixel_range, tiles

FORMAT = 1  # part of the digest: a change of how features are computed gives them other names
ROWS = 4096  # that are scaled together


def cached_features(splits: Mapping[str, Images], *, title: str, network: str, side: int) -> dict[str, Vectors]:
    """Return the features of each split of a data set, (n, 1280) float32, read-only and mapped from disk.

    What the cache lacks is computed first. `title` is the name of the data set or the path of its file.
    """
    place = _Place(splits, title=title, network=network, side=side)
    found = place.open_all()
    if found is None:
        _fill(place)
        found = place.open_all()
    if found is None:
        raise DataError(f"the features of {title} vanished from {place.base.parent}; start again.")
    return found


class _Place:
    """Where the features of a data set are kept, and under which names."""

    def __init__(self, splits: Mapping[str, Images], *, title: str, network: str, side: int) -> None:
        self.splits, self.title, self.side = splits, title, side
        digest = hashlib.blake2b(f"{FORMAT} {network} {side}".encode(), digest_size=6)
        for items in splits.values():
            _digest(items, digest)
        stem = re.sub(r"\W+", "_", Path(title).stem)
        self.base = cache_folder() / "features" / f"{stem}-{network}-{side}-{digest.hexdigest()}"

    def file(self, split: str, suffix: str = "npy") -> Path:
        """Return the path of one split's features."""
        return self.base.with_name(f"{self.base.name}-{split}.{suffix}")

    def open_all(self) -> dict[str, Vectors] | None:
        """Return the features of every split; None where the cache lacks one of them."""
        found = {split: self._open(split) for split in self.splits}
        whole = {split: rows for split, rows in found.items() if rows is not None}
        return whole if len(whole) == len(found) else None

    def _open(self, split: str) -> Vectors | None:
        path = self.file(split)
        expected = (len(self.splits[split]), WIDTH)
        if not os.path.lexists(path):
            return None
        try:
            found = load_array(path, mapped=True)
        except DataError as error:
            why = str(error)
        else:
            if found.shape == expected and found.dtype == np.float32:
                return np.asarray(found)
            why = f"{found.dtype} of shape {found.shape}, expected float32 of {expected}"
        print(f"{path} is damaged ({why}); computing it again.", file=sys.stderr, flush=True)
        with suppress(OSError):
            path.unlink()
        return None


def _digest(items: Images, digest: Any) -> None:
    """Add all images to a digest: their bytes, or what their files say of themselves."""
    digest.update(repr(items.shape).encode())
    if hasattr(items, "add_to_digest"):
        items.add_to_digest(digest)
    else:
        digest.update(np.ascontiguousarray(items).data)


def _fill(place: _Place) -> None:
    """Compute the features of all splits and keep them; one process at a time."""
    try:
        import filelock
        import torch  # noqa: F401
    except ImportError as error:
        raise MissingExtra("computing features", "images,torch") from error
    try:
        place.base.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(f"{place.base}.lock"):
            if place.open_all() is None:
                _compute(place)
    except CusalError:
        raise
    except OSError as error:
        raise DataError(
            f"cannot keep features in {place.base.parent}: {error}; make room there, or name a folder in CUSAL_CACHE."
        ) from error


def _compute(place: _Place) -> None:
    _extract(place)
    raw = {
        split: np.memmap(place.file(split, "part"), np.float32, "r", shape=(len(items), WIDTH))
        for split, items in place.splits.items()
    }
    mean, deviation = _moments(next(iter(raw.values())))
    for split, rows in raw.items():
        scaled = place.file(split, f"{os.getpid()}.tmp")
        try:
            target = np.lib.format.open_memmap(scaled, "w+", np.float32, rows.shape)
            for tile in tiles(len(rows), ROWS):
                target[tile] = (rows[tile] - mean) / deviation
            target.flush()
            os.replace(scaled, place.file(split))
        finally:
            scaled.unlink(missing_ok=True)
    for split in raw:
        place.file(split, "part").unlink()


def _extract(place: _Place) -> None:
    """Complete the files of raw features, float32 without header, from wherever they end."""
    extractor = Extractor(place.side, pixel_range(next(iter(place.splits.values()))))
    total = sum(map(len, place.splits.values()))
    with Progress(total, title=f"features of {place.title}", unit="images", always=False) as progress:
        for split, items in place.splits.items():
            with place.file(split, "part").open("ab") as part:
                done = min(part.tell() // (4 * WIDTH), len(items))
                part.truncate(done * 4 * WIDTH)
                progress.resume(done)
                for rows in extractor.vectors(items, first=done):
                    part.write(rows.tobytes())
                    progress.advance(len(rows))


def _moments(rows: Vectors) -> tuple[Vectors, Vectors]:
    """Return mean and standard deviation of each column, in one pass; 1 for a column that never changes."""
    total, squares = np.zeros(WIDTH), np.zeros(WIDTH)
    for tile in tiles(len(rows), ROWS):
        values = rows[tile].astype(np.float64)
        total += values.sum(0)
        squares += (values**2).sum(0)
    mean = total / len(rows)
    deviation = np.sqrt(np.maximum(squares / len(rows) - mean**2, 0))
    return mean.astype(np.float32), np.where(deviation > 1e-6, deviation, 1).astype(np.float32)
