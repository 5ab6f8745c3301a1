"""Networks by the names that grids call them."""

import importlib
import inspect
import math
from typing import Any

from cusal.errors import MissingExtra, UnknownName

NETWORKS = {
    "garment_classifier": ("cusal.models.networks", "GarmentClassifier"),
    "mnist_net": ("cusal.models.networks", "MnistNet"),
    "resnet18": ("cusal.models.resnet", "ResNet18"),
    "resnet50": ("cusal.models.resnet", "ResNet50"),
    "small_net": ("cusal.models.networks", "SmallNet"),
    "small_resnet": ("cusal.models.resnet", "SmallResNet"),
}


def check_network(name: str) -> None:
    """Complain about a name that no network has, without loading torch."""
    if name not in NETWORKS:
        raise UnknownName("network", name, NETWORKS)


def build_module(network: dict[str, Any], item_shape: tuple[int, ...], classes: int) -> Any:
    """Give the torch module of a grid's `network`: its name and its settings."""
    settings = {key: value for key, value in network.items() if key != "name"}
    name = network["name"]
    check_network(name)
    module, attribute = NETWORKS[name]
    try:
        constructor = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise MissingExtra("training a network", "torch") from error
    known = set(inspect.signature(constructor).parameters) - {"classes"}
    for key in settings:
        if key not in known:
            raise UnknownName(f"setting of {name}", key, known)
    if "inputs" in known:  # a network for items of any size is told theirs
        settings.setdefault("inputs", math.prod(item_shape))
    if "channels" in known and len(item_shape) == 3:
        settings.setdefault("channels", item_shape[0])
    return constructor(classes=classes, **settings)
