"""A table of texts or features: every row is an item, its id or its number the key."""

import datetime
import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from cusal.apps.label.sources.columns import as_number, find_roles, forgotten_label
from cusal.apps.label.sources.known_labels import read_labels
from cusal.apps.label.sources.source import SourceOptions
from cusal.apps.label.store.records import NewItem, Settings
from cusal.apps.label.store.words import is_unicode
from cusal.errors import DataError, InvalidInput
from cusal.tables import Notes, read, table_name

SAMPLE = 1_000  # rows that say what the columns are for

EMPTY = "{count} rows have no text and were left out; the first is row {first}."
REPLACED = "{count} rows hold bytes that are no letters of the file's encoding; the first is row {first}."
DOUBLE = "{count} rows have an id that an earlier row has, and go by id and row; the first is row {first}."
CLEANED = "{count} rows hold characters that cannot be stored, which were replaced; the first is row {first}."


class TableFile:
    """The rows of a CSV, TSV, JSONL or Parquet file.

    Parameters
    ----------
    path : Path
        The file; CSV, TSV and JSONL also with .gz.
    options : SourceOptions
        `text`, `label` and `labels` apply.
    """

    def __init__(self, path: Path, options: SourceOptions) -> None:
        if options.folders_are_labels:
            raise InvalidInput(f"{path} is a table, which has no sub-folders; leave out --folders-are-labels.")
        self._path, self._options, self._notes = path, options, Notes()
        self._table = read(path)
        sample = list(islice(self._table.records(), SAMPLE))
        if not sample:
            raise DataError(f"{path} has no rows; give a table with at least one.")
        self._roles = find_roles(sample, self._table.columns, text=options.text, label=options.label)
        if self._roles.text is None and not self._roles.others:
            raise InvalidInput(f"{path} has no column left to label; it has {', '.join(self._table.columns)}.")
        self.kind = "table" if self._roles.text is None else "text"

    @property
    def share(self) -> float | None:
        """How much of the file `rows` has read."""
        return self._table.share

    @property
    def known_labels(self) -> Iterator[tuple[str, str]]:
        """Keys and class names of the file of labels."""
        if self._options.labels is not None:
            yield from read_labels(Path(self._options.labels))

    def settings(self) -> Settings:
        """Return the settings of a project on this table."""
        roles = self._roles
        columns = {"text": roles.text, "label": roles.label, "key": roles.key, "others": list(roles.others)}
        labels = self._options.labels and str(Path(self._options.labels).resolve())
        options = {"text": roles.text, "label": roles.label, "labels": labels}
        return Settings(table_name(self._path), self.kind, str(self._path.resolve()), columns, options)

    def notes(self) -> list[str]:
        """Return what was left out or replaced, and what may have been forgotten."""
        notes = [*self._table.notes(), *self._notes.sentences()]
        forgotten = forgotten_label(self._roles) if self.kind == "table" else None
        if forgotten is not None:
            notes.append(
                f"The column {forgotten!r} is used as a feature; if it holds known labels, add --label {forgotten}."
            )
        return notes

    def fingerprint(self) -> list[Any] | None:
        """Return size and time of the file, and what is read of it."""
        state = self._path.stat()
        return [state.st_size, state.st_mtime_ns, self._roles.text, self._roles.label]

    def rows(self) -> Iterator[NewItem]:
        """Yield the rows as items, read as they are needed."""
        self._notes, seen = Notes(), set[int]()
        key_of, text_of, label_of = self._roles.key, self._roles.text, self._roles.label
        for number, record in enumerate(self._table.records(), start=1):
            text = None if text_of is None else as_text(record.get(text_of))
            if text_of is not None and not (text and text.strip()):
                self._notes.add(EMPTY, str(number))
                continue
            key = str(number) if key_of is None else self._key(record.get(key_of), number, seen)
            label = None if label_of is None else as_text(record.get(label_of))
            if text and "\ufffd" in text:
                self._notes.add(REPLACED, str(number))
            item = NewItem(key, text, self._extra(record), label)
            yield item if _is_storable(item) else self._cleaned(item, number)

    def _key(self, value: Any, number: int, seen: set[int]) -> str:
        """Return the id of a row; one that an earlier row has, or that is missing, is told apart by the number."""
        key = "" if value is None else str(value).strip()
        code = hash(key)  # of a million ids, the codes take a tenth of the memory
        if not key or code in seen:
            self._notes.add(DOUBLE, str(number))
            return f"{key} (row {number})"
        seen.add(code)
        return key

    def _extra(self, record: dict[str, Any]) -> dict[str, Any] | None:
        others = self._roles.others
        if self.kind == "text":
            return {name: plain_value(record.get(name)) for name in others} if others else None
        numbers = self._roles.numbers
        return {
            name: as_number(record.get(name)) if name in numbers else (plain_value(record.get(name)) or None)
            for name in others
        }

    def _cleaned(self, item: NewItem, number: int) -> NewItem:
        self._notes.add(CLEANED, str(number))
        text, label = (None if value is None else as_storable(value) for value in (item.text, item.label))
        return item._replace(key=as_storable(item.key), text=text, label=label)


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
