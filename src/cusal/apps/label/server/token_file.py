"""The token of a project that others reach: made once, so that pages stay open when the server is started again."""

import os
import secrets

from cusal._files import cache_folder, writing


def token_of(project: str) -> str:
    """Return the token of a project by its id, from a file that the user alone can read.

    Parameters
    ----------
    project : str
        The id of the project.

    Returns
    -------
    str
        32 random bytes as text that fits into a link.
    """
    folder = cache_folder() / "label"
    path = folder / f"{project}.token"
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            known = path.read_text().strip()
            if len(known) >= 43:
                return known
            file = os.open(path, os.O_WRONLY | os.O_TRUNC, 0o600)  # the first start was killed while it wrote
        token = secrets.token_urlsafe(32)
        with os.fdopen(file, "w") as written:
            written.write(token)
    return token
