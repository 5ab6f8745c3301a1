"""Files that are written whole or not at all."""

import os
import uuid
from pathlib import Path


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
