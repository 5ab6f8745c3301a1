"""The networks of grids: a name, or a table with a name and settings."""

import inspect
import math
from typing import Any

from cusal.errors import InvalidInput, UnknownName
from cusal.models import networks


def build_module(network: dict[str, Any], item_shape: tuple[int, ...], classes: int) -> Any:
    """Return the torch module of a grid's `network`.

    Parameters
    ----------
    network : dict
        Its name and its settings.
    item_shape : tuple of int
        The shape of one item; networks with a parameter `inputs` or `channels` are told theirs.
    classes : int
        The number of classes.
    """
    settings = {key: value for key, value in network.items() if key != "name"}
    name = network["name"]
    constructor = networks.find(name)
    parameters = inspect.signature(constructor).parameters
    if "classes" not in parameters:
        raise InvalidInput(f"the network {name!r} has no parameter `classes`; add it, the number of its outputs.")
    known = set(parameters) - {"classes"}
    for key in settings:
        if key not in known:
            raise UnknownName(f"setting of {name}", key, known)
    if "inputs" in known:  # a network for items of any size is told theirs
        settings.setdefault("inputs", math.prod(item_shape))
    if "channels" in known and len(item_shape) == 3:
        settings.setdefault("channels", item_shape[0])
    return constructor(classes=classes, **settings)
