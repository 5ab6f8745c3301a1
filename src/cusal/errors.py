"""Every error that cusal raises on purpose.

The message of each says what was met, what was expected and what to do. All of them derive from `CusalError`, and each
also derives from the built-in error that a caller would expect.
"""

import difflib
import re
from collections.abc import Iterable

# Up to the last @: a password may hold any sign. The slashes may have been forgotten.
_IN_URL = re.compile(r"((?:://|\bpostgres\w*:/?)[^\s:@/]*):(?:\S*|[^@/\n]*)@")
_IN_QUERY = re.compile(r"((?:^|[?&\s'\"`])\w*(?:password|passwd|secret|token)\w*\s?=\s?)[^\s&#]+", re.IGNORECASE)


def without_passwords(text: str) -> str:
    """Return a text with *** in place of every password of a URL in it.

    >>> without_passwords("cannot use postgresql://ann:s3cret@host/runs?sslpassword=s3cret")
    'cannot use postgresql://ann:***@host/runs?sslpassword=***'
    """
    return _IN_QUERY.sub(r"\1***", _IN_URL.sub(r"\1:***@", text))


class CusalError(Exception):
    """The base of every error that cusal raises on purpose.

    Catch it to handle all of them. Any other error is a bug, in cusal or in the code that calls it.

    Examples
    --------
    >>> import cusal
    >>> try:
    ...     cusal.query([[0.9, 0.1]], batch_size=5, strategy="margin")
    ... except cusal.CusalError as error:
    ...     print(error)
    asked for 5 items, but only 1 are open; lower batch_size or stop.
    """


class CusalWarning(UserWarning):
    """A warning about something that works, but perhaps not as the caller expects."""


class InvalidInput(CusalError, ValueError):
    """Raised for a value, shape or type that is not accepted; the message names the row or the value."""


class UnknownName(CusalError, ValueError):
    """Raised for a name that is not known; the message suggests the nearest one.

    Parameters
    ----------
    kind : str
        What is named, such as "strategy".
    name : object
        The unknown name.
    known : iterable of str
        The known names.

    Examples
    --------
    >>> print(UnknownName("strategy", "margn", ["margin", "random"]))
    there is no strategy named 'margn'; did you mean 'margin'?
    """

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(known)}."
        super().__init__(f"there is no {kind} named {name!r}; {hint}")


class PoolExhausted(CusalError, ValueError):
    """Raised when more items are asked for than are open."""


class NotReady(CusalError, RuntimeError):
    """Raised when an earlier step is missing, for instance labels of a second class before a fit."""


class MissingMethod(CusalError, TypeError):
    """Raised when the model lacks a method that the strategy needs."""


class MissingExtra(CusalError, ImportError):
    """Raised when an optional dependency is not installed.

    Parameters
    ----------
    purpose : str
        What needs it.
    extra : str
        The extra of cusal that installs it, such as "torch".
    """

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs an optional dependency; run: pip install 'cusal[{extra}]'")


class MissingLibrary(CusalError, ImportError):
    """Raised when the library that an adapter serves is not installed.

    Parameters
    ----------
    purpose : str
        What needs it.
    package : str
        Its name for pip, such as "scikit-activeml".
    """

    def __init__(self, purpose: str, package: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed; run: pip install {package}")


class DataError(CusalError, OSError):
    """Raised when a data file is missing, truncated or not what its name says; the message names the file."""


class ServerError(CusalError, OSError):
    """Raised when a server that cusal works with refuses a call; passwords of URLs are not shown.

    Parameters
    ----------
    message : str
        What was met, what was expected and what to do.
    status : int, optional
        The HTTP status of the answer.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(without_passwords(message))
        self.status = status


class ServerAway(ServerError, ConnectionError):
    """Raised when such a server does not answer, or is too busy to; a later call may succeed."""


class StoreError(CusalError, RuntimeError):
    """Raised when the store of runs cannot be opened, read or written; passwords of URLs are not shown."""

    def __init__(self, message: str) -> None:
        super().__init__(without_passwords(message))


class ProjectError(CusalError, RuntimeError):
    """Raised when a labelling project cannot be opened, or not changed as asked; the message says what to do.

    Passwords of URLs are not shown in it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(without_passwords(message))
