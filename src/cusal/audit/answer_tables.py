"""Tables of items to check: written with an empty column, filled in by somebody, and read again.

A row has the id of an item and its true label, or whether the prediction is right. Empty cells are open, "?" and
"unsure" are items about which nobody can tell. A column `checked`, as `cusal export` writes it, says "no" where the
label is an accepted prediction, which is no answer. The column `why` says what an item was asked for; the score
for hunting is fixed at the first hunted row.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path

from cusal._cells import plain_cell, safe_cell
from cusal._files import write_whole
from cusal.audit.audit import Audit
from cusal.audit.prediction_table import PredictionTable
from cusal.errors import CusalError, DataError, UnknownName
from cusal.tables import find_name, read
from cusal.tables.names import ID_NAMES, PLACE_NAMES, RIGHT_NAMES, TRUE_NAMES

NAMES = ((*ID_NAMES, *PLACE_NAMES), TRUE_NAMES, RIGHT_NAMES)
YES, NO = ("yes", "y", "true", "1", "right", "ok", "x"), ("no", "n", "false", "0", "wrong")
ELSEWHERE = ("hunt", "guarantee", "accept")  # reasons to ask for an item that are no part of the audit's order
ANSWER = "true_label"
UNSURE = ("?", "unsure", "unknown", "skip")


@dataclass
class Told:
    """What tables said: the last answer about each item, and for which items that was not the first one.

    for_audit: the items that were answered because the audit's order asked for them.
    """

    answers: dict[int, tuple[str, str]] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    for_audit: set[int] = field(default_factory=set)

    def count(self, item: int, answer: tuple[str, str], why: str) -> None:
        """Count an answer about an item that was asked for some reason."""
        if self.answers.get(item, answer) != answer:
            self.changed.add(item)
        self.answers[item] = answer
        if why not in ELSEWHERE:
            self.for_audit.add(item)


def tell_verified(audit: Audit, ids: Iterable[str], paths: Iterable[str]) -> Told:
    """Enter the answers of tables into an audit, in the order of their rows, and return what there was."""
    places = {name.strip(): place for place, name in enumerate(ids)}
    told = Told()
    for path in paths:
        rows = read(path)
        key, truth, right = (find_name(rows.columns, names) for names in NAMES)
        why, checked = find_name(rows.columns, ("why",)), find_name(rows.columns, ("checked",))
        if key is None or (truth is None and right is None):
            raise DataError(
                f"{path} has the columns {', '.join(rows.columns)}; expected an id, and true_label (or right with yes "
                "and no)."
            )
        for number, row in enumerate(rows.records(), 1):
            item = places.get(_cell(row.get(key)))
            if item is None:
                raise DataError(f"{path}: row {number} has the id {row.get(key)!r}, which no prediction has.")
            reason = "audit" if why is None else _cell(row.get(why))
            if reason == "hunt":
                audit.begin_hunt()
            label = "" if truth is None else _cell(row.get(truth))
            answer = "" if right is None else _cell(row.get(right)).lower()
            if checked is not None and _cell(row.get(checked)).lower() in NO and answer not in UNSURE:
                continue
            if _tell(audit, item, label, answer, f"{path}: row {number}"):
                told.count(item, (label, answer), reason)
    return told


def _tell(audit: Audit, item: int, label: str, answer: str, where: str) -> bool:
    """Enter one answer, and return whether there was one."""
    if label.lower() in UNSURE or answer in UNSURE:
        audit.skip([item])
    elif label:
        audit.tell([item], [label])
    elif answer in (*YES, *NO):
        audit.tell([item], right=[answer in YES])
    elif answer:
        raise UnknownName(f"answer in {where}", answer, (*YES[:3], *NO[:3], "unsure"))
    else:
        return False
    return True


def _cell(value: object) -> str:
    return "" if value is None else plain_cell(str(value)).strip()


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
