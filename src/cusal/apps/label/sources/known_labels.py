"""A CSV file of known labels: a key and the name of a class on each line."""

from collections.abc import Iterator
from pathlib import Path

from cusal._cells import plain_cell
from cusal.errors import DataError
from cusal.tables import Delimited

KEYS = ("file", "filename", "file_name", "path", "image", "key", "id", "row")
LABELS = ("label", "labels", "class", "category", "target")


def read_labels(path: Path) -> Iterator[tuple[str, str]]:
    """Yield keys and labels; empty labels are passed over.

    The columns are found by their names (such as `file,label`); else they are the first two. Back strokes in paths are
    taken as strokes.
    """
    table = Delimited(path)
    if len(table.columns) < 2:
        raise DataError(f"{path} has one column, but known labels need two: a file (or id) and its label.")
    keyed = next((name for name in table.columns if name.lower() in KEYS), table.columns[0])
    labelled = next((name for name in table.columns if name.lower() in LABELS), None)
    if labelled is None or labelled == keyed:
        labelled = next(name for name in table.columns if name != keyed)
    for record in table.records():
        key, label = record.get(keyed), record.get(labelled)
        if key and label and str(label).strip():
            # Files that cusal exported have an apostrophe before what a spreadsheet would take for a formula.
            plain_key, plain_label = plain_cell(str(key)), plain_cell(str(label))
            yield plain_key.strip().replace("\\", "/").removeprefix("./"), plain_label.strip()
