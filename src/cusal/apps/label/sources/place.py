"""Where the project of some data is kept by default: beside the data."""

import os
from pathlib import Path

from cusal.errors import ProjectError
from cusal.tables import is_table, table_name

SUFFIX = ".cusal.db"


def default_place(data: str | os.PathLike[str]) -> Path:
    """Return the path of the project file beside a folder or table.

    Parameters
    ----------
    data : path
        The folder or table; it need not hold a project yet.

    Returns
    -------
    Path
        `NAME.cusal.db`, in the folder that holds the data.

    Raises
    ------
    ProjectError
        If there is no project yet and none can be written there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     default_place(f"{folder}/reviews.csv").name
    'reviews.cusal.db'
    """
    path = Path(os.path.abspath(Path(data).expanduser()))  # not resolved: beside a link, not beside what it leads to
    name = table_name(path) if is_table(path) and not path.is_dir() else path.name or "data"
    place = path.parent / f"{name}{SUFFIX}"
    if not place.exists() and not os.access(path.parent, os.W_OK):
        raise ProjectError(
            f"the project of {path} would be kept in {path.parent}, which cannot be written; "
            f"name another place by --store, such as --store ~/{name}{SUFFIX}."
        )
    return place
