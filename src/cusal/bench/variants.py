"""Training variants by the names that grids call them: which classifier trains the network, and what is put around it.

model = "energy"
model = {name = "augmented", copies = 2}
model = {name = "temperature_scaled", method = "held-out", of = "energy"}     # around another, "plain" without `of`
"""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from cusal.errors import InvalidInput, MissingExtra, UnknownName

CLASSIFIERS = {
    "augmented": ("cusal.models.augmented", "AugmentedClassifier"),
    "energy": ("cusal.models.energy", "EnergyClassifier"),
    "plain": ("cusal.models.torch_classifier", "TorchClassifier"),
}
WRAPPERS = {
    "temperature_scaled": ("cusal.recalibration.temperature_scaled", "TemperatureScaled"),
    "uncalibrated": ("cusal.models.uncalibrated", "Uncalibrated"),
}


def as_table(value: str | Mapping[str, Any]) -> dict[str, Any]:
    """Give what a grid calls by a name alone, or by a table with a name and settings, as a table."""
    return {"name": value} if isinstance(value, str) else dict(value)


def check_model(model: str | Mapping[str, Any]) -> None:
    """Complain about names that no variant has, without loading torch."""
    table = as_table(model)
    name = table.get("name")
    if name not in CLASSIFIERS | WRAPPERS:
        raise UnknownName("model", str(name), CLASSIFIERS | WRAPPERS)
    if "of" in table:
        if name in CLASSIFIERS:
            raise InvalidInput(f"{name} goes around no other model; leave `of` out.")
        if not isinstance(table["of"], str | Mapping):
            raise InvalidInput(f"of is {table['of']!r}; expected the name of a model, or a table with its name.")
        check_model(table["of"])


def build_variant(model: str | Mapping[str, Any], module: Any, training: Mapping[str, Any]) -> Any:
    """Give the untrained classifier around a torch module; `training` are the settings that all variants share."""
    check_model(model)
    model = as_table(model)
    name = model["name"]
    settings = {key: value for key, value in model.items() if key not in ("name", "of")}
    if name in WRAPPERS:
        constructor = _find(WRAPPERS[name])
        _check(name, settings, set(inspect.signature(constructor).parameters) - {"model"})
        return constructor(build_variant(model.get("of", "plain"), module, training), **settings)
    constructor = _find(CLASSIFIERS[name])
    _check(name, settings, set(inspect.signature(constructor).parameters) - {"module", *training})
    return constructor(module, **training, **settings)


def _find(place: tuple[str, str]) -> Any:
    module, attribute = place
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise MissingExtra("training a network", "torch") from error


def _check(name: str, settings: Mapping[str, Any], known: set[str]) -> None:
    for key in settings:
        if key not in known:
            raise UnknownName(f"setting of the model {name}", key, known | {"name"})
