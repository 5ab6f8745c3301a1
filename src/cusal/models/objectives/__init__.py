"""Every objective of a `TorchClassifier`, found by the name of its file: `energy.py` holds the class `Energy`.

Files that begin with an underscore are what objectives share. Torch is loaded when a class is first used.
"""

import importlib
import pkgutil
from typing import Any

from cusal.errors import UnknownName
from cusal.models._torch_extra import torch_needed
from cusal.models.objectives._objective import Objective, Training, TrainingData

__all__ = ["Objective", "Training", "TrainingData", "find", "names"]


def names() -> list[str]:
    """Return the names of all objectives, without loading torch.

    Returns
    -------
    list of str
        Sorted names, as grids use them.

    Examples
    --------
    >>> "energy" in names()
    True
    """
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def find(name: str) -> type[Objective]:
    """Return the class of the objective called `name`; call it with settings to make one.

    Parameters
    ----------
    name : str
        The name of a file in this folder, such as "energy".

    Returns
    -------
    type
        A subclass of `Objective`.

    Raises
    ------
    UnknownName
        If no objective has this name.
    MissingExtra
        If torch is not installed.

    Examples
    --------
    >>> find("energy")(sampling_steps=5).sampling_steps
    5
    """
    if name not in names():
        raise UnknownName("objective", name, names())
    with torch_needed():
        module = importlib.import_module(f"{__name__}.{name}")
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    return next(value for value in own if issubclass(value, Objective))


def __getattr__(name: str) -> Any:
    by_class = {known.replace("_", ""): known for known in names()}
    found = find(by_class[name.lower()]) if name.lower() in by_class else None
    if found is None or found.__name__ != name:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return __all__
