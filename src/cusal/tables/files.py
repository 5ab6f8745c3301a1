"""Tables in files, read row by row: CSV, TSV, JSON lines, texts by line, Parquet; all but Parquet also with .gz."""

import csv
import gzip
import io
import json
import os
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from cusal.errors import DataError, MissingExtra
from cusal.tables.names import USUAL_NAMES

DELIMITED, LINES, TEXTS = (".csv", ".tsv", ".tab"), (".jsonl", ".ndjson"), (".txt",)
PARQUET = (".parquet", ".pq")
SUFFIXES = (*DELIMITED, *LINES, *TEXTS, *PARQUET)
TEXT = "text"  # the column of a file of texts, and the only one of a table whose columns have no names
SAMPLE = 1_000  # rows that say what the columns are
DELIMITERS = ",;\t|"
SINGLE = "\x1f"  # the unit separator: a file of one column has no delimiter
WINDOWS = "cp1252"
LETTERS = 1 << 18  # that the delimiter and the header are found in
PARQUET_ROWS = 1_000  # that are turned into Python objects together
PARQUET_BYTES = 1 << 16  # of each column: without it, a whole row group is held

NOT_UTF8 = "{first} is not UTF-8 and was read as Windows-1252."
RAGGED = "{count} rows have more cells than there are columns, and the rest was left out; the first is row {first}."
NO_OBJECT = "{count} lines are no JSON objects and were left out; the first is line {first}."
NO_HEADER = "The first line of {first} was read as a row, since it names no columns."
ONE_LINE = "The first line, {first}, was taken for the name of the column; if it is a row, add --no-header."

Record = dict[str, Any]


class Notes:
    """What was noticed while reading: each kind of thing once, with a number and its first place."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, sentence: str, where: str) -> None:
        """Note something; `sentence` holds the fields {count} and {first}."""
        self._counts[sentence] += 1
        self._first.setdefault(sentence, where)

    def sentences(self) -> list[str]:
        """Return the notes as sentences."""
        return [
            sentence.format(count=f"{count:,}", first=self._first[sentence]) for sentence, count in self._counts.items()
        ]


class Table(ABC):
    """A file of records.

    Parameters
    ----------
    path : Path
        The file.

    Attributes
    ----------
    columns : list of str
        The names of the columns.
    first_row : int
        The number of the first row in messages: as people count: 2 below a header, 0 in Parquet.
    """

    columns: list[str]
    first_row = 1

    def __init__(self, path: Path) -> None:
        self.path, self._notes = path, Notes()

    @property
    @abstractmethod
    def share(self) -> float | None:
        """How much of the file has been read, from 0 to 1."""

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Yield the rows by column name; a cell that is missing is None."""

    def notes(self) -> list[str]:
        """Return what was passed over while reading, in sentences."""
        return self._notes.sentences()

    @cached_property
    def sample(self) -> list[Record]:
        """The first 1,000 rows."""
        return list(islice(self.records(), SAMPLE))

    def values(self) -> dict[str, list[Any]]:
        """Return all cells by column."""
        rows = list(self.records())
        return {name: [row.get(name) for row in rows] for name in self.columns}


def read(path: str | Path, *, header: bool | None = None, strict: bool = False) -> Table:
    """Return the table in a file, by the suffix of its name; rows are read as they are needed.

    Parameters
    ----------
    path : str or Path
        A file that ends in .csv, .tsv, .tab, .jsonl, .ndjson or .txt, also with .gz, or in .parquet or .pq.
    header : bool, optional
        Whether the first line of CSV or TSV names the columns; by default that is found.
    strict : bool
        Whether a row of CSV or TSV with fewer or more cells than there are columns is an error.

    Returns
    -------
    Table
        With `columns`, `records()`, `share` and `notes()`.

    Raises
    ------
    DataError
        If there is no such file, or it is no table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "films.csv"
    ...     _ = path.write_text("id;review\\na7;What a film!\\n")
    ...     table = read(path)
    ...     table.columns, list(table.records())
    (['id', 'review'], [{'id': 'a7', 'review': 'What a film!'}])
    """
    file = Path(path)
    name = file.name.lower().removesuffix(".gz")
    if name.endswith((".xlsx", ".xls", ".ods")):
        raise DataError(f"{path} is a workbook; save its sheet as CSV (File, Save as), and give that.")
    if not name.endswith(SUFFIXES):
        raise DataError(f"{path} is no table; expected a name that ends in {', '.join(SUFFIXES)}.")
    if not file.is_file():
        raise DataError(f"there is no file {path}; give the path of a table.")
    if name.endswith(PARQUET):
        return ParquetTable(file)
    if name.endswith(LINES):
        return JsonLines(file)
    return Texts(file) if name.endswith(TEXTS) else Delimited(file, header=header, strict=strict)


def is_table(path: Path) -> bool:
    """Return whether a path is named like a table.

    >>> is_table(Path("films.CSV.gz")), is_table(Path("films.docx"))
    (True, False)
    """
    return path.name.lower().removesuffix(".gz").endswith(SUFFIXES)


def table_name(path: Path) -> str:
    """Return the name of a table without what says its format.

    >>> table_name(Path("/data/films.csv.gz"))
    'films'
    """
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    return name.rpartition(".")[0] or name


class TextFile:
    """A text file that knows how much of it has been read; with .gz at the end of its name, a compressed one.

    Parameters
    ----------
    path : Path
        The file.
    """

    _raw: BinaryIO

    def __init__(self, path: Path) -> None:
        self._path, self._raw = path, io.BytesIO()
        self._size = os.path.getsize(path)

    @property
    def share(self) -> float | None:
        """How much of the file has been read, from 0 to 1."""
        return 1.0 if self._raw.closed else self._raw.tell() / max(self._size, 1)

    @contextmanager
    def opened(self, encoding: str, *, newline: str | None = None) -> Iterator[IO[str]]:
        """Open the file; letters that the encoding does not have are replaced."""
        with self.bytes() as file, io.TextIOWrapper(file, encoding, errors="replace", newline=newline) as text:
            yield text

    @contextmanager
    def bytes(self) -> Iterator[BinaryIO]:
        """Open the file as bytes, as they are before compression; errors of reading name the file."""
        try:
            with open(self._path, "rb") as self._raw:
                if self._path.suffix.lower() != ".gz":
                    yield self._raw
                else:
                    with gzip.GzipFile(fileobj=self._raw) as file:
                        yield cast(BinaryIO, file)
        except (OSError, EOFError, zlib.error) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{self._path} cannot be read ({error}); it may be cut short.") from error

    def encoding(self) -> str:
        """Return the encoding of the file: by its mark, else UTF-8, else the one of Windows."""
        with self.bytes() as content:
            start = content.read(LETTERS * 4)
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "utf-16"
        try:
            start.decode()
        except UnicodeDecodeError as error:
            if error.start < len(start) - 4 or len(start) < LETTERS * 4:  # not just a letter that the end cuts in two
                return WINDOWS
        return "utf-8-sig"


class Delimited(Table):
    """A CSV or TSV file; its delimiter, its encoding and whether the first line names the columns are found.

    Parameters
    ----------
    path : Path
        The file, also with .gz.
    header : bool, optional
        Whether the first line names the columns.
    strict : bool
        Whether a row with fewer or more cells than there are columns is an error.

    Attributes
    ----------
    delimiter, encoding : str
        As found in the beginning of the file.
    header : bool
        Whether the first line names the columns.
    """

    def __init__(self, path: Path, *, header: bool | None = None, strict: bool = False) -> None:
        super().__init__(path)
        self._file, self._strict = TextFile(path), strict
        self.encoding = self._file.encoding()
        with self._file.opened(self.encoding, newline="") as file:
            start = file.read(LETTERS)
        tabs = path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab"))
        self.delimiter = "\t" if tabs else _delimiter(start)
        rows = self._lines(io.StringIO(start, newline=""))
        first = next(rows, None)
        if not first or not any(cell.strip() for cell in first):
            raise DataError(f"{path} is empty; give a table whose first line names its columns.")
        self.header = (
            header
            if header is not None
            else not _is_row(first, list(islice(_readable(start, self.delimiter), 1, SAMPLE)))
        )
        self._guessed = header is None
        self.first_row = 1 + self.header
        self.columns = _unique(first if self.header else [TEXT] if len(first) == 1 else [""] * len(first))

    @property
    def share(self) -> float | None:
        """How much of the file has been read."""
        return self._file.share

    def records(self) -> Iterator[Record]:
        """Yield the rows by column name; a cell that is missing is None."""
        columns, self._notes = self.columns, Notes()
        if self.encoding == WINDOWS:
            self._notes.add(NOT_UTF8, self.path.name)
        if not self.header and self._guessed:
            self._notes.add(NO_HEADER, self.path.name)
        if self.header and self._guessed and len(columns) == 1 and len(columns[0].split()) > 2:
            self._notes.add(ONE_LINE, repr(columns[0]))
        with self._file.opened(self.encoding, newline="") as file:
            lines = self._lines(file)
            if self.header:
                next(lines, None)
            for number, cells in enumerate(lines, start=1):
                if self._strict and len(cells) != len(columns):
                    row = number + self.first_row - 1
                    raise DataError(
                        f"{self.path}: row {row} has {len(cells)} fields, but there are {len(columns)} columns."
                    )
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
            raise DataError(f"{self.path}, line {reader.line_num}: {error}; write the table again.") from error


class JsonLines(Table):
    """A table of one JSON object to a line, whose columns are the names in the first 1,000."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._file = TextFile(path)
        self.columns = list(dict.fromkeys(name for record in self.sample for name in record))
        if not self.columns:
            raise DataError(f"{path} holds no JSON objects; give one object to a line.")

    @property
    def share(self) -> float | None:
        """How much of the file has been read."""
        return self._file.share

    def records(self) -> Iterator[Record]:
        """Yield the objects in order."""
        self._notes = Notes()
        with self._file.opened("utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                record = _object(line)
                if record is not None:
                    yield record
                elif line.strip():
                    self._notes.add(NO_OBJECT, str(number))


class Texts(Table):
    """A file with one text in each line, as a table with the column `text`; empty lines are none."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._file, self.columns = TextFile(path), [TEXT]
        self._encoding = self._file.encoding()

    @property
    def share(self) -> float | None:
        """How much of the file has been read."""
        return self._file.share

    def records(self) -> Iterator[Record]:
        """Yield the lines in order."""
        self._notes = Notes()
        if self._encoding == WINDOWS:
            self._notes.add(NOT_UTF8, self.path.name)
        with self._file.opened(self._encoding) as file:
            yield from ({TEXT: line.strip()} for line in file if line.strip())


class ParquetTable(Table):
    """A table in a Parquet file."""

    first_row = 0

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with open_parquet(path) as file:
            self.columns = [str(name) for name in file.schema_arrow.names]
            self._rows = int(file.metadata.num_rows)
        self._done = 0

    @property
    def share(self) -> float | None:
        """How much of the file has been read."""
        return self._done / max(self._rows, 1)

    def records(self) -> Iterator[Record]:
        """Yield the rows in order."""
        self._done = 0
        with open_parquet(self.path) as file:
            batches = file.iter_batches(batch_size=PARQUET_ROWS)
            while (batch := next_batch(batches, str(self.path))) is not None:
                self._done += len(batch)
                yield from batch.to_pylist()


def arrow() -> Any:
    """Return pyarrow, which loads when the first Parquet file is met."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("reading Parquet", "parquet") from error
    return pyarrow


def open_parquet(path: Path) -> Any:
    """Return a Parquet file that is read in small pieces, or raise a DataError that names it."""
    try:
        return arrow().parquet.ParquetFile(
            path, pre_buffer=False, buffer_size=PARQUET_BYTES, page_checksum_verification=True
        )
    except (arrow().ArrowException, OSError) as error:
        if isinstance(error, PermissionError):
            raise
        raise DataError(
            f"{path} is no Parquet file, or a damaged one ({first_line(error)}); write it again."
        ) from error


def next_batch(batches: Iterator[Any], where: str) -> Any:
    """Return the next batch of a Parquet file, None at its end; `where` is what an error names."""
    try:
        return next(batches, None)
    except (arrow().ArrowException, OSError) as error:
        raise DataError(f"{where} cannot be read ({first_line(error)}); write the file again.") from error


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return str(error).partition("\n")[0].rstrip(".")


def _object(line: str) -> Record | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _delimiter(start: str) -> str:
    """Return the sign between the cells: one of the first line that splits the lines after it alike."""
    best, most = SINGLE, (0.0, 0)
    header = next(_readable(start, SINGLE), [""])[0]
    for sign in DELIMITERS:
        if sign not in header:
            continue
        rows = list(islice(_readable(start, sign), 100))
        if not rows:
            continue
        rows = rows[:-1] if len(rows) > 2 else rows  # the end may cut the last one
        alike = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        if (alike, len(rows[0])) > most:
            best, most = sign, (alike, len(rows[0]))
    return best


def _readable(start: str, sign: str) -> Iterator[list[str]]:
    """Yield the rows of a file's beginning up to one that cannot be read; reading the table names its line."""
    csv.field_size_limit(2**31 - 1)
    try:
        yield from filter(None, csv.reader(io.StringIO(start, newline=""), delimiter=sign))
    except csv.Error:
        return


def _is_row(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line is certainly a row and names no columns.

    It is one if a column of numbers begins with a number, but for columns that are counted (0, 1, 2 or 2019, 2020); or
    if a cell stands again and again in its column, and the whole line does not, nor is a cell a usual name.
    """
    names = [cell.strip() for cell in first]
    if not rows or {name.lower() for name in names} & USUAL_NAMES or names in [[*map(str.strip, row)] for row in rows]:
        return False
    columns = [[cell.strip() for cell in cells] for cells in zip_longest(*rows, fillvalue="")]
    pairs = [(name, [cell for cell in cells if cell]) for name, cells in zip(names, columns, strict=False)]
    numbers = [name for name, cells in pairs if cells and all(map(_is_number, [name, *cells]))]
    if numbers:
        return not _are_counted(numbers)
    return any(name and cells.count(name) > 1 for name, cells in pairs)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _are_counted(names: Sequence[str]) -> bool:
    whole = [int(name) for name in names if name.isascii() and name.isdigit()]
    return len(whole) == len(names) > 1 and whole == list(range(whole[0], whole[0] + len(whole)))


def _unique(names: Sequence[str]) -> list[str]:
    """Return names for all columns: those without one are numbered, those that are there twice are told apart."""
    unique: list[str] = []
    for number, name in enumerate((name.strip() for name in names), start=1):
        name = name or f"column {number}"
        unique.append(name if name not in unique else f"{name} ({number})")
    return unique
