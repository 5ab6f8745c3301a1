"""Readers of the files that data sets come in.

A file here that defines `SUFFIXES` and `load(path)` reads data sets of one's own: `csv:PATH`, or a path that ends in
one of the suffixes. `PREFIX` is the word before the colon where that is not the first suffix. Nothing else needs to be
changed to add one. The suffix "/" is for folders.
"""

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import Protocol, cast

from cusal.apps.bench.datasets.dataset import Dataset
from cusal.errors import DataError, InvalidInput

FOLDER = "/"


class OwnFormat(Protocol):
    """A module that reads data sets of one's own; its first suffix, without the dot, is the prefix of their names."""

    SUFFIXES: tuple[str, ...]

    def load(self, path: Path) -> Dataset: ...


@cache
def own_formats() -> dict[str, OwnFormat]:
    """Return the formats of one's own files by their prefix, such as "csv"."""
    modules = (importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__))
    found = [cast(OwnFormat, module) for module in modules if hasattr(module, "SUFFIXES") and hasattr(module, "load")]
    return {getattr(module, "PREFIX", module.SUFFIXES[0].removeprefix(".")): module for module in found}


def load_own(name: str) -> Dataset | None:
    """Return the data set of one's own that `name` stands for: "csv:PATH", a path with a known suffix, or a folder.

    None where the name is of neither kind.
    """
    if not isinstance(name, str) or "\0" in name:
        raise InvalidInput(f"the name of a data set is {str(name)[:60]!r}; expected a name, or the path of a file.")
    kind, colon, path = name.partition(":")
    if not colon or kind not in own_formats():
        ending = f"{name}/" if "/" in name and Path(name).expanduser().is_dir() else name.lower()
        kind, path = next((k for k, known in own_formats().items() if ending.endswith(known.SUFFIXES)), ""), name
    if not kind:
        return None
    place, known = Path(path).expanduser(), own_formats()[kind]
    if FOLDER in known.SUFFIXES:
        if not place.is_dir():
            raise DataError(f"{place} not found; give the path of a folder that holds one folder for each class.")
    elif not place.is_file():
        raise DataError(f"{place} not found; give the path of a file that ends in {' or '.join(known.SUFFIXES)}.")
    return known.load(place)
