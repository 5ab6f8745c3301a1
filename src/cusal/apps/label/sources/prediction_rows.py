"""A table of predictions to be checked: every row is an item, with what a model took it for."""

from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cusal.apps.label.sources.image_folder import SUFFIXES
from cusal.apps.label.sources.source import SourceOptions
from cusal.apps.label.sources.tables import as_storable, as_text, plain_value
from cusal.apps.label.store.records import Item, NewItem, Settings
from cusal.audit import PredictionTable, open_predictions, read_predictions
from cusal.errors import InvalidInput
from cusal.tables import NamedColumns, table_name

SAMPLE = 200  # rows that say whether there are texts or images


class PredictionRows:
    """The rows of a table of predictions, as `cusal audit` reads it.

    Parameters
    ----------
    path : Path
        A CSV, TSV, JSONL or Parquet file.
    options : SourceOptions
        `text`, `label` (the predicted one), `confidence` and `id` name columns that are not found by themselves.
    """

    share: float | None = None

    def __init__(self, path: Path, options: SourceOptions) -> None:
        if options.folders_are_labels or options.labels is not None:
            raise InvalidInput(
                "--audit asks for checks of predictions, so --labels and --folders-are-labels have no use; leave them "
                "out. `cusal audit` takes checks that were made elsewhere."
            )
        self._path, self._options = path, options
        self._columns = NamedColumns(options.text, options.label, options.id, options.confidence, options.header)
        rows, self._found = open_predictions(str(path), self._columns)
        self._text = text = self._found.text
        self.kind = self._kind([as_text(row.get(text)) or "" for row in rows.sample[:SAMPLE]] if text else [])

    @cached_property
    def table(self) -> PredictionTable:
        """The predictions."""
        return read_predictions(str(self._path), self._columns)

    @property
    def known_labels(self) -> Iterator[tuple[str, str]]:
        """Nothing: the labels of the table are predictions."""
        return iter(())

    def settings(self) -> Settings:
        """Return the settings of a project that checks these predictions."""
        found, options = self._found, self._options
        columns = {"text": self._text, "label": found.label, "key": found.id, "others": list(found.others)}
        named: dict[str, Any] = {
            name: getattr(options, name) for name in ("text", "label", "confidence", "id", "header")
        }
        wrong = len(set(self.table.labels))
        place = str(self._path.resolve())
        return Settings(
            table_name(self._path), self.kind, place, columns, {**named, "audit": True}, batch=10, wrong_class=wrong
        )

    def rows(self) -> Iterator[NewItem]:
        """Yield the rows as items; a row without a text shows its other columns."""
        rows, _ = open_predictions(str(self._path), self._columns)
        shown = [name for name in self._found.others if name != self._text]
        for key, record in zip(self.table.ids, rows.records(), strict=True):
            text = None if self._text is None else as_storable(as_text(record.get(self._text)) or "")
            extra = {name: plain_value(record.get(name)) for name in shown}
            yield NewItem(key, text, extra or ({"id": key} if text is None else None))

    def is_changed(self, item: Item, row: NewItem) -> bool:
        """Return False: other predictions are another audit."""
        return False

    def reading(self) -> list[str]:
        """Return which column was taken for what."""
        return [f"Read: {self._found}."]

    def notes(self) -> list[str]:
        """Return nothing: a row that cannot be read is an error here."""
        return []

    def fingerprint(self) -> list[Any]:
        """Return a digest of the ids, the predicted labels and their confidence, whatever the order of the rows."""
        table = self.table
        lines = sorted(map(repr, zip(table.ids, table.labels, table.confidence, strict=True)))
        return [blake2b("\n".join(lines).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()]

    def _kind(self, texts: list[str]) -> str:
        """Return "image" for paths of images below the folder of the table."""
        if not texts:
            return "table"
        folder = self._path.resolve().parent
        paths = [folder / text for text in texts if text.lower().endswith(SUFFIXES)]
        there = any(path.is_file() and path.resolve().is_relative_to(folder) for path in paths)
        return "image" if len(paths) == len(texts) and there else "text"
