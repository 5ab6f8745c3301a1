"""Files that are written completely or not at all, and errors of the file system that say what to do.

What is written goes to a hidden file or folder beside its place, is brought to the disk, and takes its place by one
call of the system. A full disk, a kill or a power cut leaves what was there before.
"""

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cusal._arguments import as_path
from cusal.errors import DataError

REMEDIES = {
    errno.ENOENT: "make the folder first",
    errno.ENOTDIR: "a part of the path is a file; choose another place",
    errno.EISDIR: "it is a folder; give the name of a file",
    errno.ENOSPC: "free some space, or choose another place",
    errno.EDQUOT: "free some space, or choose another place",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f), or choose another place",
    errno.EROFS: "choose a place that can be written",
    errno.EACCES: "choose a place that you may write to",
    errno.EPERM: "choose a place that you may write to",
    errno.ENAMETOOLONG: "choose a shorter name",
}


class Unwritable(DataError):
    """Raised for a file or folder that cannot be written, with the error of the system that was the cause."""

    def __init__(self, path: str | os.PathLike[str], cause: OSError) -> None:
        remedy = REMEDIES.get(cause.errno or 0, "free some space, or choose another place")
        super().__init__(f"{path} cannot be written ({cause.strerror or cause}); {remedy}.")
        self.cause = cause


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it holds the old or the new content at every moment, even if the process is killed."""
    with whole_file(path) as part:
        part.write_bytes(content)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a hidden file to write, which takes the place of `path` when all went well.

    Raises
    ------
    DataError
        If it cannot be written; the file that was there is as it was.
    """
    target = as_path(path)
    part = _beside(target)
    with writing(path):
        try:
            yield part
            bring_to_disk(part)
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def whole_files(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a hidden folder to write to, whose files take their places in `folder` when all of them are written.

    Other files of the folder stay. It is made if need be.
    """
    target = as_path(folder)
    with writing(folder):
        made = not target.exists()
        target.mkdir(parents=True, exist_ok=True)
        part = _beside(target / "files")
        try:
            part.mkdir()
            yield part
            _move_files(part, target)
        finally:
            shutil.rmtree(part, ignore_errors=True)
            if made and not any(target.iterdir()):
                target.rmdir()


def bring_to_disk(path: Path) -> None:
    """Wait until a file, or each file of a folder, is on the disk; a full disk may show only now."""
    for file in (one for one in path.rglob("*") if one.is_file()) if path.is_dir() else (path,):
        with file.open("rb") as opened:
            os.fsync(opened.fileno())


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the file system into one that names what could not be written.

    Where such blocks are nested, the outermost names what the user asked for, not a hidden file.
    """
    try:
        yield
    except Unwritable as error:
        raise Unwritable(path, error.cause) from error.cause
    except DataError:
        raise
    except OSError as error:
        raise Unwritable(path, error) from error


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the file system into one that names what could not be read."""
    try:
        yield
    except DataError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"there is no file {path}; check the name.") from error
    except OSError as error:
        remedy = "give the name of a file" if error.errno == errno.EISDIR else "check the file and the disk"
        raise DataError(f"{path} cannot be read ({error.strerror or error}); {remedy}.") from error


def _beside(target: Path) -> Path:
    if not target.name:
        raise DataError(f"{str(target)!r} names a folder; give the name of a file.")
    # Not mkstemp: only the owner could read its files. Not the whole name: it may have the length that is allowed.
    return target.with_name(f".{target.name[:40]}.{uuid.uuid4().hex}")


def _move_files(part: Path, folder: Path) -> None:
    bring_to_disk(part)
    for file in sorted(one for one in part.rglob("*") if one.is_file()):
        place = folder / file.relative_to(part)
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, place)
