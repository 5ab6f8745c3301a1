"""Every strategy, found by the name of its file: `badge.py` holds the class `Badge`, called "badge".

Files whose names begin with an underscore hold what strategies share. A class is imported when it is first used. The
stub beside this file lists the classes for editors and type checkers; `python -m cusal.strategies` writes it.
"""

import dataclasses
import importlib
import pkgutil
from typing import Any

from cusal._checks import import_name, is_import_name
from cusal.errors import InvalidInput, UnknownName
from cusal.strategies._contract import check_strategy as check_strategy
from cusal.strategies._strategy import Strategy

# Modules whose `adapted(name)` returns the class that stands for a strategy of another library, by its package.
ADAPTERS = {"skactiveml": "cusal.adapters._skactiveml_strategies"}


def names() -> list[str]:
    """Return the names of all strategies, sorted.

    Returns
    -------
    list of str
        Each can be passed as `strategy` to `cusal.query` and `cusal.Session`.

    Examples
    --------
    >>> names()[:3]
    ['badge', 'bald', 'batch_bald']
    """
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def find(name: str) -> type[Strategy]:
    """Return the class of the strategy called `name`; call it with settings to make one.

    Parameters
    ----------
    name : str
        One of `names()`, or "package.module:Name" for a strategy of your own or of scikit-activeml, such as
        "skactiveml.pool:UncertaintySampling".

    Returns
    -------
    type
        A subclass of `Strategy`.

    Raises
    ------
    UnknownName
        If there is no strategy of this name; the message suggests the nearest one.
    InvalidInput
        If "package.module:Name" cannot be imported or is not a strategy.

    Examples
    --------
    >>> find("margin")()
    Margin()
    """
    if isinstance(name, str) and is_import_name(name):
        adapter = ADAPTERS.get(name.split(".")[0])
        found = importlib.import_module(adapter).adapted(name) if adapter else import_name(name, "strategy")
        if not (isinstance(found, type) and issubclass(found, Strategy)):
            raise InvalidInput(f"{name!r} is not a strategy; expected a class that derives from cusal.Strategy.")
        return found
    if not isinstance(name, str) or name not in names():
        raise UnknownName("strategy", name, names())
    module = importlib.import_module(f"{__name__}.{name}")
    own = (value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__)
    found = [value for value in own if isinstance(value, type) and issubclass(value, Strategy)]
    if not found:
        raise InvalidInput(f"{module.__file__} defines no strategy; add one, or begin its name with an underscore.")
    return found[0]


def make(strategy: Any, **settings: Any) -> Strategy:
    """Return a strategy: made from its name and settings, or the object itself.

    Parameters
    ----------
    strategy : str or Strategy
        A name that `find` knows, or a strategy object, which is returned as it is.
    **settings
        Settings of a strategy given by name.

    Returns
    -------
    Strategy
        The object.

    Raises
    ------
    InvalidInput
        If it is neither a name nor an object, or settings are given with an object.
    UnknownName
        If there is no strategy of this name, or it has no such setting.

    Examples
    --------
    >>> make("badge"), make("cusal", bandwidth=0.01).bandwidth
    (Badge(), 0.01)
    """
    if isinstance(strategy, Strategy):
        if settings:
            raise InvalidInput(
                f"the setting {next(iter(settings))} was given with a strategy object; set it in the object, or "
                "give the strategy by its name."
            )
        return strategy
    if isinstance(strategy, type):
        raise InvalidInput(f"strategy is the class {strategy.__name__}; give an object of it: {strategy.__name__}().")
    if not isinstance(strategy, str):
        raise InvalidInput(
            f"strategy is {strategy!r}; expected a name such as 'margin', or an object such as "
            "cusal.strategies.Cusal(bandwidth=0.01)."
        )
    kind = find(strategy)
    known = [field.name for field in dataclasses.fields(kind)]
    for name in settings:
        if name not in known:
            if not known:
                raise InvalidInput(f"{strategy} has no settings, but {name} was given; leave it out.")
            raise UnknownName(f"setting of {strategy}", name, known)
    return kind(**settings)


def _class_names() -> dict[str, str]:
    """Return the name of each strategy by the name of its class."""
    return {name.title().replace("_", ""): name for name in names()}


def __getattr__(name: str) -> Any:
    known = _class_names()
    if name not in known:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return find(known[name])


__all__ = sorted(["Strategy", "check_strategy", "find", "make", "names", *_class_names()])


def __dir__() -> list[str]:
    return __all__
