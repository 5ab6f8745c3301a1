"""The folder in which cusal keeps what can be computed or downloaded again."""

import os
from pathlib import Path

from cusal._arguments import as_path


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
