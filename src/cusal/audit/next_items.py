"""The file of items to check next: a table with an empty column, which somebody fills in."""

import csv
import io
from collections.abc import Sequence
from math import isnan
from pathlib import Path

from cusal._cells import safe_cell
from cusal._files import write_whole
from cusal.audit.prediction_table import PredictionTable
from cusal.errors import CusalError
from cusal.tables import read

ANSWER = "true_label"


def write_next(path: str, table: PredictionTable, items: Sequence[int], why: str) -> None:
    """Write the items to check as CSV, with an empty column for the answer."""
    content = io.StringIO()
    writer = csv.writer(content)
    texts = table.texts
    writer.writerow(["id", *(["text"] if texts is not None else []), "predicted", "confidence", ANSWER, "why"])
    for item in items:
        shown = [safe_cell(texts[item])] if texts is not None else []
        confidence = "" if isnan(table.confidence[item]) else f"{table.confidence[item]:.6g}"
        writer.writerow([safe_cell(table.ids[item]), *shown, safe_cell(table.labels[item]), confidence, "", why])
    write_whole(path, content.getvalue().encode("utf-8", "surrogatepass"))


def free_name(path: str) -> str:
    """Return the path, or if it holds something that somebody wrote, the next one with a number: next-2.csv.

    Only a file of items to check without any answer is written over: what a person typed is never lost.
    """
    file, number = Path(path), 1
    while file.exists() and not _is_unanswered(file):
        number += 1
        file = Path(path).with_name(f"{Path(path).stem}-{number}{Path(path).suffix}")
    return path if number == 1 else str(file)


def _is_unanswered(file: Path) -> bool:
    """Return whether a file is one that `write_next` wrote and nobody has filled in."""
    try:
        rows = read(file)
        ours = {"id", "predicted", "confidence", ANSWER, "why"}
        return ours <= set(rows.columns) and not any(str(row.get(ANSWER) or "").strip() for row in rows.records())
    except (CusalError, OSError):
        return False
