"""A fitted `TorchClassifier` in one safetensors file: weights as tensors, all else as JSON. Nothing of it is run.

| in the file | what it is |
|---|---|
| metadata `cusal` | JSON: format, version, settings, objective, and fitted values for each prefix |
| tensor `PREFIX:weights/NAME` | one entry of the network's `state_dict` |
| tensor `PREFIX:fitted/NAME` | a fitted array, such as `samples_` of `Energy` |

The prefix is empty for the classifier itself. A classifier inside it, such as `judge_` of `Augmented`, has its
attribute's name. Files of earlier versions, written by `torch.save`, are read with `weights_only=True`.
"""

import copy
import io
import json
import os
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import safetensors
import torch
from numpy.typing import NDArray
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from cusal._files import reading, write_whole
from cusal.errors import DataError, InvalidInput
from cusal.models import objectives
from cusal.models.objectives import Objective

if TYPE_CHECKING:
    from cusal.models.torch_classifier import TorchClassifier

FORMAT, VERSION = "cusal.TorchClassifier", 1
OLD_OBJECTIVES = {"EnergyClassifier": "energy", "AugmentedClassifier": "augmented"}


@dataclass(frozen=True)
class SavedClassifier:
    """What a file holds of one classifier."""

    path: str
    settings: dict[str, Any]
    objective_name: str
    objective_settings: dict[str, Any]
    weights: dict[str, Tensor]
    values: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    inside: dict[str, "SavedClassifier"] = field(default_factory=dict)

    def objective(self) -> Objective:
        """Return the objective, which must be one of cusal's."""
        if self.objective_name not in objectives.names():
            raise InvalidInput(
                f"{self.path} holds the objective {self.objective_name}, which is not one of cusal's; "
                "give it to load(..., objective=...) with its settings."
            )
        return objectives.find(self.objective_name)(**self.objective_settings)

    def restore(self, model: "TorchClassifier") -> None:
        """Put what was fitted into a classifier that has the settings already."""
        model.module_ = copy.deepcopy(model.module).eval()
        try:
            model.module_.load_state_dict(self.weights)
        except RuntimeError as error:
            raise InvalidInput(
                f"{self.path} holds the weights of another architecture; give its own: {error}"
            ) from error
        values = self.values | {"item_shape_": tuple(self.values["item_shape_"])}
        model.__dict__.update(values | {"classes_": np.asarray(values["classes_"])} | self.arrays)
        for name, saved in self.inside.items():
            part = type(model)(model.module, objective=saved.objective(), **saved.settings)
            saved.restore(part)
            setattr(model, name, part)


def write(path: str | os.PathLike[str], model: "TorchClassifier") -> None:
    """Write a fitted classifier, whole or not at all."""
    write_whole(path, to_bytes(model))


def read(path: str | os.PathLike[str]) -> SavedClassifier:
    """Return what a file holds; `DataError` if it is none that `save` wrote."""
    with reading(path):
        data = Path(path).read_bytes()
    return from_bytes(data, str(path))


def to_bytes(model: "TorchClassifier") -> bytes:
    """Return a fitted classifier as the content of a file."""
    tensors: dict[str, Tensor] = {}
    parts: dict[str, Any] = {}
    _collect(model, "", tensors, parts)
    try:
        content = json.dumps({"format": FORMAT, "version": VERSION, "parts": parts})
    except TypeError as error:
        raise InvalidInput(
            f"{type(model).__name__} has a setting or fitted value that cannot be saved: {error}; "
            "expected numbers, strings, lists and arrays. Change it before you save."
        ) from error
    return bytes(save_tensors(tensors, metadata={"cusal": content}))


def from_bytes(data: bytes, path: str = "the file") -> SavedClassifier:
    """Return what the content of a file holds; errors name `path`."""
    try:
        if data[:2] == b"PK":  # torch.save's files are zip archives
            return _read_old(data, path)
        size = int.from_bytes(data[:8], "little")
        content = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["cusal"])
        tensors = load_tensors(data)
        if content["format"] != FORMAT:
            raise ValueError(f"it is a {content['format']}")
        if content["version"] > VERSION:
            raise DataError(f"{path} was written by a newer version of cusal; update with pip install -U cusal.")
        return _part("", content["parts"], tensors, path)
    except (
        safetensors.SafetensorError,
        pickle.UnpicklingError,
        EOFError,
        KeyError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        if isinstance(error, InvalidInput):
            raise
        raise DataError(f"{path} is not a file that `save` wrote, or is damaged: {error}") from error


def _collect(model: "TorchClassifier", prefix: str, tensors: dict[str, Tensor], parts: dict[str, Any]) -> None:
    """Add a classifier, and those inside it, to the tensors and parts of a file."""
    for name, weight in model.module_.state_dict().items():
        if not isinstance(weight, Tensor):
            raise InvalidInput(f"{type(model.module_).__name__} keeps {name}, which is no tensor and cannot be saved.")
        # A copy each: the format refuses tensors that share memory, as tied weights do.
        tensors[f"{prefix}:weights/{name}"] = weight.detach().cpu().contiguous().clone()
    settings = model.get_params(deep=False)
    objective = settings.pop("objective")
    del settings["module"]
    values = {"classes_": model.classes_.tolist()}
    for name, value in vars(model).items():
        if not name.endswith("_") or name in ("module_", "classes_"):
            continue
        if isinstance(value, np.ndarray):
            tensors[f"{prefix}:fitted/{name}"] = torch.from_numpy(np.ascontiguousarray(value)).clone()
        elif hasattr(value, "module_"):
            _collect(value, name, tensors, parts)
        else:
            values[name] = _plain(value)
    kind = type(objective)
    own = kind.__module__.startswith(f"{objectives.__name__}.")
    parts[prefix] = {
        "settings": {name: _plain(value) for name, value in settings.items()},
        "objective": kind.__module__.rpartition(".")[2] if own else f"{kind.__module__}:{kind.__qualname__}",
        "objective_settings": {name: _plain(value) for name, value in objective.get_params().items()} if own else {},
        "fitted": values,
    }


def _part(prefix: str, parts: dict[str, Any], tensors: dict[str, Tensor], path: str) -> SavedClassifier:
    def under(kind: str) -> dict[str, Tensor]:
        start = f"{prefix}:{kind}/"
        return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}

    part = parts[prefix]
    odd = [name for name in part["fitted"] if not name.endswith("_") or name.startswith("_")]
    if odd:  # would hide a method or a setting
        raise ValueError(f"{odd[0]} is not the name of a fitted attribute")
    return SavedClassifier(
        path,
        part["settings"],
        part["objective"],
        part["objective_settings"],
        under("weights"),
        part["fitted"],
        {name: tensor.numpy() for name, tensor in under("fitted").items()},
        {name: _part(name, parts, tensors, path) for name in parts if name and not prefix},
    )


def _read_old(data: bytes, path: str) -> SavedClassifier:
    """Return what a file of torch.save holds; its classes then stood for today's objectives."""
    content = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    settings, fitted = dict(content["settings"]), content["fitted"]
    name = OLD_OBJECTIVES.get(content.get("class", ""), "cross_entropy")
    known = objectives.find(name)().get_params()
    values = {"seed_": fitted["seed_"], "item_shape_": fitted["item_shape_"], "classes_": range(fitted["classes"])}
    inner = {key: settings.pop(key) for key in list(settings) if key in known}
    return SavedClassifier(path, settings, name, inner, content["weights"], values)


def _plain(value: Any) -> Any:
    """Return a setting or fitted value without NumPy's and torch's types, which JSON cannot hold."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, torch.device):
        return str(value)
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
