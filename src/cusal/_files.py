"""Files that are written whole or not at all."""

import os
import pickle
import uuid
from pathlib import Path
from typing import Any

from cusal.errors import DataError


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that a reader, or a kill at any moment, sees the old content or the new one."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}")  # not mkstemp: its files are for the owner alone
    try:
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_pickle(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write `content` as a pickle, whole or not at all."""
    write_whole(path, pickle.dumps(content, protocol=5))


def read_pickle(path: str | os.PathLike[str], *, kind: str) -> dict[str, Any]:
    """Give back what `write_pickle` wrote, if it is of this kind."""
    try:
        content = pickle.loads(Path(path).read_bytes())
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; expected one written by save().") from None
    except (
        pickle.UnpicklingError,
        EOFError,
        AttributeError,
        ImportError,
        IndexError,
        UnicodeDecodeError,
    ) as error:
        raise DataError(f"{path} cannot be read ({error}); expected a file written by save().") from error
    if not isinstance(content, dict) or content.get("kind") != kind:
        raise DataError(f"{path} is not a saved {kind}; expected a file written by save().")
    return content
