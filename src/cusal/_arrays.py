"""Arrays from `.npy` and `.npz` files: what is there, or an error that names the file, however it is damaged.

NumPy parses the header of an array as Python, so that errors of the tokenizer and the parser come through. The zipfile
module raises its own errors for archives that require features it does not have.
"""

import io
import lzma
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._files import reading
from cusal.errors import CusalError, DataError

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
        raise DataError(f"{title} is damaged, or not what {writer} wrote ({reason}); write it again.") from error
