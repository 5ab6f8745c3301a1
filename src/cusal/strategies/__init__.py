"""Every strategy, found by the name of its file: `badge.py` holds the class `Badge`, called "badge".

Files that begin with an underscore are what strategies share. Classes are imported when they are first used.
"""

import importlib
import pkgutil
from typing import Any

from cusal.errors import InvalidInput, UnknownName
from cusal.strategies._strategy import Strategy


def names() -> list[str]:
    """Return the names of all strategies."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def find(name: str) -> type[Strategy]:
    """Return the class of the strategy called `name`; call it with settings to make one.

    >>> find("margin")()
    Margin()
    """
    path, colon, own_class = name.partition(":")
    if colon:  # a class of the user's own, as package.module:Name
        try:
            found = getattr(importlib.import_module(path), own_class)
        except (ImportError, AttributeError, ValueError) as error:
            raise InvalidInput(f"there is no strategy {name} ({error}); expected package.module:Name.") from error
        if not isinstance(found, type) or not issubclass(found, Strategy):
            raise InvalidInput(f"{name} is no strategy; expected a class that derives from cusal.Strategy.")
        return found
    if name not in names():
        raise UnknownName("strategy", name, names())
    module = importlib.import_module(f"{__name__}.{name}")
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    return next(value for value in own if issubclass(value, Strategy))


def __getattr__(name: str) -> Any:
    by_class = {known.title().replace("_", ""): known for known in names()}
    if name not in by_class:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return find(by_class[name])


def __dir__() -> list[str]:
    return sorted([*globals(), *(name.title().replace("_", "") for name in names())])
