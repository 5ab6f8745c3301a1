"""The data sets by name, and one's own files.

A file of this package that defines `SOURCE` and `load(folder)` is a data set of its name; one that defines `SOURCES`,
by name, and `load(name, folder)` holds several.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from cusal.apps.bench.datasets.dataset import Dataset, Source
from cusal.apps.bench.datasets.files import data_folder, missing
from cusal.apps.bench.datasets.formats import load_own, own_formats
from cusal.errors import UnknownName


@dataclass(frozen=True)
class Description:
    """One row of the list of data sets.

    Attributes
    ----------
    name : str
        What `load` takes.
    title : str
        What people call it.
    classes, train, test : int
        How many classes, train items and test items it has.
    shape : tuple of int
        The shape of one item.
    present : bool
        Whether its files are there.
    folder : Path
        Where they lie, or would lie.
    """

    name: str
    title: str
    classes: int
    train: int
    test: int
    shape: tuple[int, ...]
    present: bool
    folder: Path


@cache
def _known() -> dict[str, tuple[Source, Callable[[Path], Dataset]]]:
    """Return the source of each data set, and what loads it from its folder."""
    known: dict[str, tuple[Source, Callable[[Path], Dataset]]] = {}
    for file in pkgutil.iter_modules([str(Path(__file__).parent)]):
        module = importlib.import_module(f"{__package__}.{file.name}")
        if hasattr(module, "SOURCE"):
            known[file.name] = module.SOURCE, module.load
        for name, source in getattr(module, "SOURCES", {}).items():
            known[name] = source, partial(module.load, name)
    return known


def names() -> list[str]:
    """Return the names of all data sets, sorted.

    Returns
    -------
    list of str
        What `load` and `cusal data get` take.

    Examples
    --------
    >>> "digits" in names()
    True
    """
    return sorted(_known())


def find_source(name: str) -> Source:
    """Return what is known of a data set without reading it.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    Source
        Its title, size, files, addresses and licence.

    Raises
    ------
    UnknownName
        If there is no such data set; the message suggests the nearest name.

    Examples
    --------
    >>> find_source("mnist").train
    60000
    """
    if not isinstance(name, str) or name not in _known():
        raise UnknownName("data set", name, [*names(), *(f"{kind}:PATH" for kind in own_formats())])
    return _known()[name][0]


def where(name: str, folder: str | Path | None = None) -> Path:
    """Return the folder that holds, or would hold, the files of a data set.

    Parameters
    ----------
    name : str
        One of `names()`.
    folder : str or Path, optional
        The folder of all data sets, as in `load`.

    Returns
    -------
    Path
        The folder, which need not exist.

    Examples
    --------
    >>> where("mnist", "data").as_posix()
    'data/mnist'
    """
    return data_folder(folder) / find_source(name).folder


def load(name: str, folder: str | Path | None = None) -> Dataset:
    """Return a data set by its name, or one's own from a file.

    Parameters
    ----------
    name : str
        One of `names()`; or the path of a file or folder of one's own, with or without its kind in front: "table.csv",
        "csv:table.txt", "npz:arrays.npz", "images:pictures" for a folder with one folder of images for each class.
    folder : str or Path, optional
        The folder of all data sets. By default the one that CUSAL_DATA names, else the user's cache folder.

    Returns
    -------
    Dataset
        Items ready for a model, their labels and the names of the classes.

    Raises
    ------
    UnknownName
        If there is no such data set.
    DataError
        If a file is missing or damaged; the message says how to get it.

    Examples
    --------
    >>> load("digits").train.shape
    (1438, 1, 8, 8)
    """
    own = load_own(name)
    if own is not None:
        return own
    place = where(name, folder)
    return _known()[name][1](place)


def describe(folder: str | Path | None = None) -> list[Description]:
    """Return one row for each data set, sorted by name.

    Parameters
    ----------
    folder : str or Path, optional
        The folder of all data sets, as in `load`.

    Returns
    -------
    list of Description
        Name, size and whether the files are there.

    Examples
    --------
    >>> next(row.classes for row in describe() if row.name == "digits")
    10
    """
    rows = []
    for name in names():
        source, place = find_source(name), where(name, folder)
        there = not missing(source, place)
        rows.append(
            Description(name, source.title, source.classes, source.train, source.test, source.shape, there, place)
        )
    return rows
