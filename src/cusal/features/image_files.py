"""Image files as the vectors of a pretrained network, computed once and kept on disk."""

import os
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import as_listed, as_path
from cusal._checks import as_count
from cusal._prefetch import read_ahead
from cusal._progress import Progress
from cusal._types import Indices
from cusal.errors import DataError, MissingExtra
from cusal.features.decoding import Unreadable, decode, smaller_side
from cusal.features.images import DEFAULT_SIDE, NETWORKS, WIDTH, Extractor, check_extractor, tiles
from cusal.features.vector_cache import FileState, VectorCache, Vectors, digest_of

FORMAT = 1  # part of the file's name: a change of how vectors are computed gives them another file
CHUNK = 256  # files that are read and kept together: what a stopped computation loses at most
DECODERS = 2  # threads at the least; with as many as cores, reading keeps up with a network that uses them all
LARGE_SIDE = 160  # of what the network sees of photographs
SMALL_IMAGE = 112  # pixels of the smaller side up to which an image has no more to show than DEFAULT_SIDE
LOOKED_AT = 64  # files whose size is looked at
BLACK, WHITE = np.zeros(3, dtype=np.float32), np.full(3, 255, dtype=np.float32)


@dataclass(frozen=True)
class ImageChunk:
    """The vectors of some of the files.

    rows, vectors: positions (some,) among the given paths, and their vectors (some, 1280).
    broken: why a file is no image, in a sentence, by its position. missing: positions of files that are not there.
    """

    rows: Indices
    vectors: Vectors
    broken: dict[int, str] = field(default_factory=dict)
    missing: tuple[int, ...] = ()


def image_vectors(paths: Sequence[str | os.PathLike[str]], *, side: int | None = None) -> Vectors:
    """Return the vectors of image files by EfficientNet-Lite0, which was trained on ImageNet.

    A small model on such vectors learns with some hundred labels what a whole network needs thousands for. Images are
    turned as their EXIF data say and resized to a square. About a hundredth of a second an image, once: `CUSAL_CACHE`
    names the folder that keeps the vector of each, by the content of its file. A computation that was stopped resumes
    where it was. They need the extras `images` and `torch`, and no network.

    Parameters
    ----------
    paths : sequence of paths
        Files of any format that Pillow reads. Of animations and documents the first image counts.
    side : int, optional
        Pixels of the square that the network sees, at least 32. By default 96 where most images are small (up to 112
        pixels), else 160. Vectors of different sides do not mix.

    Returns
    -------
    ndarray of shape (n, 1280), float32
        Not negative, and not scaled.

    Raises
    ------
    DataError
        If a file is missing or is no image; the message names it.
    MissingExtra
        If the packages that compute them are not installed.

    Examples
    --------
    ::

        paths = sorted(pathlib.Path("photos").rglob("*.jpg"))
        session = cusal.Session(cusal.features.image_vectors(paths))
    """
    given = [str(as_path(path, "paths")) for path in as_listed(paths, "paths")]
    side = None if side is None else as_count(side, "side", least=32)
    vectors = np.empty((len(given), WIDTH), dtype=np.float32)
    with Progress(len(given), title="features of images", unit="images", always=False) as progress:
        for chunk in stream_image_vectors(given, side=side or choose_side(given)):
            for row in chunk.missing:
                raise DataError(f"there is no file {given[row]}; leave it out, or correct its path.")
            for row, reason in chunk.broken.items():
                raise DataError(f"{given[row]} cannot be used: {reason} Leave it out.")
            vectors[chunk.rows] = chunk.vectors
            progress.advance(len(chunk.rows))
    return vectors


def choose_side(paths: Sequence[str]) -> int:
    """Return the side of the square that the network should see of these files, by the size of some of them."""
    some = np.unique(np.linspace(0, len(paths) - 1, min(len(paths), LOOKED_AT)).round().astype(int))
    sides = [side for side in (smaller_side(paths[row]) for row in some) if side is not None]
    return LARGE_SIDE if sides and statistics.median(sides) > SMALL_IMAGE else DEFAULT_SIDE


def stream_image_vectors(paths: Sequence[str], *, side: int, remembered: bool = False) -> Iterator[ImageChunk]:
    """Yield the vectors of image files in the order of the paths, until each has had its turn.

    A chunk is kept when it is yielded. The next one is read and decoded in other threads in the meantime. A file that
    is missing now has the vector of the time when it was there, if that is `remembered`.
    """
    check_extractor(NETWORKS[0], side)
    extractor: Extractor | None = None  # torch loads when it is first needed
    decoders = max(DECODERS, os.cpu_count() or 1)
    with VectorCache(f"images-{NETWORKS[0]}-{side}-{FORMAT}", WIDTH) as cache, ThreadPoolExecutor(decoders) as threads:
        for files in read_ahead(_read(paths, side, cache, threads)):
            if remembered:
                _remember(files, paths, cache)
            if extractor is None and any(file.pixels is not None for file in files.values()):
                extractor = _extractor(side)
            yield _completed(files, extractor, cache)


class _File(NamedTuple):
    """A file as it was read: its vector where that is on disk, else its pixels, or why it has none."""

    state: FileState | None  # None where there is no file
    digest: bytes = b""
    vector: Vectors | None = None
    pixels: NDArray[np.uint8] | None = None  # (3, side, side)
    broken: str = ""


def _read(
    paths: Sequence[str], side: int, cache: VectorCache, threads: ThreadPoolExecutor
) -> Iterator[dict[int, _File]]:
    """Yield chunks of files by their positions among the paths."""
    for tile in tiles(len(paths), CHUNK):
        states = list(threads.map(_state, paths[tile]))
        known = cache.known_files(state for state in states if state)
        stored = cache.find(list(known.values()))
        vectors = [stored.get(known.get(state.path, b"")) if state else None for state in states]
        opened = threads.map(partial(_open, side=side, cache=cache), states, vectors)
        yield dict(enumerate(opened, tile.start))


def _remember(files: dict[int, _File], paths: Sequence[str], cache: VectorCache) -> None:
    """Complete files that are missing by the vectors that they had."""
    gone = {row: os.path.abspath(paths[row]) for row, file in files.items() if file.state is None}
    digests = cache.remembered_files(gone.values())
    found = cache.find(list(digests.values()))
    for row, path in gone.items():
        files[row] = _File(None, vector=found.get(digests.get(path, b"")))


def _completed(files: dict[int, _File], extractor: Extractor | None, cache: VectorCache) -> ImageChunk:
    """Return a chunk with all its vectors, after keeping the new ones."""
    found = {row: file.vector for row, file in files.items() if file.vector is not None}
    new = {row: file for row, file in files.items() if file.pixels is not None}
    if extractor is not None and new:
        pixels = np.stack([file.pixels for file in new.values()])  # type: ignore[misc]
        computed = np.concatenate(list(extractor.vectors(pixels)))
        cache.keep([file.digest for file in new.values()], computed)
        found |= dict(zip(new, computed, strict=True))
    cache.keep_files({file.state: file.digest for file in files.values() if file.state and file.digest})
    rows = np.array(sorted(found), dtype=np.int64)
    return ImageChunk(
        rows,
        np.stack([found[row] for row in rows]) if found else np.empty((0, WIDTH), dtype=np.float32),
        {row: file.broken for row, file in files.items() if file.broken},
        tuple(row for row, file in files.items() if file.state is None),
    )


def _state(path: str) -> FileState | None:
    try:
        return FileState.of(path)
    except OSError:
        return None


def _open(state: FileState | None, vector: Vectors | None, *, side: int, cache: VectorCache) -> _File:
    if state is None or vector is not None:
        return _File(state, vector=vector)
    try:
        with open(state.path, "rb") as file:
            content = file.read()
        digest = digest_of(content)
        stored = cache.find([digest]).get(digest)
        return _File(state, digest, stored, decode(content, side) if stored is None else None)
    except FileNotFoundError:
        return _File(None)
    except Unreadable as error:
        return _File(state, broken=str(error))
    except OSError as error:
        return _File(state, broken=f"The file cannot be read ({error.strerror}).")


def _extractor(side: int) -> Extractor:
    try:
        return Extractor(side, (BLACK, WHITE))
    except ImportError as error:
        raise MissingExtra("computing features of images", "images,torch") from error
