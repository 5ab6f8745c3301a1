"""New data for a model: a folder of images, a table, or a file of vectors, read as the project's own data were."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cusal._files import load_array
from cusal._types import Floats
from cusal.apps.label.sources import Source, SourceOptions, open_source
from cusal.apps.label.store.records import NewItem
from cusal.deploy import ItemClassifier
from cusal.errors import DataError, InvalidInput, UnknownName
from cusal.tables import Table, read

KINDS = {"table": "table", "efficientnet_lite0": "image"}  # of the items of a model that a session exported
WORDS = {"image": "images", "text": "texts", "table": "rows of a table"}


@dataclass(frozen=True)
class NewData:
    """Items to classify.

    kind: what the model takes: "image", "text", "table" or "vectors". source: None for a file of vectors, and for a
    table that is read as it is, for a model of whole rows.
    """

    kind: str
    path: Path
    source: Source | None = None
    table: Table | None = None
    vectors: Floats | None = None
    columns: dict[str, Any] = field(default_factory=dict)

    def rows(self) -> tuple[Iterable[NewItem], int | None]:
        """Return the items, read as they are needed, and how many there are where that is known."""
        if self.vectors is not None:
            return (NewItem(str(row)) for row in range(len(self.vectors))), len(self.vectors)
        if self.table is not None:
            return (NewItem(str(row), extra=record) for row, record in enumerate(self.table.records(), start=1)), None
        assert self.source is not None
        if self.kind != "image":
            return self.source.rows(), None
        files = list(self.source.rows())
        return files, len(files)

    def inputs(self, items: Sequence[NewItem]) -> Any:
        """Return what a model takes of items: paths, texts, rows or vectors."""
        if self.vectors is not None:
            return np.asarray(self.vectors[[int(item.key) for item in items]])
        if self.kind == "image":
            return [str(self.path / item.key) for item in items]
        if self.kind == "text":
            return [item.text or "" for item in items]
        text = self.columns.get("text")  # where the source took a column of the table for the text to label
        return [(item.extra or {}) | ({text: item.text} if text else {}) for item in items]

    @property
    def share(self) -> float | None:
        """How much of the data was read; None where that is not known."""
        read = self.source or self.table
        return None if read is None else read.share

    def notes(self) -> list[str]:
        """Return what was passed over, in sentences."""
        read = self.source or self.table
        return [] if read is None else read.notes()


def open_new_data(model: ItemClassifier, path: str, text: str | None = None) -> NewData:
    """Open data for a model; `text` names the column of texts, by default the one that the project's table had."""
    where, kind = Path(path).expanduser(), model.card.get("kind") or KINDS.get(model.features, "text")
    if model.features == "vectors":
        return NewData("vectors", where, vectors=_vectors(where))
    if kind == "table" and "kind" not in model.card:  # of a session: any column may be one that it was fitted to
        return NewData(kind, where, table=_table(where, text))
    source = _open(where, kind, text, (model.card.get("model") or {}).get("columns", {}).get("text"))
    fits = source.kind == kind or (kind == "table" and source.kind == "text")
    if not fits:
        hint = "; name the column of texts with --text" if kind == "text" and source.kind == "table" else ""
        raise InvalidInput(
            f"{path} holds {WORDS[source.kind]}, but the model classifies {WORDS[kind]}{hint or '; give such data'}."
        )
    return NewData(kind, where, source, columns=source.settings().columns)


def _open(path: Path, kind: str, text: str | None, remembered: str | None) -> Source:
    """Return the source of new data; its texts are looked for where the project's were, and found otherwise."""
    if text is None and remembered is not None and kind == "text":
        try:
            return open_source(path, SourceOptions(text=remembered, numbered=True))
        except (InvalidInput, UnknownName):  # it is a folder, or the table has no such column
            return open_source(path, SourceOptions(numbered=True))
    return open_source(path, SourceOptions(text=text, numbered=True))


def _table(path: Path, text: str | None) -> Table:
    table = read(path)
    if text is not None and text not in table.columns:
        raise UnknownName("column (--text)", text, table.columns)
    return table


def _vectors(path: Path) -> Floats:
    if path.suffix != ".npy":
        raise DataError(
            f"{path} is no .npy file, but the model classifies vectors from one; give a file that numpy.save wrote, "
            "with the vectors of the new items, (items, columns)."
        )
    try:
        rows = load_array(path, mapped=True)
    except DataError as error:
        raise DataError(
            f"{path} cannot be read as vectors ({error}), but the model was fitted on vectors from a file; give a file "
            "that numpy.save wrote, with the vectors of the new items."
        ) from error
    if rows.ndim != 2 or rows.dtype.kind not in "fiu":
        raise DataError(f"{path} holds {rows.dtype} of shape {rows.shape}; expected numbers, (items, columns).")
    return np.asanyarray(rows)
