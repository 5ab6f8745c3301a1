"""Rows of a CSV or TSV file with a column for each class, also compressed; read a piece at a time."""

import csv
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from cusal.errors import DataError
from cusal.scale.columns import find_probs
from cusal.scale.formats._records import find_places, read_unit
from cusal.scale.parts import Chunk, Column, Contents, Tile
from cusal.tables import Delimited, TextFile

SUFFIXES = (".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".tab.gz")
TEXT = True
ROWS = 4096  # whose cells are held as text at once


def describe(path: Path, column: Column) -> Contents:
    """Return the classes by the first line, and the units by one pass over the file that counts its rows."""
    table = Delimited(path, header=True)
    _refuse_wide(table, path)
    found = find_probs(table.columns, column, path)
    if found.lists is not None:
        raise DataError(f"{path}: a CSV holds no lists; give a column for each class (--columns A,B,C), or JSONL.")
    units, places = find_places(path, classes=len(found.columns), header=True)
    return Contents(len(found.columns), units, found.names, places)


def read(chunk: Chunk) -> Iterator[Tile]:
    """Yield the rows of a chunk, unit by unit."""
    part = chunk.part
    table = Delimited(part.path, header=True)
    found = find_probs(table.columns, part.column, part.path)
    where = [table.columns.index(name) for name in found.columns]
    beside = table.columns.index(part.column.table) if part.column.table in table.columns else None
    row = chunk.first_row
    with TextFile(part.path).bytes() as file:
        for unit in range(chunk.first_unit, chunk.stop_unit):
            records = _records(file, chunk, unit, table)
            begun = row
            while cells := list(islice(records, ROWS)):
                yield Tile(_numbers(cells, where, chunk, row), _texts(cells, beside, chunk, row))
                row += len(cells)
            if row - begun != part.units[unit]:
                raise DataError(
                    f"{part.path}: {row - begun} rows from row {begun} on, but {part.units[unit]} by line breaks; "
                    "a quote stands in a cell that is not quoted, or the file changed. Write it again, quotes doubled."
                )


def _refuse_wide(table: Delimited, path: Path) -> None:
    if table.encoding == "utf-16":
        raise DataError(f"{path} is UTF-16; write it as UTF-8, so that it can be read a piece at a time.")


def _records(file: BinaryIO, chunk: Chunk, unit: int, table: Delimited) -> Iterator[list[str]]:
    """Yield the cells of each record of a unit; a line of white space is none."""
    text = read_unit(file, chunk.part.contents.places, unit).decode(table.encoding, errors="replace")
    csv.field_size_limit(2**31 - 1)  # a text may be long; the limit is one for the process
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=table.delimiter)
    try:
        yield from (cells for cells in reader if table.delimiter.join(cells).strip())
    except csv.Error as error:
        raise DataError(f"{chunk.part.path}: {error}; write the table again.") from error


def _numbers(records: list[list[str]], where: list[int], chunk: Chunk, row: int) -> NDArray[np.float64]:
    try:
        return np.array([[float(cells[i]) for i in where] for cells in records])
    except (ValueError, IndexError):
        for number, cells in enumerate(records, start=row):
            for i, name in zip(where, find_names(chunk), strict=True):
                _as_number(cells, i, f"{chunk.part.path}: {name}: {chunk.locate(number)}")
        raise


def find_names(chunk: Chunk) -> tuple[str, ...]:
    """Return the columns of a part's classes, for messages."""
    return chunk.part.names or tuple(f"p{k}" for k in range(chunk.part.classes))


def _as_number(cells: list[str], place: int, where: str) -> float:
    try:
        return float(cells[place])
    except IndexError:
        raise DataError(f"{where} has no such cell; give every row a cell for each column.") from None
    except ValueError:
        raise DataError(f"{where} is {cells[place][:40]!r}; expected a number with a decimal point.") from None


def _texts(records: list[list[str]], place: int | None, chunk: Chunk, row: int) -> NDArray[np.str_] | None:
    if place is None:
        return None
    texts = [cells[place].strip() if len(cells) > place else "" for cells in records]
    if "" in texts:
        where = chunk.locate(row + texts.index(""))
        raise DataError(f"{chunk.part.path}: {chunk.part.column.table}: {where} is empty; give every row a value.")
    return np.array(texts)
