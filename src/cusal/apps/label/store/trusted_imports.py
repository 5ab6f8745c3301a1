"""Which code people named for their projects: only that is imported, because importing and calling it runs it.

A project keeps the names of features and of a model of the user's own, "package.module:Name". A project of somebody
else could name any function of any module. So what this user names is remembered in the cache folder, and what a
project names besides is refused until it is named here. Classes of scikit-learn are anybody's.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from cusal._checks import is_import_name
from cusal._files import cache_folder
from cusal.apps.label.store.records import Settings
from cusal.errors import ProjectError


def remember(names: Iterable[str | None]) -> None:
    """Remember those of some names that are of code, as named by this user; where no file can be kept, none is."""
    known = _known()
    lines = [f"{name}\n" for name in names if name and is_import_name(name) and name not in known and "\n" not in name]
    if not lines:
        return
    path = _path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as file:
            file.writelines(lines)
    except OSError:
        return  # `require_named` says what to do


def require_named(settings: Settings) -> None:
    """Raise ProjectError if a project names code that this user did not."""
    for option in ("features", "model"):
        name = getattr(settings, option)
        if not name or not is_import_name(name) or name.endswith(".npy"):
            continue
        if option == "model" and name.startswith("sklearn."):
            continue
        if name not in _known():
            raise ProjectError(
                f"the project has {name} as its {option}, which is code, and was not named by you on this machine; "
                f"if you trust it, start `cusal label` with --{option} {name} (CUSAL_CACHE must be a folder that can "
                "be written)."
            )


def _known() -> set[str]:
    try:
        with _path().open() as file:
            found = os.fstat(file.fileno())
            if found.st_uid != _user() or stat.S_IMODE(found.st_mode) & 0o022:  # others could have written it
                return set()
            return set(file.read().splitlines())
    except (OSError, UnicodeError):
        return set()


def _path() -> Path:
    return cache_folder() / f"own-code-{_user()}.txt"


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
