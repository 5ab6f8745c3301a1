"""Every error that cusal raises on purpose.

Each says what was met, what was expected and what to do. All of them are a `CusalError`, and each is also the
built-in error that a caller would expect.
"""

import difflib
from collections.abc import Iterable


class CusalError(Exception):
    """The base of every error that cusal raises on purpose."""


class CusalWarning(UserWarning):
    """Something that works, but perhaps not as the caller expects."""


class InvalidInput(CusalError, ValueError):
    """A value, shape or type that does not fit; the message names the row or value."""


class UnknownName(CusalError, ValueError):
    """A name that nothing answers to; the message suggests the nearest one."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(known)}."
        super().__init__(f"there is no {kind} named {name!r}; {hint}")


class PoolExhausted(CusalError, ValueError):
    """More items were asked for than are still open."""


class NotReady(CusalError, RuntimeError):
    """Something that must come first is missing, for instance labels of a second class."""


class MissingMethod(CusalError, TypeError):
    """The model lacks a method that the strategy needs."""


class MissingExtra(CusalError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs an optional dependency; run: pip install 'cusal[{extra}]'")


class DataError(CusalError, OSError):
    """A data file is missing, truncated or not what its name says; the message names the file."""


class StoreError(CusalError, RuntimeError):
    """The store of runs cannot be opened, read or written."""
