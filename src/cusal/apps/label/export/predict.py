"""Applying a model to new data: any number of items, chunk by chunk, into one table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from cusal._progress import Progress
from cusal.apps.label.export.new_data import NewData
from cusal.apps.label.store.records import NewItem
from cusal.deploy import ItemClassifier
from cusal.tables import open_writer, writer_of

CHUNK = 2048  # items whose vectors are in memory at a time
SKIPPED = {"key": "text", "reason": "text"}


@dataclass
class Outcome:
    """How many items were predicted, and why others were not, by key."""

    count: int = 0
    skipped: dict[str, str] = field(default_factory=dict)


def write_predictions(model: ItemClassifier, data: NewData, out: Path) -> Outcome:
    """Write the class of each item with its confidence and all probabilities, as CSV, JSONL or Parquet by the suffix.

    Columns are key, label, confidence and p_NAME for every class. Items that cannot be read are skipped; the result
    says which, and so does a table NAME-skipped beside the other.
    """
    writer_of(out)  # a suffix that is not known is said before any work
    classes = model.classes_.tolist()
    schema = {"key": "text", "label": "text", "confidence": "number"} | {f"p_{name}": "number" for name in classes}
    done, (rows, total) = Outcome(), data.rows()
    with open_writer(out, schema) as table, Progress(total or 0, title="predicting", unit="items") as progress:
        for items in _chunks(rows):
            found = model.vectors(data.inputs(items))
            done.skipped |= {items[row].key: reason for row, reason in found.broken.items()}
            if len(found.rows):
                probs = model.classify(found.matrix)
                best = probs.argmax(axis=1).tolist()
                said = {"label": [str(classes[place]) for place in best], "confidence": probs.max(axis=1)}
                columns = {f"p_{name}": probs[:, place] for place, name in enumerate(classes)}
                table.write({"key": [items[row].key for row in found.rows.tolist()]} | said | columns)
                done.count += len(found.rows)
            if total is None:  # what the part that was read lets expect
                progress.total = round((progress.done + len(items)) / (data.share or 1))
            progress.advance(len(items))
        progress.total = progress.done
    if done.skipped:
        with open_writer(out.with_name(f"{out.stem}-skipped{out.suffix}"), SKIPPED) as table:
            table.write({"key": list(done.skipped), "reason": list(done.skipped.values())})
    return done


def _chunks(rows: Iterable[NewItem]) -> Iterator[list[NewItem]]:
    following = iter(rows)
    while chunk := list(islice(following, CHUNK)):
        yield chunk
