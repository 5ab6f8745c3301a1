"""Applying a model to new data: any number of items, chunk by chunk, into one table."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from cusal._progress import Progress
from cusal.label.export.item_classifier import ItemClassifier
from cusal.label.export.table_files import open_table, writer_of
from cusal.label.store.records import NewItem

CHUNK = 2048  # items whose vectors are in memory at a time


@dataclass(frozen=True)
class NewData:
    """Items to classify: rows as a source yields them, what they are, and how many there are about.

    folder: the folder that keys of images are relative to.
    """

    kind: str
    rows: Iterable[NewItem]
    folder: Path
    total: int

    def inputs(self, items: Sequence[NewItem]) -> list[Any]:
        """Return what a model takes of items: paths of images, texts, or rows."""
        if self.kind == "image":
            return [str(self.folder / item.key) for item in items]
        if self.kind == "text":
            return [item.text or "" for item in items]
        return [item.extra or {} for item in items]


@dataclass
class Predicted:
    """How many items were predicted, and why others were not, by key."""

    count: int = 0
    skipped: dict[str, str] = field(default_factory=dict)


def write_predictions(model: ItemClassifier, data: NewData, out: Path) -> Predicted:
    """Write the class of each item with its confidence and all probabilities, as CSV, JSONL or Parquet by the suffix.

    Columns are key, label, confidence and p_NAME for every class. Items that cannot be read are skipped; the result
    says which.
    """
    writer_of(out)  # a suffix that is not known is said before any work
    classes = model.classes_.tolist()
    schema = {"key": "text", "label": "text", "confidence": "number"} | {f"p_{name}": "number" for name in classes}
    done = Predicted()
    with open_table(out, schema) as table, Progress(data.total, title="predicting", unit="items") as progress:
        for items in _chunks(data.rows):
            found = model.vectors(data.inputs(items))
            done.skipped |= {items[row].key: reason for row, reason in found.broken.items()}
            if len(found.rows):
                probs = model.classify(found.matrix)
                best = probs.argmax(axis=1).tolist()
                said = {"label": [classes[place] for place in best], "confidence": probs.max(axis=1)}
                columns = {f"p_{name}": probs[:, place] for place, name in enumerate(classes)}
                table.write({"key": [items[row].key for row in found.rows.tolist()]} | said | columns)
                done.count += len(found.rows)
            progress.advance(len(items))
        progress.total = progress.done  # it was an estimate
    return done


def count_rows(path: Path) -> int:
    """Return about how many rows a table has: its lines, or what a Parquet file says."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return int(parquet.ParquetFile(path).metadata.num_rows)
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _chunks(rows: Iterable[NewItem]) -> Iterator[list[NewItem]]:
    following = iter(rows)
    while chunk := list(islice(following, CHUNK)):
        yield chunk
