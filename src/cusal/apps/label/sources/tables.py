"""A table of texts or features: every row is an item, its id or what it holds the key."""

import datetime
import json
import math
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cusal.apps.label.sources.source import SourceOptions
from cusal.apps.label.store.records import Item, NewItem, Settings
from cusal.apps.label.store.validation import is_unicode
from cusal.errors import DataError, InvalidInput
from cusal.tables import (
    LABEL_NAMES,
    NamedColumns,
    Notes,
    find_name,
    is_missing,
    plain_cell,
    plain_number,
    read,
    roles,
    table_name,
)

KEYS = ("file", "filename", "file_name", "path", "image", "key", "id", "row")  # of files of labels
SHOWN = 5  # columns that a sentence names
_to_json = json.JSONEncoder(separators=(",", ":")).encode

EMPTY = "{count} rows have no text and were left out; the first is row {first}."
REPLACED = "{count} rows hold bytes that are no letters of the file's encoding; the first is row {first}."
DOUBLE = "{count} rows have an id that an earlier row has, or none, and go by their content; the first is row {first}."
CLEANED = "{count} rows hold characters that cannot be stored, which were replaced; the first is row {first}."


class TableFile:
    """The rows of a CSV, TSV, JSONL, Parquet or text file.

    A row without an id is known by what it holds, and by how many rows before it hold the same: whatever is inserted
    or taken away, the others stay what they are.

    Parameters
    ----------
    path : Path
        The file; all but Parquet also with .gz.
    options : SourceOptions
        All apply but those of folders and audits.
    """

    def __init__(self, path: Path, options: SourceOptions) -> None:
        if options.folders_are_labels:
            raise InvalidInput(f"{path} is a table, which has no sub-folders; leave out --folders-are-labels.")
        if options.text and options.text == options.label:
            raise InvalidInput(f"--text and --label name the same column, {options.text!r}; they are two columns.")
        self._path, self._options, self._notes = path, options, Notes()
        self._table = read(path, header=options.header)
        if not self._table.sample:
            raise DataError(f"{path} has no rows; give a table with at least one.")
        self._roles = roles(self._table, NamedColumns(options.text, options.label, options.id))
        if self._roles.text is None and not self._roles.others:
            raise InvalidInput(f"{path} has no column left to label; it has {', '.join(self._table.columns)}.")
        self.kind = "table" if self._roles.text is None else "text"
        self._content = list(self._roles.others if options.content is None else options.content)
        self._known_by = [self._roles.text, *self._content] if self._roles.text else self._content
        self._labels: int | None = None  # values of the column of labels, once they were read

    @property
    def share(self) -> float | None:
        """How much of the file `rows` has read."""
        return self._table.share

    @property
    def known_labels(self) -> Iterator[tuple[str, str]]:
        """Keys and class names of the file of labels, which may go by the numbers of rows without ids."""
        if self._options.labels is None:
            return
        keys = {number: row.key for number, row in self.numbered()} if self._roles.id is None else {}
        for name, label in read_labels(Path(self._options.labels)):
            yield keys.get(int(name), name) if name.isascii() and name.isdigit() else name, label

    def settings(self) -> Settings:
        """Return the settings of a project on this table."""
        found = self._roles
        columns = {"text": found.text, "label": found.label, "key": found.id, "others": list(found.others)}
        options = {
            "text": found.text,
            "label": found.label if found.label or not found.hidden else "",
            "labels": self._options.labels and str(Path(self._options.labels).resolve()),
            "id": found.id or "",
            "header": getattr(self._table, "header", None),
            "content": self._content,
        }
        return Settings(table_name(self._path), self.kind, str(self._path.resolve()), columns, options)

    def reading(self) -> list[str]:
        """Return which column was taken for what."""
        found = self._roles
        what = f"the text from the column {found.text}" if found.text else f"features from {_listed(found.others)}"
        beside = f", shown beside it {_listed(found.others)}" if found.text and found.others else ""
        key = f"the id from {found.id}" if found.id else "no ids: a row goes by what it holds"
        said = [f"Read: {what}{beside}; {key}."]
        count = "" if self._labels is None else f" {self._labels:,} values,"
        if found.label:
            said.append(f"Column {found.label}:{count} used as known labels, and not shown.")
        if found.hidden:
            use = f"to use them as known labels, add --label {found.hidden}"
            said.append(f"Column {found.hidden}:{count} not used and not shown; {use}.")
        return said

    def notes(self) -> list[str]:
        """Return what was left out or replaced, and which columns are likely to be read wrongly."""
        doubts = self._roles.doubts if self.kind == "table" else ()
        return [*self._table.notes(), *self._notes.sentences(), *(f"C{doubt[1:]}" for doubt in doubts)]

    def fingerprint(self) -> list[Any] | None:
        """Return size and time of the file, and what is read of it."""
        state = self._path.stat()
        return [state.st_size, state.st_mtime_ns, self._roles.text, self._roles.label]

    def is_changed(self, item: Item, row: NewItem) -> bool:
        """Return whether a row has another text, or other features, than the item of its id."""
        if self.kind == "text":
            return item.text != row.text
        now, before = row.extra or {}, item.extra or {}
        return any(before.get(name) != json.loads(_to_json(now.get(name))) for name in self._content)

    def rows(self) -> Iterator[NewItem]:
        """Yield the rows as items, read as they are needed."""
        return (row for _, row in self.numbered())

    def numbered(self) -> Iterator[tuple[int, NewItem]]:
        """Yield the rows as items with their numbers, the first being 1."""
        self._notes, found = Notes(), self._roles
        ids, times, labels, of_labels = set[int](), _Occurrences(), 0, found.label or found.hidden
        for number, record in enumerate(self._table.records(), start=1):
            text = None if found.text is None else as_text(record.get(found.text))
            named = None if of_labels is None else as_text(record.get(of_labels))
            labels += bool(named and named.strip())
            if found.text is not None and not (text and text.strip()):
                self._notes.add(EMPTY, str(number))
                continue
            if text and "\ufffd" in text:
                self._notes.add(REPLACED, str(number))
            key = None if found.id is None else self._id(record.get(found.id), number, ids)
            key = key if key is not None else str(number) if self._options.numbered else times.key(self._digest(record))
            item = NewItem(key, text, self._extra(record), named if found.label else None)
            yield number, item if _is_storable(item) else self._cleaned(item, number)
        self._labels = labels

    def _id(self, value: Any, number: int, ids: set[int]) -> str | None:
        """Return the id of a row; None where it has none, or one that an earlier row has."""
        key = "" if value is None else str(value).strip()
        code = hash(key)  # of a million ids, the codes take a tenth of the memory
        if not key or code in ids:
            self._notes.add(DOUBLE, str(number))
            return None
        ids.add(code)
        return key

    def _digest(self, record: dict[str, Any]) -> str:
        content = repr([record.get(name) for name in self._known_by])
        return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def _extra(self, record: dict[str, Any]) -> dict[str, Any] | None:
        others = self._roles.others
        if self.kind == "text":
            return {name: plain_value(record.get(name)) for name in others} if others else None
        return {name: _as_feature(record.get(name)) for name in others}

    def _cleaned(self, item: NewItem, number: int) -> NewItem:
        self._notes.add(CLEANED, str(number))
        text, label = (None if value is None else as_storable(value) for value in (item.text, item.label))
        return item._replace(key=as_storable(item.key), text=text, label=label)


class _Occurrences:
    """Keys of rows by their content; those after the first of the same content are counted."""

    def __init__(self) -> None:
        self._seen, self._more = set[int](), Counter[str]()

    def key(self, digest: str) -> str:
        """Return the key of the next row with some content."""
        code = int(digest, 16)
        if code not in self._seen:
            self._seen.add(code)
            return digest
        self._more[digest] += 1
        return f"{digest}-{self._more[digest] + 1}"


def read_labels(path: Path) -> Iterator[tuple[str, str]]:
    """Yield keys and labels of a table of known labels; empty labels are passed over.

    The columns are found by their names (such as `file,label`); else they are the first two. Back strokes in paths are
    taken as strokes.
    """
    table = read(path)
    if len(table.columns) < 2:
        raise DataError(f"{path} has one column, but known labels need two: a file (or id) and its label.")
    keyed = find_name(table.columns, KEYS) or table.columns[0]
    labelled = find_name([name for name in table.columns if name != keyed], LABEL_NAMES)
    labelled = labelled or next(name for name in table.columns if name != keyed)
    for record in table.records():
        key, label = record.get(keyed), record.get(labelled)
        if key not in (None, "") and label is not None and str(label).strip():
            # Files that cusal exported have an apostrophe before what a spreadsheet would take for a formula.
            plain_key, plain_label = plain_cell(str(key)), plain_cell(str(label))
            yield plain_key.strip().replace("\\", "/").removeprefix("./"), plain_label.strip()


def _as_feature(value: Any) -> Any:
    return None if is_missing(value) else plain_number(plain_value(value))


def _listed(names: Any) -> str:
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


def as_text(value: Any) -> str | None:
    """Return the text of a cell; None for an empty one."""
    if value is None or isinstance(value, str):
        return value
    plain = plain_value(value)
    return None if plain is None else str(plain)


def plain_value(value: Any) -> Any:
    """Return a value as JSON knows it."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(name): plain_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(part) for part in value]
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def _is_storable(item: NewItem) -> bool:
    return all("\0" not in value and is_unicode(value) for value in (item.key, item.text or "", item.label or ""))


def as_storable(value: str) -> str:
    """Return a text without what no database takes."""
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
