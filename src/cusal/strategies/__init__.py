"""Every strategy, found by the name of its file."""

import importlib
import pkgutil

from cusal.errors import UnknownName
from cusal.strategy import Strategy


def names() -> list[str]:
    """Give the names of all strategies."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find(name: str) -> type[Strategy]:
    """Give the class of the strategy called `name`; call it with settings to make one.

    >>> find("margin")()
    Margin()
    """
    if name not in names():
        raise UnknownName("strategy", name, names())
    module = importlib.import_module(f"{__name__}.{name}")
    wanted = name.replace("_", "")
    return next(value for key, value in vars(module).items() if key.lower() == wanted)  # type: ignore[no-any-return]
