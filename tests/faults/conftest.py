"""What goes wrong on real machines, also for tests that run as root: no space, and places that may not be written."""

import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

NOBODY = 65534


@pytest.fixture
def little_space() -> Callable[[int], AbstractContextManager[None]]:
    """A block in which no file can grow beyond some bytes, as on a disk that is full."""

    @contextmanager
    def limited(size: int) -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter; those of pytest are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="cusal-faults-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def powerless() -> Iterator[None]:
    """A block without the rights of root, to whom every file is open; what it imports must be imported before."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def read_only() -> Callable[[Path], AbstractContextManager[None]]:
    """A block in which a folder and all that is in it cannot be written."""

    @contextmanager
    def closed(folder: Path) -> Iterator[None]:
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        try:
            with powerless():
                yield
        finally:
            for path in (folder, *folder.rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)

    return closed
