"""Tables of items to check: written with an empty column, filled in by somebody, and read again.

A row has the id of an item and its true label, or whether the prediction is right. Empty cells are open, "?" and
"unsure" are items about which nobody can tell. A column `checked`, as `cusal export` writes it, says "no" where the
label is an accepted prediction, which is no answer. The column `why` says what an item was asked for; the score
for hunting is fixed at the first hunted row.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path

from cusal._files import write_whole
from cusal.audit.audit import Audit
from cusal.audit.prediction_table import PredictionTable
from cusal.errors import CusalError, DataError, UnknownName
from cusal.tables import find_name, plain_cell, read, safe_cell
from cusal.tables.names import ID_NAMES, PLACE_NAMES, RIGHT_NAMES, TRUE_NAMES, VERDICT_NAMES

NAMES = ((*ID_NAMES, *PLACE_NAMES), TRUE_NAMES, RIGHT_NAMES)
YES, NO = ("yes", "y", "true", "1", "right", "ok", "x"), ("no", "n", "false", "0", "wrong")
ELSEWHERE = (
    "hunt",
    "guarantee",
    "accept",
    "compare",
)  # why an item that is not next in the order was asked for
ANSWER, SOURCE = "true_label", "source"
OURS = {*ID_NAMES[:1], *TRUE_NAMES, *RIGHT_NAMES, "why", "checked", "predicted", "confidence"}  # what the file means
HIDDEN = ("reason", "explanation", "comment", "score", "pass", *VERDICT_NAMES)  # what gives a verdict away
MOST_NAMES = 5  # that an error shows
UNSURE = ("?", "unsure", "unknown", "skip")


@dataclass
class Told:
    """What tables said: the last answer about each item, and for which items that was not the first one.

    for_audit: the items that were answered because the audit's order asked for them.
    empty: the tables without any answer. respelled: a sentence on answers that were taken as a verdict.
    """

    answers: dict[int, tuple[str, str]] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    for_audit: set[int] = field(default_factory=set)
    empty: list[str] = field(default_factory=list)
    respelled: str = ""

    def count(self, item: int, answer: tuple[str, str], why: str) -> None:
        """Count an answer about an item that was asked for some reason."""
        if self.answers.get(item, answer) != answer:
            self.changed.add(item)
        self.answers[item] = answer
        if why not in ELSEWHERE:
            self.for_audit.add(item)


class Spelling:
    """Reads answers as verdicts where they differ in upper and lower case or outer spaces only.

    >>> spelling = Spelling(["pass", "fail"])
    >>> spelling.read("PASS"), spelling.remark
    ('pass', 'PASS is taken as pass.')
    """

    def __init__(self, verdicts: Iterable[Hashable]) -> None:
        self._verdicts = {str(one): str(one) for one in verdicts}
        lower = Counter(one.strip().lower() for one in self._verdicts)
        self._lower = {one.strip().lower(): one for one in self._verdicts if lower[one.strip().lower()] == 1}
        self._met: dict[str, str] = {}

    def read(self, label: str) -> str:
        """Return the verdict that an answer means, or the answer as it is."""
        verdict = label if label in self._verdicts else self._lower.get(label.strip().lower(), label)
        if label not in ("", "?"):
            self._met[label] = verdict
        return verdict

    @property
    def remark(self) -> str:
        """A sentence on the answers that were taken as a verdict."""
        taken = [f"{label} is taken as {verdict}" for label, verdict in self._met.items() if label != verdict]
        return f"{', '.join(taken)}." if taken else ""

    def check(self) -> None:
        """Raise an error if there are answers, and none of them is a verdict."""
        if self._met and not any(verdict in self._verdicts for verdict in self._met.values()):
            raise DataError(
                f"none of the answers is a verdict: the answers are {_shown(self._met)}; the verdicts are "
                f"{_shown(self._verdicts)}. Write which verdict each item deserves, or name the column of the verdicts "
                "with --predicted."
            )


def _shown(names: Iterable[str]) -> str:
    found = sorted(names)
    return ", ".join(found[:MOST_NAMES]) + f" and {len(found) - MOST_NAMES} more" * (len(found) > MOST_NAMES)


Answer = tuple[int, str, str, str, str]  # item, true label ("?" if unknown), yes or no, why it was asked for, where


def answers(ids: Iterable[str], paths: Iterable[str], *, ignore: Container[str] = ()) -> Iterator[Answer]:
    """Yield the answers of tables in the order of their rows; rows of the ids to `ignore` are passed over."""
    places = {name.strip(): place for place, name in enumerate(ids)}
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
            name, where = _cell(row.get(key)), f"{path}: row {number}"
            item = places.get(name)
            if item is None and name in ignore:
                continue
            if item is None:
                raise DataError(f"{where} has the id {row.get(key)!r}, which no prediction has.")
            reason = "audit" if why is None else _cell(row.get(why))
            label = "" if truth is None else _cell(row.get(truth))
            answer = "" if right is None else _cell(row.get(right)).lower()
            if label.lower() in UNSURE or answer in UNSURE:
                label, answer = "?", ""
            elif checked is not None and _cell(row.get(checked)).lower() in NO:
                continue
            if not label and answer and answer not in (*YES, *NO):
                raise UnknownName(f"answer in {where}", answer, (*YES[:3], *NO[:3], "unsure"))
            yield item, label, answer, reason, where


def tell_verified(audit: Audit, ids: Sequence[str], paths: Iterable[str], *, only_verdicts: bool = False) -> Told:
    """Enter the answers of tables into an audit, in the order of their rows, and return what there was.

    only_verdicts: refuse answers none of which is a verdict.
    """
    told, spelling = Told(), Spelling(audit.predicted.tolist())
    for path in paths:
        found = [
            (item, spelling.read(label), right, why, where) for item, label, right, why, where in answers(ids, [path])
        ]
        if not any(label or answer for _, label, answer, *_ in found):
            told.empty.append(path)
        _tell(audit, found, told)
    if only_verdicts:
        spelling.check()
    told.respelled = spelling.remark
    return told


def _tell(audit: Audit, found: Iterable[Answer], told: Told) -> None:
    for item, label, answer, reason, _ in found:
        if reason == "hunt":
            audit.begin_hunt()
        if label == "?":
            audit.skip([item])
        elif label:
            audit.tell([item], [label])
        elif answer:
            audit.tell([item], right=[answer in YES])
        else:
            continue
        told.count(item, (label, answer), reason)


def _cell(value: object) -> str:
    return "" if value is None else plain_cell(str(value)).strip()


def write_next(path: str, table: PredictionTable, items: Sequence[int], why: str, *, blind: bool = False) -> None:
    """Write the items to check as CSV, with all columns of their table and an empty one for the answer.

    blind: without the predictions, and without what tells about them.
    """
    content = io.StringIO()
    writer = csv.writer(content)
    rows = table.source_rows(items)
    hidden = HIDDEN if blind else ()
    names = [name for name in table.columns if name.lower() not in hidden]
    shown = [f"{SOURCE} {name}" if name.lower() in OURS else name for name in names]
    verdict = () if blind else ("predicted", "confidence")
    writer.writerow(["id", *map(safe_cell, shown), *verdict, ANSWER, "why"])
    for item, row in zip(items, rows, strict=True):
        confidence = "" if isnan(table.confidence[item]) else f"{table.confidence[item]:.6g}"
        said = () if blind else (safe_cell(table.labels[item]), confidence)
        cells = [safe_cell(_as_cell(row.get(name))) for name in names]
        writer.writerow([safe_cell(table.ids[item]), *cells, *said, "", why])
    write_whole(path, content.getvalue().encode("utf-8", "surrogatepass"))


def _as_cell(value: object) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


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
        return {"id", ANSWER, "why"} <= set(rows.columns) and not any(
            str(row.get(ANSWER) or "").strip() for row in rows.records()
        )
    except (CusalError, OSError):
        return False
