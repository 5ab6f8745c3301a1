"""A folder that appears with all its files, or not at all."""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cusal._files import bring_to_disk, writing
from cusal.errors import DataError


@contextmanager
def new_folder(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a hidden folder to write to, which becomes `folder` when all went well and is gone otherwise.

    A folder that is there already, and not empty, is an error unless `force` replaces it.
    """
    with writing(folder):
        if not force and folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise DataError(f"{folder} is there already; choose another name with --out, or replace it with --force.")
        if force and folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} is a file; expected a folder, or none: choose another name with --out.")
        part = folder.with_name(f".{folder.name}.{uuid.uuid4().hex[:8]}")
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.mkdir()
            yield part
            bring_to_disk(part)
            _put(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _put(part: Path, folder: Path) -> None:
    old = part.with_name(f"{part.name}.old")
    if folder.exists():
        os.replace(folder, old)
    os.replace(part, folder)
    shutil.rmtree(old, ignore_errors=True)


def dated_folder(beside: Path, name: str, day: str) -> Path:
    """Return a folder that is not there yet, named after what it holds and the day."""
    folder, number = beside / f"{name}-export-{day}", 1
    while folder.exists():
        number += 1
        folder = beside / f"{name}-export-{day}-{number}"
    return folder
