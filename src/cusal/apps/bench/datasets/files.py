"""Where data files lie, and reading them whole or not at all."""

import gzip
import os
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal._files import chosen_folder
from cusal.apps.bench.datasets.dataset import Labels, Source
from cusal.errors import DataError


def data_folder(folder: str | Path | None = None) -> Path:
    """Return the folder of all data sets.

    Parameters
    ----------
    folder : str or Path, optional
        The folder to use. By default the one that the environment variable CUSAL_DATA names, else the user's cache
        folder.

    Returns
    -------
    Path
        The folder, which need not exist.

    Examples
    --------
    >>> data_folder("somewhere").name
    'somewhere'
    """
    return chosen_folder(os.environ.get("CUSAL_DATA") if folder is None or str(folder) == "" else folder)


def missing(source: Source, folder: Path) -> list[str]:
    """Return the files that `folder` lacks: none when a form is complete, else those of the fullest form."""
    gaps = [[name for name in form if not (folder / name).exists()] for form in source.forms]
    return next((gap for gap in gaps if not gap), gaps[_fullest(source, gaps)])


def _fullest(source: Source, gaps: list[list[str]]) -> int:
    """Return the form with the most files there; the first one when there is nothing at all."""
    there = [len(form) - len(gap) for form, gap in zip(source.forms, gaps, strict=True)]
    return there.index(max(there))


def find_form(name: str, source: Source, folder: Path) -> tuple[Path, ...]:
    """Return the paths of the first complete form in `folder`; raise an error that names what is missing there."""
    gap = missing(source, folder)
    if gap:
        remedy = source.advice or f"run: cusal data get {name}"
        raise DataError(
            f"{name}: {', '.join(gap)} not found in {folder}; {remedy}, put the files there as published, "
            "or name the folder of your data sets in CUSAL_DATA."
        )
    form = next(form for form in source.forms if all((folder / part).exists() for part in form))
    return tuple(folder / part for part in form)


def read_bytes(path: Path) -> bytes:
    """Return the whole content of a file, unpacked when its name ends in .gz."""
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
    """Return the error for a file that is truncated or not what its name says."""
    return DataError(f"{path} is corrupt or truncated: {found.rstrip('.')}; replace it with a fresh copy.")


def as_classes(values: NDArray[np.integer], path: Path, *, count: int, classes: int) -> Labels:
    """Return labels read from `path` as int64, one for each of `count` items and within 0 .. classes - 1."""
    if len(values) != count:
        raise corrupt(path, f"it holds {len(values)} labels for {count} items")
    bad = (values < 0) | (values >= classes)
    if bad.any():
        row = int(np.argmax(bad))
        raise corrupt(path, f"label {row} is {values[row]}, expected 0 to {classes - 1}")
    return values.astype(np.int64)
