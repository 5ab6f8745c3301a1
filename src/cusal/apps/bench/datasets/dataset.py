"""The two records of a data set: `Source`, what is published and where, and `Dataset`, what was loaded.

A file of this package that defines `SOURCE` and `load(folder)` is a data set; the file's name is its name.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

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


# From bytes to what a network reads: (pixel / 255 - mean) / deviation, channel by channel.


def normalise(
    images: NDArray[np.uint8], *, mean: tuple[float, ...], deviation: tuple[float, ...]
) -> NDArray[np.float32]:
    """Return (n, channels, height, width) bytes as float32, each channel with mean 0 and deviation 1."""
    pixels = np.ascontiguousarray(images).astype(np.float32)
    for channel, (centre, spread) in enumerate(zip(mean, deviation, strict=True)):
        pixels[:, channel] -= np.float32(255 * centre)
        pixels[:, channel] /= np.float32(255 * spread)
    return pixels


# The split of a data set that comes without one: stratified by class and the same every time.


TEST_SHARE = 0.2


def split_stratified(labels: Labels, *, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the train and the test items, ascending: a fifth of each class is for the test.

    A class of one or two items stays in the train split, so that it can be learned at all.
    """
    rng = np.random.default_rng(seed)
    in_test = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        in_test[rng.permutation(members)[: round(TEST_SHARE * len(members))]] = True
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)
