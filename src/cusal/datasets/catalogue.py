"""The data sets by name: each file of this package that defines `SOURCE` and `load`, and one's own files."""

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from cusal.datasets.dataset import Dataset, Source
from cusal.datasets.files import data_folder, missing
from cusal.datasets.formats.arrays import load_npz
from cusal.datasets.formats.table import load_csv
from cusal.errors import UnknownName

OWN_FILES = {"csv": load_csv, "npz": load_npz}


@dataclass(frozen=True)
class Description:
    """One row of the list of data sets; `present` tells whether its files are there."""

    name: str
    title: str
    classes: int
    train: int
    test: int
    shape: tuple[int, ...]
    present: bool
    folder: Path


@cache
def _modules() -> dict[str, ModuleType]:
    files = [info.name for info in pkgutil.iter_modules([str(Path(__file__).parent)])]
    modules = {name: importlib.import_module(f"{__package__}.{name}") for name in files}
    return {name: module for name, module in modules.items() if hasattr(module, "SOURCE")}


def names() -> list[str]:
    """Give the names of all data sets, sorted.

    >>> "digits" in names()
    True
    """
    return sorted(_modules())


def find_source(name: str) -> Source:
    """Give what is known of a data set without reading it."""
    if name not in _modules():
        raise UnknownName("data set", name, [*names(), *(f"{kind}:PATH" for kind in OWN_FILES)])
    source = _modules()[name].SOURCE
    assert isinstance(source, Source)
    return source


def where(name: str, folder: str | Path | None = None) -> Path:
    """Give the folder that holds, or would hold, the files of a data set."""
    return data_folder(folder) / find_source(name).folder


def load(name: str, folder: str | Path | None = None) -> Dataset:
    """Give a data set by its name, or one's own from "csv:PATH" or "npz:PATH".

    `folder` is the folder of all data sets; else CUSAL_DATA names it, else it is the user's cache folder.

    >>> load("digits").train.shape
    (1438, 1, 8, 8)
    """
    kind, colon, path = name.partition(":")
    if colon and kind in OWN_FILES:
        return OWN_FILES[kind](Path(path).expanduser())
    place = where(name, folder)
    dataset = _modules()[name].load(place)
    assert isinstance(dataset, Dataset)
    return dataset


def describe(folder: str | Path | None = None) -> list[Description]:
    """Give one row for each data set, sorted by name."""
    rows = []
    for name in names():
        source, place = find_source(name), where(name, folder)
        there = not missing(source, place)
        rows.append(
            Description(name, source.title, source.classes, source.train, source.test, source.shape, there, place)
        )
    return rows
