"""An export as three tables: labels, answers and predictions.

labels       each labelled item once, with the label that its answers come to
answers      every answer of every person, skipped items too
predictions  each other item, with a column p_NAME of its probability for every class

Texts are in the tables where items are texts; otherwise the key says which row or file an item is. Rows of a table
without ids are known by what they hold; the column `row` has their numbers in the table as it is when this is written.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

from cusal.apps.label.export.contents import AnsweredItem, Overview, Predicted
from cusal.apps.label.store.records import Item
from cusal.tables import Schema, TableWriter, Values, open_writer

ANSWERS = {
    "item": "integer",
    "key": "text",
    "person": "text",
    "kind": "text",
    "label": "text",
    "at": "time",
    "seconds": "number",
}


class TableSink:
    """The tables of an export, in the format of `suffix`."""

    suffix: str
    takes_predictions: ClassVar[bool] = True

    def __init__(self, folder: Path, overview: Overview) -> None:
        self._texts = overview.settings.kind == "text"
        self._classes, self._rows = overview.predicted or (), overview.rows
        text = {"text": "text"} if self._texts else {}
        self._open = ExitStack()
        self._folder = folder
        row = {} if self._rows is None else {"row": "integer"}
        first = {"item": "integer", "key": "text", **row, **text, "label": "text"}
        self._labels = self._table("labels", first | {"people": "text", "disagree": "truth", "at": "time"})
        self._answers = self._table("answers", ANSWERS)
        self._predictions: TableWriter | None = None
        if overview.predicted is not None:
            columns = {f"p_{name}": "number" for name in self._classes}
            self._predictions = self._table("predictions", first | {"confidence": "number"} | columns)

    def _table(self, name: str, schema: Schema) -> TableWriter:
        return self._open.enter_context(open_writer(self._folder / f"{name}{self.suffix}", schema))

    def answered(self, items: Sequence[AnsweredItem]) -> None:
        """Add items that somebody answered."""
        labelled = [each for each in items if each.label is not None]
        resolved: dict[str, Values] = {
            "label": [each.label for each in labelled],
            "people": [", ".join(each.people) for each in labelled],
            "disagree": [each.disagree for each in labelled],
            "at": [each.at for each in labelled],
        }
        self._labels.write(self._named([each.item for each in labelled]) | resolved)
        pairs = [(each.item, answer) for each in items for answer in each.answers]
        said: dict[str, Values] = {name: [getattr(answer, name) for _, answer in pairs] for name in list(ANSWERS)[2:]}
        items_of: dict[str, Values] = {"item": [item.id for item, _ in pairs], "key": [item.key for item, _ in pairs]}
        self._answers.write(items_of | said)

    def predicted(self, chunk: Predicted) -> None:
        """Add predictions of items without a label."""
        assert self._predictions is not None
        best = chunk.probs.argmax(axis=1)
        columns = {f"p_{name}": chunk.probs[:, place] for place, name in enumerate(self._classes)}
        labels = [self._classes[place] for place in best.tolist()]
        said = {"label": labels, "confidence": chunk.probs.max(axis=1)}
        self._predictions.write(self._named(chunk.items) | said | columns)

    def close(self) -> list[str]:
        """Complete the files."""
        self._open.close()
        return []

    def _named(self, items: Sequence[Item]) -> dict[str, Values]:
        own: dict[str, Values] = {
            "item": [item.id for item in items],
            "key": [item.key for item in items],
        }
        if self._rows is not None:
            own["row"] = [self._rows.get(item.key) for item in items]
        return own | {"text": [item.text for item in items]} if self._texts else own
