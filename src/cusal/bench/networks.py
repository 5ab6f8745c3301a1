"""Networks by the names that grids call them."""

import inspect
from collections.abc import Callable
from typing import Any

from cusal.errors import InvalidInput, MissingExtra, UnknownName

SIZED = ("small_net",)  # networks that must be told the size of an item


def names() -> list[str]:
    """Give the names of all networks."""
    return sorted(_constructors())


def build_module(network: dict[str, Any], item_shape: tuple[int, ...], classes: int) -> Any:
    """Give the torch module of a grid's `network`: its name and its settings."""
    settings = dict(network)
    name = settings.pop("name", None)
    constructors = _constructors()
    if name not in constructors:
        raise UnknownName("network", name, constructors)
    known = set(inspect.signature(constructors[name]).parameters) - {"classes", "inputs"}
    for key in settings:
        if key not in known:
            raise UnknownName(f"setting of {name}", key, known)
    if name in SIZED:
        size = 1
        for length in item_shape:
            size *= length
        settings["inputs"] = size
    try:
        return constructors[name](classes=classes, **settings)
    except TypeError as error:
        raise InvalidInput(f"network {name} cannot be built: {error}; check its settings in the grid.") from error


def _constructors() -> dict[str, Callable[..., Any]]:
    try:
        from cusal.models import networks, resnet
    except ImportError as error:
        raise MissingExtra("training a network", "torch") from error
    return {
        "garment_classifier": networks.GarmentClassifier,
        "mnist_net": networks.MnistNet,
        "resnet18": resnet.ResNet18,
        "resnet50": resnet.ResNet50,
        "small_net": networks.SmallNet,
    }
