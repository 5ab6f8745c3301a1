"""Where data files lie, and reading them whole or not at all."""

import gzip
import os
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal.datasets.dataset import Labels, Source
from cusal.errors import DataError


def data_folder(folder: str | Path | None = None) -> Path:
    """Give the folder of all data sets: `folder`, else CUSAL_DATA's, else the user's cache folder."""
    return _chosen(folder or os.environ.get("CUSAL_DATA"))


def cache_folder() -> Path:
    """Give the folder of what can be computed again: CUSAL_CACHE's, else the user's cache folder."""
    return _chosen(os.environ.get("CUSAL_CACHE"))


def _chosen(folder: str | Path | None) -> Path:
    if folder:
        return Path(folder).expanduser()
    try:
        import pooch
    except ImportError:
        return Path.home() / ".cache" / "cusal"
    return Path(pooch.os_cache("cusal"))


def missing(source: Source, folder: Path) -> list[str]:
    """Give the files that `folder` lacks: none when a form is complete, else those of the fullest form."""
    gaps = [[name for name in form if not (folder / name).exists()] for form in source.forms]
    return next((gap for gap in gaps if not gap), gaps[_fullest(source, gaps)])


def _fullest(source: Source, gaps: list[list[str]]) -> int:
    """Give the form with the most files there; the first one when there is nothing at all."""
    there = [len(form) - len(gap) for form, gap in zip(source.forms, gaps, strict=True)]
    return there.index(max(there))


def find_form(name: str, source: Source, folder: Path) -> tuple[Path, ...]:
    """Give the paths of the first complete form in `folder`, or an error that names what is missing there."""
    gap = missing(source, folder)
    if gap:
        remedy = source.advice or f"run: cusal data get {name}"
        raise DataError(
            f"{name}: {', '.join(gap)} not found in {folder}; {remedy}, put the files there as published, "
            "or let CUSAL_DATA name the folder of your data sets."
        )
    form = next(form for form in source.forms if all((folder / part).exists() for part in form))
    return tuple(folder / part for part in form)


def read_bytes(path: Path) -> bytes:
    """Give the whole content of a file, unpacked when its name ends in .gz."""
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from error
    if path.suffix != ".gz":
        return packed
    try:
        return gzip.decompress(packed)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise corrupt(path, str(error)) from error


def corrupt(path: Path, found: str) -> DataError:
    """Give the error for a file that is truncated or not what its name says."""
    return DataError(f"{path} is corrupt or truncated: {found.rstrip('.')}; replace it with a fresh copy.")


def as_classes(values: NDArray[np.integer], path: Path, *, count: int, classes: int) -> Labels:
    """Give labels read from `path` as int64, one for each of `count` items and within 0 .. classes - 1."""
    if len(values) != count:
        raise corrupt(path, f"it holds {len(values)} labels for {count} items")
    bad = (values < 0) | (values >= classes)
    if bad.any():
        row = int(np.argmax(bad))
        raise corrupt(path, f"label {row} is {values[row]}, expected 0 to {classes - 1}")
    return values.astype(np.int64)
