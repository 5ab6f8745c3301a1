"""JSON lines: one object to a line, also compressed."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from cusal.errors import DataError
from cusal.tables.notes import Notes
from cusal.tables.text_file import TextFile

SUFFIXES = (".jsonl", ".ndjson")
SAMPLE = 1_000  # objects whose names make the columns

NO_OBJECT = "{count} lines are no JSON objects and were left out; the first is line {first}."


class JsonLines:
    """A table whose columns are the names in its first 1,000 objects.

    Parameters
    ----------
    path : Path
        The file, also with .gz.
    """

    def __init__(self, path: Path) -> None:
        self._file, self._notes = TextFile(path), Notes()
        names = (name for record in islice(self.records(), SAMPLE) for name in record)
        self.columns = list(dict.fromkeys(names))
        if not self.columns:
            raise DataError(f"{path} holds no JSON objects; give one object to a line.")

    @property
    def share(self) -> float | None:
        """How much of the file has been read."""
        return self._file.share

    def notes(self) -> list[str]:
        """Return what was noticed while reading."""
        return self._notes.sentences()

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the objects in order."""
        self._notes = Notes()
        with self._file.opened("utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                record = _object(line)
                if record is not None:
                    yield record
                elif line.strip():
                    self._notes.add(NO_OBJECT, str(number))


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
