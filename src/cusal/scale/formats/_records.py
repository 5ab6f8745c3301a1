"""Where the records of a text file begin, so that any piece of a file larger than memory can be read on its own.

One pass over the bytes counts records and keeps the place of every so many. In a table with quotes, a line ends only
where an even number of quotes stands before it. A piece must then hold as many records as were counted in it: a quote
in a cell that is not quoted, which would shift the count, is found so.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cusal.tables import TextFile

BLOCK = 1 << 22
NUMBERS = 1 << 20  # of one unit: text and its cells take far more memory than the numbers
NEWLINE, SPACE, QUOTE = 10, 32, 34


class Places(NamedTuple):
    """The rows of each unit, and where the units begin; the last place is the end of the file."""

    units: list[int]
    places: tuple[int, ...]


def find_places(path: Path, *, classes: int, header: bool) -> Places:
    """Return the units of a file, of about a million numbers each.

    header: the first record names the columns, and line breaks within quotes are part of a cell.
    """
    step = max(1, NUMBERS // classes)
    count, places = -1 if header else 0, [] if header else [0]
    size, content = 0, False
    with TextFile(path).bytes() as file:
        for ends in _record_ends(file, quoted=header):
            numbers = count + 1 + np.arange(len(ends.stops))
            count += len(ends.stops)
            places += ends.stops[numbers % step == 0].tolist()
            size, content = ends.size, ends.content
    count = max(count + content, 0)  # the last line may have no break
    units = [min(step, count - start) for start in range(0, count, step)]
    return Places(units, (*places[: len(units)], size))


class _Ends(NamedTuple):
    stops: NDArray[np.int64]  # where records end, after the line break
    size: int  # bytes so far
    content: bool  # whether anything but white space follows the last line break


def _record_ends(file: BinaryIO, *, quoted: bool) -> Iterator[_Ends]:
    """Yield where the records of each block end; lines that hold nothing are no records."""
    size, quotes, content = 0, 0, False
    while block := file.read(BLOCK):
        data = np.frombuffer(block, dtype=np.uint8)
        breaks = data == NEWLINE
        if quoted and (quotes or b'"' in block):
            before = quotes + np.cumsum(data == QUOTE)
            breaks &= before % 2 == 0
            quotes = int(before[-1]) % 2
        stops = np.flatnonzero(breaks)
        filled = np.concatenate([[0], np.cumsum(data > SPACE)])  # signs that are no white space, before each place
        begins = np.concatenate([[0], stops + 1])
        there = np.diff(filled[np.append(begins, len(data))]) > 0  # for each line, and for what follows the last break
        there[0] |= content
        content = bool(there[-1])
        yield _Ends(stops[there[:-1]] + size + 1, size + len(block), content)
        size += len(block)


def read_unit(file: BinaryIO, places: tuple[int, ...], unit: int) -> bytes:
    """Return the bytes of one unit."""
    file.seek(places[unit])
    return file.read(places[unit + 1] - places[unit])
