"""The folders that cusal keeps files in: one for what can be computed or downloaded again."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder of what can be computed again: that of CUSAL_CACHE, else the user's cache folder."""
    return chosen_folder(os.environ.get("CUSAL_CACHE"))


def chosen_folder(folder: str | Path | None) -> Path:
    """Return `folder` where one is named, else cusal's folder in the user's cache."""
    if folder:
        return Path(folder).expanduser()
    try:
        import pooch
    except ImportError:
        return Path.home() / ".cache" / "cusal"
    return Path(pooch.os_cache("cusal"))
