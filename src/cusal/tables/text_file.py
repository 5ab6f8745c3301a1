"""A text file, also compressed, that knows how much of it has been read."""

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from cusal.errors import DataError


class TextFile:
    """A text file; with .gz at the end of its name, a compressed one.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._raw = path, io.BytesIO()
        self._size = os.path.getsize(path)

    _raw: BinaryIO

    @property
    def share(self) -> float | None:
        """How much of the file has been read, from 0 to 1."""
        return 1.0 if self._raw.closed else self._raw.tell() / max(self._size, 1)

    @contextmanager
    def opened(self, encoding: str, *, newline: str | None = None) -> Iterator[IO[str]]:
        """Open the file; letters that the encoding does not have are replaced."""
        with self.bytes() as file, io.TextIOWrapper(file, encoding, errors="replace", newline=newline) as text:
            yield text

    @contextmanager
    def bytes(self) -> Iterator[BinaryIO]:
        """Open the file as bytes, as they are before compression; errors of reading name the file."""
        try:
            with open(self._path, "rb") as self._raw:
                if self._path.suffix.lower() != ".gz":
                    yield self._raw
                else:
                    with gzip.GzipFile(fileobj=self._raw) as file:
                        yield cast(BinaryIO, file)
        except (OSError, EOFError, zlib.error) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{self._path} cannot be read ({error}); it may be cut short.") from error
