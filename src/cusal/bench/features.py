"""Images as frozen features of a pretrained network: computed once, kept in a cache, shared by all runs.

A small head on such features learns in a second what a whole network learns in minutes. The features of the train split
have mean 0 and deviation 1, one by one; the test split is scaled with the same numbers. No label is used.

A file of the cache is named by what defines it: data set, network, side, and a digest of all the data. While they are
computed, finished rows wait in a `.part` file, so that a computation that was stopped goes on where it was; a lock lets
the processes that need the same features wait for the one that computes them.
"""

import hashlib
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_count
from cusal._folders import cache_folder
from cusal.datasets import Dataset, Items
from cusal.datasets.formats.image_folder import ImageFolder
from cusal.errors import CusalError, DataError, InvalidInput, MissingExtra, UnknownName

NETWORKS = ("efficientnet_lite0",)
WIDTH = 1280
DEFAULT_SIDE = 96
SMALLEST_SIDE = 32  # the network halves the image five times
FORMAT = 1  # part of the digest: a change of how features are computed gives them other names
TILE_PIXELS = 1 << 18  # of images that go through the network together, so that its layers stay in the cache
ROWS = 4096  # that are scaled together
SECONDS_BETWEEN_LINES = 10.0

Floats = NDArray[np.float32]


def check_features(name: str, **settings: Any) -> None:
    """Complain about features or settings that there are none of, without loading torch."""
    if name not in NETWORKS:
        raise UnknownName("features", name, NETWORKS)
    for key in settings:
        if key not in ("side", "per_class"):
            raise UnknownName(f"setting of {name}", key, ["name", "side", "per_class"])
    as_count(settings.get("side", DEFAULT_SIDE), "side", least=SMALLEST_SIDE)
    as_count(settings.get("per_class", 1), "per_class")


def featured(data: Dataset, features: dict[str, Any]) -> Dataset:
    """Give a data set of images with their features as items, (n, 1280) float32, read-only and mapped from disk.

    `features` has the `name` of the network and perhaps `side`, to which images are resized, and `per_class`, how many
    images of each class there are to be at most in either split. What the cache lacks is computed first.
    """
    check_features(**features)
    _check_images(data)
    if "per_class" in features:
        data = _thinned(data, features["per_class"])
    place = _Place(cache_folder(), data, features["name"], features.get("side", DEFAULT_SIDE))
    train, test = place.open("train"), place.open("test")
    if train is None or test is None:
        _fill(place)
        train, test = place.open("train"), place.open("test")
    if train is None or test is None:
        raise DataError(f"the features of {data.name} vanished from {place.base.parent}; start again.")
    return replace(data, train=train, test=test)


def _thinned(data: Dataset, per_class: int) -> Dataset:
    """Give the data set with at most so many images of each class, evenly spaced among those that there are."""
    kept = {}
    for split, labels in (("train", data.train_labels), ("test", data.test_labels)):
        members = (np.flatnonzero(labels == number) for number in range(len(data.classes)))
        rows = [some[np.linspace(0, len(some) - 1, min(per_class, len(some))).round().astype(int)] for some in members]
        kept[split] = np.sort(np.concatenate(rows))
    train, test = kept["train"], kept["test"]
    return replace(
        data,
        train=_some(data.train, train),
        train_labels=data.train_labels[train],
        test=_some(data.test, test),
        test_labels=data.test_labels[test],
    )


def _some(items: Items, rows: NDArray[np.int64]) -> Items:
    if isinstance(items, ImageFolder):
        return replace(items, paths=tuple(items.paths[row] for row in rows))
    return items[rows]  # type: ignore[no-any-return]


class _Place:
    """Where the features of a data set are kept, and under which names."""

    def __init__(self, folder: Path, data: Dataset, network: str, side: int) -> None:
        self.data, self.side = data, side
        digest = hashlib.blake2b(f"{FORMAT} {network} {side}".encode(), digest_size=6)
        for items in (data.train, data.test):
            _digest(items, digest)
        title = re.sub(r"\W+", "_", Path(data.name).stem)
        self.base = folder / "features" / f"{title}-{network}-{side}-{digest.hexdigest()}"

    def file(self, split: str, suffix: str = "npy") -> Path:
        """Give the path of one split's features."""
        return self.base.with_name(f"{self.base.name}-{split}.{suffix}")

    def open(self, split: str) -> Floats | None:
        """Give the features of a split where the cache has them, whole; None where they must be computed."""
        path = self.file(split)
        expected = (len(getattr(self.data, split)), WIDTH)
        try:
            found = np.load(path, mmap_mode="r", allow_pickle=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, EOFError) as error:
            why = str(error)
        else:
            if found.shape == expected and found.dtype == np.float32:
                return np.asarray(found)
            why = f"{found.dtype} of shape {found.shape}, expected float32 of {expected}"
        print(f"{path} is damaged ({why}); computing it again.", file=sys.stderr, flush=True)
        with suppress(OSError):
            path.unlink()
        return None


def _fill(place: _Place) -> None:
    """Compute the features of both splits and keep them; one process at a time."""
    try:
        import filelock  # comes with torch
        import torch  # noqa: F401
    except ImportError as error:
        raise MissingExtra("computing features", "images,torch") from error
    try:
        place.base.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(f"{place.base}.lock"):
            if place.open("train") is None or place.open("test") is None:
                _compute(place)
    except CusalError:
        raise
    except OSError as error:
        raise DataError(
            f"cannot keep features in {place.base.parent}: {error}; make room there, or let CUSAL_CACHE name a folder."
        ) from error


def _compute(place: _Place) -> None:
    _extract(place)
    counts = {"train": len(place.data.train), "test": len(place.data.test)}
    raw = {name: np.memmap(place.file(name, "part"), np.float32, "r", shape=(n, WIDTH)) for name, n in counts.items()}
    mean, deviation = _moments(raw["train"])
    for split, rows in raw.items():
        scaled = place.file(split, f"{os.getpid()}.tmp")
        try:
            target = np.lib.format.open_memmap(scaled, "w+", np.float32, rows.shape)
            for tile in _tiles(len(rows), ROWS):
                target[tile] = (rows[tile] - mean) / deviation
            target.flush()
            os.replace(scaled, place.file(split))
        finally:
            scaled.unlink(missing_ok=True)
    for split in counts:
        place.file(split, "part").unlink()


def _extract(place: _Place) -> None:
    """Complete the files of raw features, float32 without header, from wherever they end."""
    import torch

    from cusal.features.efficientnet import load_pretrained, prepare

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network, data, side = load_pretrained().to(device), place.data, place.side
    told = _Told(data.name, len(data.train) + len(data.test))
    low, high = pixel_range(data.train)
    for split, items in (("train", data.train), ("test", data.test)):
        with place.file(split, "part").open("ab") as part:
            done = min(part.tell() // (4 * WIDTH), len(items))
            part.truncate(done * 4 * WIDTH)
            told.resume(done)
            for tile in _tiles(len(items), max(1, TILE_PIXELS // side**2), first=done):
                pixels = as_pixels(items[tile], low, high)
                with torch.inference_mode():
                    rows = network.features(prepare(torch.from_numpy(pixels).to(device), side))
                part.write(rows.contiguous().cpu().numpy().tobytes())
                told.advance(len(rows))


def pixel_range(items: Items) -> tuple[Floats, Floats]:
    """Give what black and white are in each channel of normalised images, (channels,).

    Images in memory: the darkest and the brightest value of each channel, which are 0 and 255 in any real collection.
    """
    if isinstance(items, ImageFolder):
        mean, deviation = np.array(items.mean, np.float32), np.array(items.deviation, np.float32)
        return -mean / deviation, (1 - mean) / deviation
    values = np.asarray(items)
    return values.min((0, 2, 3)), values.max((0, 2, 3))


def as_pixels(images: Floats, low: Floats, high: Floats) -> Floats:
    """Give normalised images as 0 .. 255, (n, 3, height, width); one channel is repeated."""
    span = np.where(high > low, high - low, 1)[:, None, None]
    pixels = np.float32(255) * ((images - low[:, None, None]) / span).astype(np.float32)
    return np.repeat(pixels, 3, axis=1) if pixels.shape[1] == 1 else pixels


def _moments(rows: Floats) -> tuple[Floats, Floats]:
    """Give mean and deviation of each column, in one pass; a column that never changes has deviation 1."""
    total, squares = np.zeros(WIDTH), np.zeros(WIDTH)
    for tile in _tiles(len(rows), ROWS):
        values = rows[tile].astype(np.float64)
        total += values.sum(0)
        squares += (values**2).sum(0)
    mean = total / len(rows)
    deviation = np.sqrt(np.maximum(squares / len(rows) - mean**2, 0))
    return mean.astype(np.float32), np.where(deviation > 1e-6, deviation, 1).astype(np.float32)


def _tiles(count: int, size: int, *, first: int = 0) -> Iterator[slice]:
    return (slice(start, min(start + size, count)) for start in range(first, count, size))


def _digest(items: Items, digest: Any) -> None:
    """Let a digest depend on all images: their bytes, or the names and sizes of their files."""
    digest.update(repr(items.shape).encode())
    if isinstance(items, ImageFolder):
        digest.update(repr((items.mean, items.deviation, items.side, items.crop)).encode())
        for path in map(Path, items.paths):
            digest.update(f"{path.parent.name}/{path.name} {path.stat().st_size}\n".encode())
    else:
        digest.update(np.ascontiguousarray(items).data)


def _check_images(data: Dataset) -> None:
    shape = data.train.shape[1:]
    if len(shape) != 3 or shape[0] not in (1, 3):
        raise InvalidInput(
            f"the items of {data.name} have shape {shape}; features need images, (1 or 3, height, width): "
            "leave features out."
        )


class _Told:
    """How far a computation is: a line on standard error every ten seconds, none for a short one."""

    def __init__(self, name: str, total: int) -> None:
        self.name, self.total, self.done, self.fresh = name, total, 0, 0
        self.begun = self.last = time.monotonic()

    def resume(self, rows: int) -> None:
        """Count rows that were there before."""
        self.done += rows

    def advance(self, rows: int) -> None:
        """Count rows, and tell of them when it is time to."""
        from cusal.bench.progress import duration  # not above: the progress of runs imports the runs, which import this

        self.done += rows
        self.fresh += rows
        now = time.monotonic()
        if now - self.last >= SECONDS_BETWEEN_LINES:
            self.last = now
            left = (self.total - self.done) * (now - self.begun) / self.fresh
            line = f"features of {self.name}: {self.done:,} of {self.total:,} images, left {duration(left)}"
            print(line, file=sys.stderr, flush=True)
