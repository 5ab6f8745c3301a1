"""Vectors on disk, one by one, found by a digest of the content that they were computed from.

A file of SQLite holds the vectors of one network. What was computed is kept chunk by chunk, so that a computation that
was stopped resumes where it was, and items that come up again in another list, another folder or another order are
not computed again. Several processes may use the file at once.

    vectors(digest, row)              row: float32, little-endian
    files(path, size, changed, digest)    the digest of a file that has not changed since need not be computed again
"""

import hashlib
import os
import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cusal._files import cache_folder
from cusal.errors import DataError

Vectors = NDArray[np.float32]

DIGEST_BYTES = 16
AT_ONCE = 500  # digests in one query: SQLite takes 999 at least
WAIT = 60.0  # seconds for another process that writes
TABLES = (
    "CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, row BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, size INTEGER, changed INTEGER, digest BLOB NOT NULL)",
)


class FileState(NamedTuple):
    """What tells that a file is still the same: its path, its size and when it was changed, in nanoseconds."""

    path: str
    size: int
    changed: int

    @classmethod
    def of(cls, path: str) -> Self:
        """Return the state of a file; an `OSError` says that it cannot be read."""
        found = os.stat(path)
        return cls(os.path.abspath(path), found.st_size, found.st_mtime_ns)


def digest_of(content: bytes) -> bytes:
    """Return what identifies some content."""
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


class VectorCache:
    """The vectors of one network on disk, in the folder that `CUSAL_CACHE` names.

    Parameters
    ----------
    name : str
        Of the network and everything else that the vectors depend on, such as "minilm-1".
    width : int
        Numbers in a vector.
    """

    def __init__(self, name: str, width: int) -> None:
        self.path, self.width = cache_folder() / "features" / f"{name}.db", width
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _cannot_keep(self.path, error) from error
        self._turn = threading.Lock()  # of the threads that decode and those that compute
        self._connection = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def find(self, digests: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Return the vectors that are there, by digest."""
        found: dict[bytes, Vectors] = {}
        with self._speaking() as connection:
            for some in _chunks(list(dict.fromkeys(digests)), AT_ONCE):
                query = f"SELECT digest, row FROM vectors WHERE digest IN ({','.join('?' * len(some))})"
                for digest, row in connection.execute(query, some):
                    if len(row) == 4 * self.width:
                        found[bytes(digest)] = np.frombuffer(row, dtype="<f4")
        return found

    def keep(self, digests: Sequence[bytes], rows: Vectors) -> None:
        """Write vectors (n, width), all of them or none."""
        content = [(digest, row.astype("<f4").tobytes()) for digest, row in zip(digests, rows, strict=True)]
        with self._speaking() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", content)

    def known_files(self, states: Iterable[FileState]) -> dict[str, bytes]:
        """Return the digests of the files that have not changed since they were kept, by path."""
        known: dict[str, bytes] = {}
        with self._speaking() as connection:
            for some in _chunks(list(states), AT_ONCE):
                query = f"SELECT * FROM files WHERE path IN ({','.join('?' * len(some))})"
                stored = {row[0]: row for row in connection.execute(query, [state.path for state in some])}
                known |= {s.path: bytes(stored[s.path][3]) for s in some if stored.get(s.path, ())[:3] == tuple(s)}
        return known

    def remembered_files(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the digests that files had when they were last seen, by path, whether they are still there or not."""
        known: dict[str, bytes] = {}
        with self._speaking() as connection:
            for some in _chunks([os.path.abspath(path) for path in paths], AT_ONCE):
                query = f"SELECT path, digest FROM files WHERE path IN ({','.join('?' * len(some))})"
                known |= {path: bytes(digest) for path, digest in connection.execute(query, some)}
        return known

    def keep_files(self, digests: dict[FileState, bytes]) -> None:
        """Write the digests of files."""
        content = [(*state, digest) for state, digest in digests.items()]
        with self._speaking() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", content)

    def _open(self) -> sqlite3.Connection:
        try:
            return self._prepared()
        except sqlite3.OperationalError as error:
            raise _cannot_keep(self.path, error) from error
        except sqlite3.DatabaseError as error:
            return self._start_over(error)

    def _prepared(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=WAIT, check_same_thread=False)
        try:
            connection.execute("PRAGMA synchronous=NORMAL").close()
            for table in TABLES:
                connection.execute(table).close()
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection

    def _start_over(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        """Return a connection to an empty file in place of a damaged one."""
        print(f"{self.path} is damaged ({error}); computing its vectors again.", file=sys.stderr, flush=True)
        for suffix in ("", "-journal"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        return self._prepared()

    @contextmanager
    def _speaking(self) -> Iterator[sqlite3.Connection]:
        with self._turn:
            try:
                yield self._connection
            except sqlite3.OperationalError as error:
                raise _cannot_keep(self.path, error) from error
            except sqlite3.DatabaseError as error:  # damaged: what was not found is computed again
                self._connection.close()
                self._connection = self._start_over(error)


def _chunks(values: list[Any], size: int) -> Iterator[list[Any]]:
    return (values[start : start + size] for start in range(0, len(values), size))


def _cannot_keep(path: Path, error: Exception) -> DataError:
    return DataError(
        f"cannot keep features in {path.parent}: {error}; make room there, or name a folder in CUSAL_CACHE."
    )
