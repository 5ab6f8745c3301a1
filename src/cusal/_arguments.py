"""Arguments of the kinds that many rooms take: paths, lists of names, shares. A wrong kind is an `InvalidInput`."""

import os
from collections.abc import Hashable, Iterable
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from cusal.errors import InvalidInput


def as_path(value: Any, name: str = "path") -> Path:
    """Return a path of the file system.

    >>> as_path("runs.db").name
    'runs.db'
    """
    if not isinstance(value, str | os.PathLike):
        raise InvalidInput(f"{name} is a {type(value).__name__}; expected the path of a file or folder.")
    text = os.fspath(value)
    if isinstance(text, bytes) or "\0" in text:
        raise InvalidInput(f"{name} is {text!r}, which no file can be named; give another path.")
    return Path(text)


def as_listed(values: Any, name: str) -> list[Any]:
    """Return the values of anything that can be gone through."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(listed, Iterable):
        raise InvalidInput(f"{name} is a {type(values).__name__}; expected a list.")
    return list(listed)


def as_names(values: Any, name: str) -> list[Any]:
    """Return names from any container: values that can be told apart, such as texts and numbers."""
    listed = as_listed(values, name)
    for value in listed:
        if not is_hashable(value):
            raise InvalidInput(f"{name} holds a {type(value).__name__}; expected texts or numbers.")
    return listed


def is_hashable(value: Any) -> bool:
    """Return whether a value can be a key; a tuple of lists says so only when it is tried."""
    if not isinstance(value, Hashable):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_real(value: object) -> bool:
    """Return whether a value is a number, but no flag."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number, but no flag."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def as_share(value: Any, name: str) -> float:
    """Return a number between 0 and 1, both excluded."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InvalidInput(f"{name} is {value!r}; expected a share between 0 and 1, such as 0.95 for 95 %.")
    return float(value)


def as_flag(value: Any, name: str) -> bool:
    """Return True or False; a NumPy flag or the numbers 0 and 1 count too."""
    if not is_hashable(value) or value not in (True, False):
        raise InvalidInput(f"{name} is {str(value)[:60]!r}; expected True or False.")
    return bool(value)
