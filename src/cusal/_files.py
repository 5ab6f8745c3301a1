"""Files that are written completely or not at all."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from cusal._arguments import as_path
from cusal.errors import DataError


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it holds the old or the new content at every moment, even if the process is killed."""
    target = as_path(path)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}")  # not mkstemp: only the owner could read its files
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the file system into one that names what could not be written."""
    try:
        yield
    except DataError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(f"{path} cannot be written ({reason}); free some space, or choose another place.") from error
