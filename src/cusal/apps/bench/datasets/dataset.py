"""The two records of a data set: `Source`, what is published and where, and `Dataset`, what was loaded.

A file of this package that defines `SOURCE` and `load(folder)` is a data set; the file's name is its name.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from cusal._types import Indices

Labels = Indices  # class numbers


class Items(Protocol):
    """What a pool is made of: a float32 array, or something on disk that is indexed like one."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any, /) -> Any: ...


@dataclass(frozen=True)
class Source:
    """What the publisher of a data set ships.

    Attributes
    ----------
    title : str
        What people call it.
    classes, train, test : int
        How many classes, train items and test items it has.
    shape : tuple of int
        The shape of one item; () of a text.
    licence : str
        Under which terms it may be used.
    folder : str
        Its folder in the data folder; paths in `forms` are relative to it.
    forms : tuple of tuples of str
        The sets of files that hold the data, any one of which is enough.
    checksums : tuple of (str, str)
        Each file that can be downloaded, with "md5:..." or "sha256:...".
    addresses : tuple of str
        The folders on the web that serve them, tried in order.
    advice : str
        How to obtain what cannot be downloaded.
    """

    title: str
    classes: int
    shape: tuple[int, ...]
    train: int
    test: int
    licence: str
    folder: str = ""
    forms: tuple[tuple[str, ...], ...] = ((),)
    checksums: tuple[tuple[str, str], ...] = ()
    addresses: tuple[str, ...] = ()
    advice: str = ""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A loaded data set: items ready for a network, and their labels.

    Attributes
    ----------
    name : str
        What `load` was given.
    train, test : array of shape (n, ...)
        The items, float32 and normalised, channels first for images; texts as objects; or something on disk that is
        indexed like an array. `train` serves as warm-up and pool.
    train_labels, test_labels : array of shape (n,), int64
        Class numbers 0 .. classes - 1.
    classes : tuple of str
        The names of the classes.
    reading : str
        Of one's own table: what was taken for what.
    """

    name: str
    train: Items
    train_labels: Labels
    test: Items
    test_labels: Labels
    classes: tuple[str, ...]
    reading: str = ""
