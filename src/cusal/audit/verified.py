"""Answers in tables: what somebody found out about predictions, as `cusal audit` wrote them out to be filled in.

A row has the id of an item and its true label, or whether the prediction is right. Empty cells are open, "?" and
"unsure" are items about which nobody can tell. A column `checked`, as `cusal export` writes it, says "no" where the
label is an accepted prediction, which is no answer. The column `why` says what an item was asked for; the score
for hunting is fixed at the first hunted row.
"""

from collections.abc import Iterable

from cusal._cells import plain_cell
from cusal._tables import open_table
from cusal.audit.audit import Audit
from cusal.errors import DataError, UnknownName

TRUTH_NAMES = ("true_label", "true", "truth", "verified", "correct_label", "gold", "label")
RIGHT_NAMES = ("right", "correct", "ok")
ID_NAMES = ("id", "key", "item", "file", "filename", "path", "image", "url", "uuid")
YES, NO = ("yes", "y", "true", "1", "right", "ok", "x"), ("no", "n", "false", "0", "wrong")
UNSURE = ("?", "unsure", "unknown", "skip")


def tell_verified(audit: Audit, ids: Iterable[str], paths: Iterable[str]) -> int:
    """Enter the answers of tables into an audit, in the order of their rows, and return how many there were."""
    places = {name.strip(): place for place, name in enumerate(ids)}
    told = 0
    for path in paths:
        rows = open_table(path)
        key, truth, right = (_find(rows.columns, names) for names in (ID_NAMES, TRUTH_NAMES, RIGHT_NAMES))
        why, checked = _find(rows.columns, ("why",)), _find(rows.columns, ("checked",))
        if key is None or (truth is None and right is None):
            raise DataError(
                f"{path} has the columns {', '.join(rows.columns)}; expected an id, and true_label (or right with yes "
                "and no)."
            )
        for number, row in enumerate(rows.records(), 1):
            item = places.get(_cell(row.get(key)))
            if item is None:
                raise DataError(f"{path}: row {number} has the id {row.get(key)!r}, which no prediction has.")
            if why is not None and str(row.get(why)) == "hunt":
                audit.begin_hunt()
            label = "" if truth is None else _cell(row.get(truth))
            answer = "" if right is None else _cell(row.get(right)).lower()
            if checked is not None and _cell(row.get(checked)).lower() in NO and answer not in UNSURE:
                continue
            told += _tell(audit, item, label, answer, f"{path}: row {number}")
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


def _find(columns: list[str], names: Iterable[str]) -> str | None:
    lower = {name.lower(): name for name in reversed(columns)}
    return next((lower[name] for name in names if name in lower), None)
