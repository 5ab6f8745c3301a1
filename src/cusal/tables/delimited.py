"""CSV and TSV files, also compressed: records by column name, read line by line."""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, Any

from cusal.errors import DataError
from cusal.tables.notes import Notes
from cusal.tables.text_file import TextFile

SUFFIXES = (".csv", ".tsv", ".tab")
DELIMITERS = ",;\t|"
SINGLE = "\x1f"  # the unit separator: a file of one column has no delimiter
WINDOWS = "cp1252"
SAMPLE = 1 << 18  # letters that the delimiter is found in

NOT_UTF8 = "{first} is not UTF-8 and was read as Windows-1252."
RAGGED = "{count} rows have more cells than there are columns, and the rest was left out; the first is row {first}."

Record = dict[str, Any]


class Delimited:
    """A table whose first line names its columns; the delimiter and the encoding are found.

    Parameters
    ----------
    path : Path
        The file, also with .gz.

    Attributes
    ----------
    columns : list of str
        The names of the columns.
    delimiter, encoding : str
        As found in the beginning of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._file, self._notes = path, TextFile(path), Notes()
        self.encoding = _encoding(self._file)
        with self._file.opened(self.encoding, newline="") as file:
            sample = file.read(SAMPLE)
        self.delimiter = "\t" if _stem(path).endswith((".tsv", ".tab")) else _delimiter(sample)
        first = next(self._lines(io.StringIO(sample)), None)
        if not first or not any(cell.strip() for cell in first):
            raise DataError(f"{path} is empty; give a table whose first line names its columns.")
        self.columns = _unique(first)

    @property
    def share(self) -> float | None:
        """How much of the file has been read."""
        return self._file.share

    def notes(self) -> list[str]:
        """Return what was noticed while reading."""
        return self._notes.sentences()

    def records(self) -> Iterator[Record]:
        """Yield the rows by column name; a cell that is missing is None."""
        columns, self._notes = self.columns, Notes()
        if self.encoding == WINDOWS:
            self._notes.add(NOT_UTF8, self._path.name)
        with self._file.opened(self.encoding, newline="") as file:
            lines = self._lines(file)
            next(lines, None)
            for number, cells in enumerate(lines, start=1):
                if len(cells) > len(columns):
                    self._notes.add(RAGGED, str(number))
                yield dict(zip_longest(columns, cells[: len(columns)]))

    def _lines(self, file: IO[str]) -> Iterator[list[str]]:
        """Yield the cells of each line that is not empty."""
        csv.field_size_limit(2**31 - 1)  # a text may be long; the limit is one for the process
        reader = csv.reader(file, delimiter=self.delimiter)
        try:
            yield from filter(None, reader)
        except csv.Error as error:
            raise DataError(f"{self._path}, line {reader.line_num}: {error}; write the table again.") from error


def _stem(path: Path) -> str:
    return path.name.lower().removesuffix(".gz")


def _encoding(file: TextFile) -> str:
    """Return the encoding of a file: by its mark, else UTF-8, else the one of Windows."""
    with file.bytes() as content:
        start = content.read(SAMPLE * 4)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        start.decode()
    except UnicodeDecodeError as error:
        if error.start < len(start) - 4 or len(start) < SAMPLE * 4:  # not just a letter that the end cuts in two
            return WINDOWS
    return "utf-8-sig"


def _delimiter(sample: str) -> str:
    """Return the sign between the cells: one of the first line that splits the lines after it alike."""
    best, most = SINGLE, (0.0, 0)
    header = next(_readable(sample, SINGLE), [""])[0]
    for sign in DELIMITERS:
        if sign not in header:
            continue
        rows = list(islice(_readable(sample, sign), 100))
        if not rows:
            continue
        rows = rows[:-1] if len(rows) > 2 else rows  # the end of the sample may cut the last one
        alike = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        if (alike, len(rows[0])) > most:
            best, most = sign, (alike, len(rows[0]))
    return best


def _readable(sample: str, sign: str) -> Iterator[list[str]]:
    """Yield the rows of a sample up to one that cannot be read; reading the table names its line."""
    try:
        yield from filter(None, csv.reader(io.StringIO(sample), delimiter=sign))
    except csv.Error:
        return


def _unique(names: Sequence[str]) -> list[str]:
    """Return names for all columns: those without one are numbered, those that are there twice are told apart."""
    unique: list[str] = []
    for number, name in enumerate((name.strip() for name in names), start=1):
        name = name or f"column {number}"
        unique.append(name if name not in unique else f"{name} ({number})")
    return unique
