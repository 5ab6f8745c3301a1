"""The pieces of a pool in files: a part is one file, a chunk what one worker scores, a tile what is read at once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats

TILE_ROWS = 1 << 16
TILE_NUMBERS = 1 << 22  # of one tile: 16 MB of float32


class Column(NamedTuple):
    """A column beside the probabilities: its name in `.npz` and in tables, and whether a part must have it.

    probs: the columns of the classes, where they are named.
    """

    array: str
    table: str
    required: bool
    probs: tuple[str, ...] = ()
    is_label: bool = False


IDS = Column("ids", "id", required=False)
LABELS = Column("labels", "label", required=True, is_label=True)


class Contents(NamedTuple):
    """What a part holds: the number of classes, the rows of its units, names of classes, and where units begin."""

    classes: int
    units: list[int]
    names: tuple[str, ...] = ()  # empty where the part does not name them
    places: tuple[int, ...] = ()  # in bytes, and where the last unit ends; empty where the format finds them itself


@dataclass(frozen=True)
class Part:
    """One file: its contents, and the column that is read beside the probabilities.

    `unit_name` is what the format calls a unit, for messages; empty where it has no name.
    """

    path: Path
    contents: Contents
    stamp: tuple[int, int]  # size in bytes, time of the last change
    column: Column = IDS
    unit_name: str = ""

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.contents.classes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes, if the part has them."""
        return self.contents.names

    @property
    def units(self) -> list[int]:
        """The rows of each unit that can be read on its own."""
        return self.contents.units

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.units)


@dataclass(frozen=True)
class Chunk:
    """Consecutive units of one part: what one worker reads and scores."""

    part: Part
    start: int  # number of its first row in the whole pool
    first_unit: int
    stop_unit: int

    @property
    def first_row(self) -> int:
        """The number of its first row in the part."""
        return sum(self.part.units[: self.first_unit])

    @property
    def rows(self) -> int:
        """The number of its rows."""
        return sum(self.part.units[self.first_unit : self.stop_unit])

    def locate(self, row: int) -> str:
        """Return the words that say where a row of the part is."""
        if not self.part.unit_name:
            return f"row {row}"
        ends = np.cumsum(self.part.units)
        return f"row {row} ({self.part.unit_name} {int(np.searchsorted(ends, row, side='right'))})"


class Tile(NamedTuple):
    """Some rows of a part; `beside` holds their ids or labels, where the part has them."""

    probs: Floats
    beside: NDArray[Any] | None


def tile_rows(classes: int) -> int:
    """Return the number of rows of one tile."""
    return max(1, min(TILE_ROWS, TILE_NUMBERS // classes))
