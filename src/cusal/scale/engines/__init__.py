"""Where a pool is scored, one file each: `local.py` holds the engine "local", `ray_engine.py` the engine "ray".

Adding an engine is adding its file here, with one subclass of `Engine`; nothing else lists them. A file may end in
`_engine`, so that it does not share the name of the library that it uses.
"""

import importlib
import pkgutil

from cusal.errors import UnknownName
from cusal.scale.engines._engine import Engine

__all__ = ["Engine", "find_engine", "names"]


def _files() -> dict[str, str]:
    found = [info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_")]
    return {name.removesuffix("_engine"): name for name in found}


def names() -> list[str]:
    """Return the names of all engines, sorted.

    Returns
    -------
    list of str
        What `find_engine` and `cusal score --engine` take.

    Examples
    --------
    >>> names()
    ['local', 'ray']
    """
    return sorted(_files())


def find_engine(name: str, address: str | None = None) -> Engine:
    """Return the engine called `name`.

    Parameters
    ----------
    name : str
        One of the engines' names: "local" or "ray".
    address : str, optional
        Where the engine's cluster is. By default the one that is connected, or a new one on this machine.

    Returns
    -------
    Engine
        What `score_files` takes as `engine`.

    Raises
    ------
    UnknownName
        If there is no such engine.
    InvalidInput
        If an address is given to an engine that has none.

    Examples
    --------
    >>> find_engine("local")
    LocalEngine()
    """
    if not isinstance(name, str) or name not in _files():
        raise UnknownName("engine", name, names())
    module = importlib.import_module(f"{__name__}.{_files()[name]}")
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    return next(value for value in own if issubclass(value, Engine))(address)


def __dir__() -> list[str]:
    return __all__
