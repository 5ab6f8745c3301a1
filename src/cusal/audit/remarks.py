"""What a user should know about the tables that were read: what was taken for what, and what looks like a slip."""

from collections import Counter
from collections.abc import Hashable
from difflib import get_close_matches

import numpy as np

from cusal.audit.audit import Audit
from cusal.audit.prediction_table import PredictionTable
from cusal.audit.verified import Told

MOST = 3  # names that are shown


def remarks(audit: Audit, table: PredictionTable, told: Told) -> list[str]:
    """Return sentences about the predictions and the answers; none where all is as usual."""
    found = [_reading(table), _waiting(audit, table, told), _unsure(audit), _new_labels(audit, table)]
    if told.answers:
        found[0] = ""  # it was said on the first day
    if told.changed:
        items = "1 item was" if len(told.changed) == 1 else f"{len(told.changed)} items were"
        found.append(f"{items} answered twice, differently; the last answer counts.")
    return [" ".join(sentence for sentence in found if sentence)] if any(found) else []


def _reading(table: PredictionTable) -> str:
    missing = int(np.isnan(np.array(table.confidence)).sum())
    gaps = f" {missing:,} have no confidence; they count as typical." if 0 < missing < len(table.labels) else ""
    slices = f"; columns to compare: {', '.join(table.slices)}" if table.slices else ""
    return f"Columns that were read: {table.reading}{slices}.{gaps}"


def _waiting(audit: Audit, table: PredictionTable, told: Told) -> str:
    """Return which answer is missing, so that later ones cannot count yet."""
    waiting = told.for_audit - set(audit.checked_in_order.tolist())
    if not waiting:
        return ""
    answers = "1 answer does" if len(waiting) == 1 else f"{len(waiting)} answers do"
    return (
        f"{answers} not count yet, because {table.ids[int(audit.ask(1)[0])]}, which comes before in the order, has "
        "none: check it too, or write ? if nobody can tell."
    )


def _unsure(audit: Audit) -> str:
    count = sum(right is None for right in audit.answers.values())
    about = "Nobody could tell about 1 item" if count == 1 else f"Nobody could tell about {count} items"
    return f"{about}; the intervals allow for both possibilities." if count else ""


def _new_labels(audit: Audit, table: PredictionTable) -> str:
    """Return the true labels that were never predicted: new classes, or slips."""
    predicted = set(table.labels)
    new = Counter(label for label in audit.true_labels.values() if label not in predicted)
    if not new:
        return ""
    shown = ", ".join(_with_likeness(name, count, sorted(predicted)) for name, count in new.most_common(MOST))
    more = f" and {len(new) - MOST} more" if len(new) > MOST else ""
    return f"These true labels were never predicted, so each counts as an error: {shown}{more}."


def _with_likeness(name: Hashable, count: int, predicted: list[str]) -> str:
    close = get_close_matches(str(name).lower(), [one.lower() for one in predicted], n=1, cutoff=0.9)
    alike = [one for one in predicted if close and one.lower() == close[0]]
    return f"{name} ({count} x{f', much like {alike[0]}' if alike else ''})"
