"""Objects as one zip file of JSON, arrays and tensors, which can be read without running code from the file.

    content.json           the tree of values; an object is its class by name, its settings and its attributes
    arrays/N.npy           NumPy arrays
    weights.safetensors    torch tensors
    pickles/N.pickle       what has no other form, for instance a function; read only from files that are trusted

`cusal.persistence.allowed` lists the classes, with the kinds and ranges of what belongs to them. What is not in the
list can only be pickled, and needs trust. Nothing is fitted while a file is read: a scikit-learn estimator is written
as its settings, and a fitted one raises `FittedEstimator`, unless it may be pickled.
"""

import io
import json
import math
import os
import pickle
import stat
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cusal._arguments import as_path
from cusal._files import write_whole
from cusal._version import __version__
from cusal.errors import CusalError, DataError, InvalidInput
from cusal.persistence import allowed

SMALL = 64  # arrays of up to this many numbers are written into the JSON
LARGE = 1 << 20  # bytes from which on a part is not compressed: it is numbers, which hardly get smaller
NUMBERS = "biufcSUMm"  # kinds of NumPy's types that arrays of a file may have
FORMAT = 3  # of sessions, models and audits alike
Node = Any  # what JSON holds

# What turns the content of a file of format N into that of format N + 1, by N. A release that changes what is saved
# raises FORMAT, adds its line here, and a file of the former format to `tests/persistence/files`.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
READERS = {  # what a file of a kind is, and what reads it
    "cusal.Session": ("a saved session", "cusal.Session.load"),
    "cusal.model": ("a model", "cusal.load_model"),
    "cusal audit": ("a saved audit", "cusal.Audit.load"),
}


class FittedEstimator(Exception):
    """Raised for a fitted scikit-learn estimator, whose state only a pickle can hold."""


def header(kind: str) -> dict[str, Any]:
    """Return what the content of each file begins with."""
    return {"kind": kind, "format": FORMAT, "cusal": __version__}


def checked(content: Any, kind: str, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content of a file in today's format; raise `DataError` if it is of another kind or a later format."""
    found = content.get("kind") if isinstance(content, dict) else None
    if isinstance(found, str) and found in READERS and found != kind:
        what, reader = READERS[found]
        raise DataError(f"{path} is {what}; read it with {reader}.")
    if not isinstance(content, dict) or found != kind:
        raise DataError(f"{path} is not a {kind}; expected a file that cusal wrote as one.")
    known: dict[str, Any] = content
    while (found := known.get("format")) != FORMAT:
        if type(found) is not int or found not in MIGRATIONS:
            raise DataError(
                f"{path} has format {found}, written by cusal {known.get('cusal')}, but this is cusal "
                f"{__version__}, which reads formats up to {FORMAT}; install the other version."
            )
        known = MIGRATIONS[found](known) | {"format": found + 1}
    return known


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

    Examples
    --------
    ::

        write_objects("thresholds.cusal", {"cat": 0.7, "seen": np.arange(100)})
    """
    write_whole(path, as_bytes(content, pickle_fitted=pickle_fitted))


def as_bytes(
    content: Any, *, pickle_fitted: bool = False, pickles: bool = True, beside: Mapping[str, bytes] | None = None
) -> bytes:
    """Return what `write_objects` writes to a file.

    Parameters
    ----------
    content, pickle_fitted
        As `write_objects` takes them.
    pickles : bool, default True
        Whether it may hold pickles. If not, what can only be pickled raises `InvalidInput`.
    beside : mapping of str to bytes, optional
        Further files of the archive by name, which `read_objects` leaves alone.

    Returns
    -------
    bytes

    Examples
    --------
    >>> read_objects(io.BytesIO(as_bytes({"cat": 0.7, "seen": (1, 2)})))
    {'cat': 0.7, 'seen': (1, 2)}
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

            weights = save(writer.tensors)
            stored = zipfile.ZIP_STORED if len(weights) >= LARGE else zipfile.ZIP_DEFLATED
            archive.writestr("weights.safetensors", weights, stored)
    return file.getvalue()


def read_objects(path: str | os.PathLike[str] | io.BytesIO, *, trusted: bool = False) -> Any:
    """Return what `write_objects` wrote, or `as_bytes` returned.

    Parameters
    ----------
    path : path or BytesIO
        The file, or its content.
    trusted : bool, default False
        Whether pickles may be read, which can run code. Set it only for files that you trust.

    Returns
    -------
    object

    Raises
    ------
    DataError
        If the file is missing or damaged, or if it holds something that needs trust and `trusted` is false.

    Examples
    --------
    ::

        thresholds = read_objects("thresholds.cusal")
    """
    place = path if isinstance(path, io.BytesIO) else as_path(path)
    try:
        if not isinstance(place, io.BytesIO) and not stat.S_ISREG(place.stat().st_mode):
            raise DataError(f"{path} is no regular file; expected a file written by save().")
        with zipfile.ZipFile(place) as archive:
            reader = _Reader(archive, str(path), trusted)
            return reader.decode(reader.tree())
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; expected one written by save().") from None
    except CusalError:
        raise
    except Exception as error:  # whatever somebody wrote into it
        reason = str(error).partition("\n")[0][:300].rstrip(".") or type(error).__name__
        raise DataError(f"{path} cannot be read ({reason}); expected a file written by save().") from error


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
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in NUMBERS and value.dtype.itemsize:
            return self._array(value)
        if _is_tensor(value):
            return self._tensor(value)
        if allowed.name_of(value):
            return {"#": "name", "of": allowed.name_of(value)}
        return self._object(value)

    def _array(self, value: Any) -> Node:
        array = np.asarray(value)
        if array.size <= SMALL and array.dtype.kind in "biuf":
            return {"#": "array", "type": array.dtype.str, "shape": list(array.shape), "of": array.ravel().tolist()}
        file = io.BytesIO()
        np.save(file, array, allow_pickle=False)
        return {"#": "array", "in": self._part("arrays/{}.npy", file.getvalue())}

    def _tensor(self, value: Any) -> Node:
        name = str(len(self.tensors))
        self.tensors[name] = value.detach().cpu().contiguous().clone()
        by_pixel = value.ndim == 4 and _is_channels_last(value)
        return {"#": "tensor", "in": name, "channels_last": by_pixel}

    def _object(self, value: Any) -> Node:
        kind = type(value)
        name = allowed.class_name(kind)
        size, tensors = len(self.parts), len(self.tensors)
        try:
            if name in allowed.SETTINGS or name in allowed.ATTRIBUTES:
                return self._module(value, name) if _is_module(value) else self._listed(value, name)
            if _is_strategy(value):
                settings = {key: _plain(part) for key, part in vars(value).items()}
                if all(map(allowed.STRATEGY.holds, settings.values())):
                    return {"#": "strategy", "class": _file(type(value)), "settings": self.encode(settings)}
            if hasattr(value, "get_params") and not name.startswith("cusal.") and not self.pickle_fitted:
                self._check_unfitted(value)
        except _Unlisted:
            self._forget(size, tensors)
        self.pickled.append(name)
        try:
            return {"#": "pickle", "class": name, "in": self._part("pickles/{}.pickle", pickle.dumps(value))}
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InvalidInput(f"a {kind.__name__} cannot be saved ({error}); use classes and functions that can be "
                               "imported by their names.") from error  # fmt: skip

    def _listed(self, value: Any, name: str) -> Node:
        """Return an object of a class of the list by its settings and attributes, which must be in it too."""
        given = value.get_params(deep=False) if hasattr(value, "get_params") else {}
        settings = allowed.SETTINGS.get(name, {})
        attributes = allowed.ATTRIBUTES.get(name, {})
        own = {key: part for key, part in vars(value).items() if key not in given and key in attributes}
        if name in allowed.SETTINGS and not attributes:
            self._check_unfitted(value)
        elif vars(value).keys() - given.keys() - attributes.keys():
            raise _Unlisted
        # How many processes fit a model is the reader's matter, and changes no result.
        rest = {key: part for key, part in given.items() if key not in settings and key != "n_jobs"}
        if any(not _same(part, default) for (part, default) in _beside_defaults(type(value), rest)):
            raise _Unlisted
        chosen = {key: _plain(part) for key, part in given.items() if key in settings}
        if not all(settings[key].holds(part) for key, part in chosen.items()):
            raise _Unlisted
        if not all(attributes[key].holds(part) for key, part in own.items()):
            raise _Unlisted
        return {"#": "object", "class": name, "settings": self._inside(chosen), "attributes": self._inside(own)}

    def _module(self, value: Any, name: str) -> Node:
        """Return a torch module by its parts; one with hooks, which are functions, can only be pickled."""
        from torch import nn

        bare = set(vars(nn.Module())) - {"training"}
        kinds = {**allowed.ATTRIBUTES[name], "training": allowed.FLAG}
        state = {key: part for key, part in vars(value).items() if key not in bare}
        hooks = (key for key in bare if "hooks" in key)
        if any(vars(value)[key] for key in hooks) or not state.keys() <= kinds.keys():
            raise _Unlisted
        if not all(kinds[key].holds(part) for key, part in state.items()):
            raise _Unlisted
        return {
            "#": "module",
            "class": name,
            "attributes": self._inside(state),
            "frozen": [key for key, weight in value.named_parameters(recurse=False) if not weight.requires_grad],
            "non_persistent": sorted(value._non_persistent_buffers_set),
            "parameters": self._inside(dict(value._parameters)),
            "buffers": self._inside(dict(value._buffers)),
            "modules": self._inside(dict(value._modules)),
        }

    def _inside(self, parts: dict[str, Any]) -> Node:
        """Return the parts of a listed object; if one is not in the list, neither is the object."""
        before = len(self.pickled)
        node = self.encode(parts)
        if len(self.pickled) > before:
            del self.pickled[before:]
            raise _Unlisted
        return node

    def _check_unfitted(self, value: Any) -> None:
        if any(name.endswith("_") and not name.startswith("_") for name in vars(value)):
            if self.pickle_fitted:
                raise _Unlisted
            raise FittedEstimator

    def _part(self, pattern: str, content: bytes) -> str:
        name = pattern.format(len(self.parts))
        self.parts[name] = content
        return name

    def _forget(self, parts: int, tensors: int) -> None:
        """Drop what was collected for an object that is pickled after all."""
        for collected, count in ((self.parts, parts), (self.tensors, tensors)):
            for name in list(collected)[count:]:
                del collected[name]


class _Unlisted(Exception):
    """Raised for a value that is not in the list of what a file may hold, and can only be pickled."""


class _Reader:
    """Turns JSON nodes back into values, within the limits of a file."""

    def __init__(self, archive: zipfile.ZipFile, path: str, trusted: bool) -> None:
        self.archive, self.path, self.trusted = archive, path, trusted
        packed = sum(part.compress_size for part in archive.infolist())
        self.left = self.most = allowed.UNPACKED + allowed.RATIO * packed
        self.depth = 0
        self._tensors: dict[str, Any] | None = None

    def tree(self) -> Node:
        """Return the JSON, unless it holds more values than any that `write_objects` wrote."""
        size = self.archive.getinfo("content.json").file_size
        if size > allowed.TEXT:
            raise self._too_large(f"a table of contents that unpacks to {size >> 20} MB")
        found = self.read("content.json")
        if sum(map(found.count, (b",", b"[", b"{"))) > allowed.NODES:
            raise self._too_large(f"more than {allowed.NODES:,} values")
        return json.loads(found)

    def read(self, name: str) -> bytes:
        """Return a part; all that are read count together, one that is named often as often."""
        part = self.archive.getinfo(name)
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{name} is compressed in an unknown way")
        self.left -= part.file_size
        if self.left < 0:
            raise self._too_large(f"parts that unpack to more than {self.most >> 20} MB")
        return self.archive.read(part)

    def decode(self, node: Node) -> Any:
        if not isinstance(node, list | dict):
            return node
        self.depth += 1
        if self.depth > allowed.DEPTH:
            raise self._too_large(f"values in values, more than {allowed.DEPTH} deep")
        try:
            return [self.decode(part) for part in node] if isinstance(node, list) else self._decoder(node)(node)
        finally:
            self.depth -= 1

    def _decoder(self, node: Node) -> Callable[[Node], Any]:
        known: dict[str, Callable[[Node], Any]] = {
            "tuple": lambda node: tuple(self.decode(_a(list, node["of"]))),
            "dict": self._dict,
            "array": self._array,
            "tensor": self._tensor,
            "name": self._name,
            "object": self._object,
            "module": self._module,
            "strategy": self._strategy,
            "pickle": self._pickle,
        }
        if node["#"] not in known:
            raise self._refusal(f"a part of the kind {str(node['#'])[:80]!r}")
        return known[node["#"]]

    def _name(self, node: Node) -> Any:
        if node["of"] not in allowed.NAMES:
            raise self._refusal(f"the name {str(node['of'])[:80]}")
        return allowed.find_class(f"{allowed.NAMES[node['of']]}:{node['of']}")

    def _dict(self, node: Node) -> Any:
        found = {self.decode(key): self.decode(part) for key, part in _a(list, node["of"])}
        if any(isinstance(key, int) and abs(key) > allowed.KEY for key in found):
            raise ValueError("a key is out of range")
        return found

    def _array(self, node: Node) -> Any:
        if "in" in node:
            return _array_of(self.read(node["in"]))
        dtype = np.dtype(_a(str, node["type"]))
        if dtype.kind not in "biuf":
            raise ValueError(f"an array of type {node['type']}")
        array = np.array(_a(list, node["of"]), dtype=dtype)
        return array.reshape(node["shape"])[()] if node["shape"] == [] else array.reshape(node["shape"])

    def _tensor(self, node: Node) -> Any:
        import torch
        from safetensors.torch import load

        if self._tensors is None:
            self._tensors = load(self.read("weights.safetensors"))
        tensor = self._tensors.pop(node["in"])  # once: each has a name of its own
        return tensor.to(memory_format=torch.channels_last) if node["channels_last"] else tensor

    def _object(self, node: Node) -> Any:
        name = _a(str, node["class"])
        if name not in allowed.SETTINGS and name not in allowed.ATTRIBUTES:
            raise self._refusal(f"an object of {name}")
        settings, attributes = self._kept(node, "settings", name), self._kept(node, "attributes", name)
        kind: Any = allowed.find_class(name)
        if _is_module_name(name):
            raise ValueError(f"{name} is a network")
        value = kind(**settings) if name in allowed.SETTINGS else kind.__new__(kind)
        if name not in allowed.SETTINGS and attributes.keys() != allowed.ATTRIBUTES[name].keys():
            raise ValueError(f"a {name} has the attributes {', '.join(attributes)}")
        vars(value).update(attributes)
        return value

    def _module(self, node: Node) -> Any:
        from torch import nn

        name = _a(str, node["class"])
        if not _is_module_name(name):
            raise self._refusal(f"an object of {name}")
        kind: Any = allowed.find_class(name)
        value = kind.__new__(kind)
        nn.Module.__init__(value)
        state = self._kept(node, "attributes", name, {"training": allowed.FLAG})
        if not allowed.ATTRIBUTES[name].keys() <= state.keys():
            raise ValueError(f"a {name} has the attributes {', '.join(state)}")
        vars(value).update(state)
        frozen, fleeting = _a(list, node["frozen"]), _a(list, node["non_persistent"])
        for key, part in self._parts(node, "parameters"):
            value.register_parameter(key, None if part is None else nn.Parameter(part, requires_grad=key not in frozen))
        for key, part in self._parts(node, "buffers"):
            value.register_buffer(key, part, persistent=key not in fleeting)
        for key, part in self._parts(node, "modules"):
            value.add_module(key, part)
        return value

    def _parts(self, node: Node, which: str) -> list[tuple[str, Any]]:
        return list(_a(dict, self.decode(node[which])).items())

    def _kept(self, node: Node, which: str, name: str, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return settings or attributes; raise ValueError for one that is not in the list or not of its kind."""
        lists = allowed.SETTINGS if which == "settings" else allowed.ATTRIBUTES
        kinds: Mapping[str, allowed.Kind] = {**lists.get(name, {}), **(more or {})}
        found: dict[str, Any] = _a(dict, self.decode(node[which]))
        for key, value in found.items():
            if key not in kinds:
                raise self._refusal(f"a {name} with {key!r}")
            if not kinds[key].holds(value):
                shown = repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
                raise self._refusal(f"a {name} whose {key} is {shown[:80]}")
        return found

    def _strategy(self, node: Node) -> Any:
        strategies = allowed.strategies()
        settings = _a(dict, self.decode(node["settings"]))
        if not all(map(allowed.STRATEGY.holds, settings.values())) or node["class"] not in strategies.names():
            raise self._refusal(f"the strategy {str(node['class'])[:80]}")
        return strategies.find(node["class"])(**settings)

    def _pickle(self, node: Node) -> Any:
        if not self.trusted:
            raise DataError(
                f"{self.path} holds a {str(node['class'])[:200]} as a pickle, since it or a setting of it is not in "
                "the list of what a file may hold, and reading that runs code; if you trust where the file comes from, "
                "load it with trusted=True."
            )
        return pickle.loads(self.read(node["in"]))

    def _refusal(self, what: str) -> DataError:
        return DataError(
            f"{self.path} holds {what}, which is not in the list of what a file may hold; get it from where it was "
            "written."
        )

    def _too_large(self, what: str) -> DataError:
        return DataError(f"{self.path} holds {what}, which no file of cusal does; get it from where it was written.")


def is_object_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is one that `write_objects` wrote, or whether reading it says what is wrong."""
    place = as_path(path)
    try:
        return not os.access(place, os.R_OK) or not place.is_file() or zipfile.is_zipfile(place)
    except OSError:  # a name that no file can have, which reading says
        return True


def _array_of(content: bytes) -> Any:
    """Return the array of a .npy file, which must hold as many numbers as it says."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.kind not in NUMBERS or not dtype.itemsize:
        raise ValueError(f"an array of type {dtype}")
    if math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise ValueError(f"an array that says it has shape {shape}")
    file.seek(0)
    return np.load(file, allow_pickle=False)


def _a(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"a {type(value).__name__} where a {kind.__name__} belongs")
    return value


def _plain(value: Any) -> Any:
    """Return a setting without NumPy's types of numbers."""
    return value.item() if isinstance(value, np.generic) else value


def _same(value: Any, default: Any) -> bool:
    if type(value) is not type(default):
        return False
    return bool(value is default or (isinstance(value, bool | int | float | str | None) and value == default))


def _beside_defaults(kind: type, settings: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    import inspect

    known = inspect.signature(kind).parameters
    return [(part, known[key].default if key in known else None) for key, part in settings.items()]


def _file(kind: type) -> str:
    return kind.__module__.rpartition(".")[2]


def _is_strategy(value: Any) -> bool:
    strategies, name = allowed.strategies(), _file(type(value))
    return name in strategies.names() and strategies.find(name) is type(value)


def _is_tensor(value: Any) -> bool:
    return type(value).__module__.startswith("torch") and hasattr(value, "detach") and hasattr(value, "ndim")


def _is_channels_last(value: Any) -> bool:
    import torch

    return bool(value.is_contiguous(memory_format=torch.channels_last))


def _is_module(value: Any) -> bool:
    return hasattr(value, "named_parameters") and hasattr(value, "_modules")


def _is_module_name(name: str) -> bool:
    """Return whether the list has a class as a network."""
    return name in allowed.ATTRIBUTES and name.startswith(("torch.nn:", "cusal.models.networks"))
