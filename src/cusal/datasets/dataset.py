"""The two records of a data set: `Source`, what is published and where, and `Dataset`, what was loaded.

A file of this package that defines `SOURCE` and `load(folder)` is a data set; the file's name is its name.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]


class Items(Protocol):
    """What a pool is made of: a float32 array, or something on disk that is indexed like one."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any, /) -> Any: ...


@dataclass(frozen=True)
class Source:
    """What its publisher ships: counts, files, addresses and licence.

    `forms` lists the sets of files that hold the data, any one of which is enough; paths are relative to
    `folder` in the data folder. `checksums` pairs each file that can be downloaded with "md5:..." or
    "sha256:...", `addresses` are the folders on the web that serve them, tried in order. `advice` says how to
    obtain what cannot be downloaded.
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
    """A loaded data set: items ready for a network, labels 0 .. classes - 1, and the names of the classes.

    `train` and `test` have shape (n, ...), float32 and normalised, channels first for images. `train` serves
    as warm-up and pool, `test` as test set.
    """

    name: str
    train: Items
    train_labels: Labels
    test: Items
    test_labels: Labels
    classes: tuple[str, ...]
