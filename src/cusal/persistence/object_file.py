"""Objects as one zip file of JSON, arrays and tensors, which can be read without running code from the file.

    content.json           the tree of values; an object is its class by name and its state
    arrays/N.npy           NumPy arrays
    weights.safetensors    torch tensors
    pickles/N.pickle       what has no other form, for instance a function; read only from files that are trusted

Objects of classes of cusal, scikit-learn and torch.nn are rebuilt without trust. Any other class would have to be
imported, which runs the code of its module; that needs trust too. So does what could run code later although it is
cusal's or scikit-learn's: classes of rooms that import modules by name, and estimators that read pickles from a cache.
A scikit-learn estimator is written as its settings: a fitted one raises `FittedEstimator`, unless it may be pickled.
"""

import importlib
import io
import json
import os
import pickle
import zipfile
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np

from cusal._arguments import as_path
from cusal._arrays import DAMAGED
from cusal._files import write_whole
from cusal.errors import CusalError, DataError, InvalidInput

ROOMS = ("calibration", "features", "models", "recalibration", "session", "strategies")  # of what sessions hold
SAFE = (*(f"cusal.{room}." for room in ROOMS), "sklearn.", "torch.nn.")
SMALL = 64  # arrays of up to this many numbers are written into the JSON
LARGE = 1 << 20  # bytes from which on a part is not compressed: it is numbers, which hardly get smaller
LARGEST, RATIO = 1 << 28, 20  # bytes of a part, unpacked; larger ones are numbers, which hardly get smaller
KINDS = ("tuple", "dict", "array", "tensor", "name", "estimator", "object", "module", "pickle")
FUNCTIONS = ("sklearn.feature_selection.", "sklearn.metrics.")  # whose functions are settings of estimators
Node = Any  # what JSON holds


class FittedEstimator(Exception):
    """Raised for a fitted scikit-learn estimator, whose state only a pickle can hold."""


def write_objects(path: str | os.PathLike[str], content: Any, *, pickle_fitted: bool = False) -> None:
    """Write a value to a file, completely or not at all.

    Parameters
    ----------
    path : path
        The file to write.
    content : object
        A value of plain types, arrays, tensors and objects.
    pickle_fitted : bool, default False
        Whether fitted scikit-learn estimators are pickled. If not, they raise `FittedEstimator`.
    """
    write_whole(path, as_bytes(content, pickle_fitted=pickle_fitted))


def as_bytes(
    content: Any, *, pickle_fitted: bool = False, pickles: bool = True, beside: Mapping[str, bytes] | None = None
) -> bytes:
    """Return what `write_objects` writes to a file.

    With `pickles` false, what can only be pickled raises `InvalidInput`. `beside` are further files of the archive by
    name, which `read_objects` leaves alone.
    """
    writer = _Writer(pickle_fitted)
    tree = json.dumps(writer.encode(content))
    if writer.pickled and not pickles:
        raise InvalidInput(f"a {writer.pickled[0]} can only be saved as a pickle, which this file may not hold.")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("content.json", tree)
        for name, part in (writer.parts | dict(beside or {})).items():
            archive.writestr(name, part, zipfile.ZIP_STORED if len(part) >= LARGE else zipfile.ZIP_DEFLATED)
        if writer.tensors:
            from safetensors.torch import save

            archive.writestr("weights.safetensors", save(writer.tensors))
    return file.getvalue()


def read_objects(path: str | os.PathLike[str] | io.BytesIO, *, trusted: bool = False) -> Any:
    """Return what `write_objects` wrote, or `as_bytes` returned.

    Raises
    ------
    DataError
        If the file is missing or damaged, or if it holds something that needs trust and `trusted` is false.
    """
    path = path if isinstance(path, io.BytesIO) else as_path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            reader = _Reader(archive, str(path), trusted)
            return reader.decode(json.loads(reader.read("content.json")))
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; expected one written by save().") from None
    except CusalError:
        raise
    except (OSError, ImportError, *DAMAGED) as error:
        raise DataError(f"{path} cannot be read ({error}); expected a file written by save().") from error


class _Writer:
    """Turns values into JSON nodes, and collects what JSON cannot hold."""

    def __init__(self, pickle_fitted: bool) -> None:
        self.pickle_fitted = pickle_fitted
        self.parts: dict[str, bytes] = {}  # by their names in the archive
        self.tensors: dict[str, Any] = {}
        self.pickled: list[str] = []  # the classes of what has no other form

    def encode(self, value: Any) -> Node:
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) is list:
            return [self.encode(part) for part in value]
        if type(value) is tuple:
            return {"#": "tuple", "of": self.encode(list(value))}
        if type(value) is dict:
            return {"#": "dict", "of": [[self.encode(key), self.encode(part)] for key, part in value.items()]}
        if isinstance(value, np.ndarray | np.generic) and value.dtype != object:
            return self._array(value)
        if _is_tensor(value):
            return self._tensor(value)
        if _is_named(value):
            module = "numpy" if isinstance(value, np.ufunc) else value.__module__
            return {"#": "name", "of": f"{module}:{value.__name__}"}
        return self._object(value)

    def _array(self, value: Any) -> Node:
        array = np.asarray(value)
        if array.size <= SMALL and array.dtype.kind in "biuf":
            return {"#": "array", "type": array.dtype.str, "shape": list(array.shape), "of": array.ravel().tolist()}
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        return {"#": "array", "in": self._part("arrays/{}.npy", file.getvalue())}

    def _tensor(self, value: Any) -> Node:
        import torch

        name = str(len(self.tensors))
        self.tensors[name] = value.detach().cpu().contiguous().clone()
        by_pixel = value.ndim == 4 and value.is_contiguous(memory_format=torch.channels_last)
        return {"#": "tensor", "in": name, "channels_last": by_pixel}

    def _object(self, value: Any) -> Node:
        kind = type(value)
        try:
            if _is_module(value):
                return self._module(value)
            if hasattr(value, "get_params") and not kind.__module__.startswith("cusal."):
                return self._estimator(value)
            if hasattr(value, "__dict__") and not callable(value) and not _reduces_itself(kind):
                return {"#": "object", "class": _name(kind), "state": self.encode(dict(vars(value)))}
        except _Unwritable:
            pass
        self.pickled.append(_name(kind))
        try:
            return {"#": "pickle", "class": _name(kind), "in": self._part("pickles/{}.pickle", pickle.dumps(value))}
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise _Unwritable(f"a {kind.__name__} cannot be saved ({error})") from error

    def _estimator(self, value: Any) -> Node:
        if any(name.endswith("_") and not name.startswith("_") for name in vars(value)):
            if self.pickle_fitted:
                raise _Unwritable
            raise FittedEstimator
        return {"#": "estimator", "class": _name(type(value)), "settings": self.encode(value.get_params(deep=False))}

    def _module(self, value: Any) -> Node:
        """Return a torch module by its parts; one with hooks, which are functions, can only be pickled."""
        from torch import nn

        own = set(vars(nn.Module())) - {"training"}
        hooks = (name for name in own if "hooks" in name)
        state = {name: part for name, part in vars(value).items() if name not in own}
        lists = (part for part in state.values() if isinstance(part, list))
        shared = any(isinstance(part, nn.Parameter) for each in lists for part in each)
        if shared or any(vars(value)[name] for name in hooks) or "<locals>" in type(value).__qualname__:
            raise _Unwritable
        return {
            "#": "module",
            "class": _name(type(value)),
            "state": self.encode(state),
            "frozen": [name for name, weight in value.named_parameters(recurse=False) if not weight.requires_grad],
            "non_persistent": sorted(value._non_persistent_buffers_set),
            "parameters": self.encode(dict(value._parameters)),
            "buffers": self.encode(dict(value._buffers)),
            "modules": self.encode(dict(value._modules)),
        }

    def _part(self, pattern: str, content: bytes) -> str:
        name = pattern.format(len(self.parts))
        self.parts[name] = content
        return name


class _Unwritable(Exception):
    """Raised for a value that can only be pickled."""


class _Reader:
    """Turns JSON nodes back into values."""

    def __init__(self, archive: zipfile.ZipFile, path: str, trusted: bool) -> None:
        self.archive, self.path, self.trusted = archive, path, trusted
        self._tensors: dict[str, Any] | None = None

    def read(self, name: str) -> bytes:
        """Return a part, unless it unpacks to much more than any that `write_objects` wrote."""
        part = self.archive.getinfo(name)
        if part.file_size > max(LARGEST, RATIO * part.compress_size):
            raise DataError(
                f"{self.path} holds a part that unpacks to {part.file_size >> 20} MB, which no file of cusal does; "
                "get it from where it was written."
            )
        return self.archive.read(name)

    def decode(self, node: Node) -> Any:
        if isinstance(node, list):
            return [self.decode(part) for part in node]
        if not isinstance(node, dict):
            return node
        if node["#"] not in KINDS:
            raise ValueError(f"a part of an unknown kind {node['#']!r}")
        return getattr(self, f"_{node['#']}")(node)

    def _tuple(self, node: Node) -> Any:
        return tuple(self.decode(node["of"]))

    def _dict(self, node: Node) -> Any:
        return {self.decode(key): self.decode(part) for key, part in node["of"]}

    def _array(self, node: Node) -> Any:
        if "in" in node:
            return np.load(io.BytesIO(self.read(node["in"])), allow_pickle=False)
        return np.array(node["of"], dtype=node["type"]).reshape(node["shape"])

    def _tensor(self, node: Node) -> Any:
        import torch
        from safetensors.torch import load

        if self._tensors is None:
            self._tensors = load(self.read("weights.safetensors"))
        tensor = self._tensors[node["in"]]
        return tensor.to(memory_format=torch.channels_last) if node["channels_last"] else tensor

    def _name(self, node: Node) -> Any:
        module, _, name = node["of"].partition(":")
        found = getattr(importlib.import_module(module), name) if _may_hold_names(module) else None
        if not _is_named(found):
            raise ValueError(f"{node['of']} is no type or function of NumPy or scikit-learn")
        return found

    def _estimator(self, node: Node) -> Any:
        kind = self._class(node["class"])
        if not hasattr(kind, "get_params") and not self.trusted:  # calling a class of another kind may do anything
            raise ValueError(f"{node['class']} is not an estimator")
        settings = self.decode(node["settings"])
        if settings.get("memory") is not None:
            self._need_trust(f"a {node['class']} with a cache folder, whose files are pickles")
        return kind(**settings)

    def _object(self, node: Node) -> Any:
        kind = self._class(node["class"])
        if hasattr(kind, "get_params") and not kind.__module__.startswith("cusal."):  # it is written by its settings
            self._need_trust(f"the state of a {node['class']}")
        value = kind.__new__(kind)
        state = self.decode(node["state"])
        if hasattr(value, "__setstate__"):
            value.__setstate__(state)
        else:
            vars(value).update(state)
        return value

    def _module(self, node: Node) -> Any:
        from torch import nn

        kind = self._class(node["class"])
        value = kind.__new__(kind)
        nn.Module.__init__(value)
        vars(value).update(self.decode(node["state"]))
        for name, part in self.decode(node["parameters"]).items():
            weight = None if part is None else nn.Parameter(part, requires_grad=name not in node["frozen"])
            value.register_parameter(name, weight)
        for name, part in self.decode(node["buffers"]).items():
            value.register_buffer(name, part, persistent=name not in node["non_persistent"])
        for name, part in self.decode(node["modules"]).items():
            value.add_module(name, part)
        return value

    def _pickle(self, node: Node) -> Any:
        self._need_trust(f"a {node['class']} as a pickle")
        return pickle.loads(self.read(node["in"]))

    def _class(self, name: str) -> Any:
        module, _, qualified = name.partition(":")
        if not f"{module}.".startswith(SAFE):
            self._need_trust(f"an object of {name}")
        found: Any = importlib.import_module(module)
        for part in qualified.split("."):
            found = getattr(found, part)
        if not isinstance(found, type):
            raise DataError(f"{self.path}: {name} is not a class; expected a file written by save().")
        if not f"{found.__module__}.".startswith(SAFE):  # a module of scikit-learn may have imported any other
            self._need_trust(f"an object of {found.__module__}:{found.__qualname__}")
        return found

    def _need_trust(self, what: str) -> None:
        if not self.trusted:
            raise DataError(
                f"{self.path} holds {what}, and reading that runs code; if you trust where the file comes from, load "
                "it with trusted=True."
            )


def is_object_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is one that `write_objects` wrote, not a pickle of an earlier version."""
    place = as_path(path)
    try:
        return not os.access(place, os.R_OK) or place.is_dir() or zipfile.is_zipfile(place)
    except OSError:  # a name that no file can have, which reading says
        return True


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _may_hold_names(module: str) -> bool:
    return module in ("numpy", "builtins") or f"{module}.".startswith(FUNCTIONS)


def _is_named(value: Any) -> bool:
    """Return whether a value is a type or function that a setting may name: np.float64, np.log1p, f_classif."""
    if isinstance(value, type):
        return issubclass(value, np.generic) or value in (bool, int, float, str)
    if isinstance(value, FunctionType):
        return f"{value.__module__}.".startswith(FUNCTIONS) and "<" not in value.__qualname__
    return isinstance(value, np.ufunc)


def _reduces_itself(kind: type) -> bool:
    """Return whether a class defines how it is pickled: its attributes alone may not be enough to rebuild it."""
    own = [vars(base) for base in kind.__mro__[:-1]]
    return any("__reduce__" in names or "__reduce_ex__" in names or names.get("__slots__") for names in own)


def _is_tensor(value: Any) -> bool:
    return type(value).__module__.startswith("torch") and hasattr(value, "detach") and hasattr(value, "ndim")


def _is_module(value: Any) -> bool:
    return hasattr(value, "named_parameters") and hasattr(value, "_modules")
