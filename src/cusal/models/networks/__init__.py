"""Every network, found by the name of its file: `small_net.py` holds the class `SmallNet`, called "small_net".

`MnistNet` and `GarmentClassifier` take images (n, 1, 28, 28), `SmallNet` rows of numbers, the residual networks images
of any size. All give logits (n, classes). Files that begin with an underscore are what networks share. Torch is loaded
when a class is first used. `"package.module:Name"` finds a network of the user's own.

Two rates of dropout, because training and sampling are two questions:
- `dropout` acts in training. It is 0 by default; the paper does not say whether it trains with any (docs/results.md).
- `sample_dropout` acts in Monte-Carlo sampling alone (`TorchClassifier.sample_proba`, for BALD and BatchBALD), which
  without any dropout would give equal samples.
Predictions and embeddings never use dropout; its layers have no parameters, so the counts stay as published.

`before_dropout` and `after_dropout` are the two halves of `forward`. Sampling computes the first half, with its costly
convolutions, once for all samples.
"""

import importlib
import pkgutil
from typing import Any

from cusal._checks import import_name, is_import_name
from cusal.errors import InvalidInput, UnknownName
from cusal.models._torch_extra import torch_needed


def names() -> list[str]:
    """Return the names of all networks, without loading torch.

    Returns
    -------
    list of str
        Sorted names, as grids use them.

    Examples
    --------
    >>> "small_net" in names()
    True
    """
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def check_name(name: str) -> None:
    """Raise `UnknownName` for a name that no network has; torch is not loaded, but for networks of the user's own."""
    if is_import_name(name):
        find(name)
    elif name not in names():
        raise UnknownName("network", name, names())


def find(name: str) -> Any:
    """Return the class of the network called `name`.

    Parameters
    ----------
    name : str
        The name of a file in this folder, such as "mnist_net"; or "package.module:Name", a class of `nn.Module`, or a
        function that returns one.

    Returns
    -------
    type
        A class of `nn.Module` whose parameter `classes` is the number of classes.

    Raises
    ------
    UnknownName
        If no network has this name.
    MissingExtra
        If torch is not installed.

    Examples
    --------
    >>> find("small_net")(inputs=4, classes=3).classes
    3
    """
    if is_import_name(name):
        with torch_needed():
            found = import_name(name, "network")
        if not callable(found):
            raise InvalidInput(f"the network {name!r} is {found!r}; expected a class of torch.nn.Module.")
        return found
    check_name(name)
    with torch_needed():
        module = importlib.import_module(f"{__name__}.{name}")
    # ResNet18 is in resnet18.py: the names agree but for capitals and underscores.
    own = [key for key in vars(module) if key.lower() == name.replace("_", "")]
    if not own:
        raise InvalidInput(f"{module.__name__} holds no class of its name, such as {name.title().replace('_', '')}.")
    return getattr(module, own[0])


__all__ = ["check_name", "find", "names"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    by_class = {known.replace("_", ""): known for known in names()}
    found = find(by_class[name.lower()]) if name.lower() in by_class else None
    if found is None or found.__name__ != name:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
