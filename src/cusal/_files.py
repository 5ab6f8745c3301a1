"""Files that are written completely or not at all."""

import os
import uuid
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it holds the old or the new content at every moment, even if the process is killed."""
    target = Path(path)
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
