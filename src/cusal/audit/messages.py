"""What an audit says in words: what was found, what to do next, and what looks like a slip in the tables."""

from collections import Counter
from collections.abc import Hashable
from difflib import get_close_matches
from math import isnan

import numpy as np

from cusal.audit.answer_tables import Told
from cusal.audit.audit import Audit
from cusal.audit.estimates import Judgement, Share, Slice
from cusal.audit.prediction_table import PredictionTable
from cusal.audit.simultaneous_intervals import by_class_together
from cusal.errors import NotReady

ENOUGH = 0.02  # half the width of an interval with which most people are content
WORST = 3  # classes that are named
MOST_NAMES = 3  # names that are shown


def summary(audit: Audit) -> str:
    """Return what is known about the predictions, and what to do next.

    Parameters
    ----------
    audit : Audit
        With any number of checks.

    Returns
    -------
    str

    Examples
    --------
    >>> summary(Audit(predicted=["cat", "dog"])).partition(".")[0]
    'There are 2 predictions and no checks yet'
    """
    if audit.checks == 0:
        there = "is 1 prediction" if len(audit) == 1 else f"are {len(audit):,} predictions"
        return (
            f"There {there} and no checks yet. Check the items that follow, in their order, and come back with the "
            "answers: 50 show roughly how good the predictions are, 200 to 400 show it well."
        )
    try:
        share, anytime = audit.accuracy(), audit.accuracy(anytime=True)
    except NotReady:
        return f"{audit.checks} items were checked, but not the first ones of the audit's order: check those first."
    if audit.checks >= len(audit):
        return f"All {len(audit):,} predictions are checked: {share.estimate:.2%} of them are right."
    wider = "wider " if anytime.low <= share.low and share.high <= anytime.high else ""  # not always, with few checks
    sentences = [
        f"About {_per_cent(share.estimate)} of the {len(audit):,} predictions are right: between "
        f"{_per_cent(share.low)} and {_per_cent(share.high)}, with 95 % confidence, from {share.checks} checks.",
        f"If you look at this after every few checks, read the {wider}range {_per_cent(anytime.low)} to "
        f"{_per_cent(anytime.high)}, which holds however often you look.",
        _worst(by_class_together(audit), share.estimate),
        _next_step(audit, share),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def judged(table: Judgement) -> str:
    """Return what a judge is worth, in words that need no statistics."""
    name, items = table.positive, table.items
    several = table.verdicts > 2
    rate = f"{table.kappa.base_rate * 100:.0f} %"
    would = f"better than always saying {table.kappa.commonest}, which would be right in {rate}"
    task = f"In telling {name} from all others it" if several else "That"
    shown = f"That it is, in telling {name} from all others, {would}" if several else f"That it is {would}"
    better = f"{task} is surely {would}." if table.gain.low > 0 else f"{shown}, is not shown."
    precision = f"Of what it calls {name}, about {_range(table.precision, turned=True)} should not be;"
    if isnan(table.precision.estimate):
        precision = f"It calls nothing {name};"
    sentences = [
        f"The judge says {name} for {table.called * 100:.0f} % of {items:,} items. In truth about "
        f"{_range(table.rate)} are {name}.",
        f"{precision} of what truly is {name}, it misses about {_range(table.recall, turned=True)}.",
        f"Of all its verdicts about {_range(table.accuracy)} are right. {better}",
        f"All ranges hold with 95 % confidence each, from {table.checks} checks.",
    ]
    return " ".join(sentences)


def _range(share: Share, *, turned: bool = False) -> str:
    """Return a share with its range; turned, what is left of it."""
    values = (share.estimate, share.low, share.high)
    middle, low, high = (1 - share.estimate, 1 - share.high, 1 - share.low) if turned else values
    return f"{middle * 100:.0f} % ({low * 100:.0f} to {high * 100:.0f})"


def _per_cent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _worst(classes: list[Slice], overall: float) -> str:
    """Return a sentence about the classes that are surely worse than the whole."""
    weak = [(one.share.high, one) for one in classes if one.share is not None and one.share.high < overall]
    if not weak:
        return ""
    named = ", ".join(
        f"{one.name} (at most {_per_cent(high)})" for high, one in sorted(weak, key=lambda pair: pair[0])[:WORST]
    )
    kind = "class" if len(weak) == 1 else "classes"
    more = f" and {len(weak) - WORST} more" if len(weak) > WORST else ""
    return f"Worse than the rest {'is' if len(weak) == 1 else 'are'} the predicted {kind} {named}{more}."


def _next_step(audit: Audit, share: Share) -> str:
    half = (share.high - share.low) / 2
    if half <= ENOUGH:
        return "That is precise enough for most purposes."
    return f"To know it within {ENOUGH * 100:.0f} points takes {audit.needed(ENOUGH)}."


def remarks(audit: Audit, table: PredictionTable, told: Told) -> list[str]:
    """Return sentences about the predictions and the answers; none where all is as usual."""
    empty = (
        f"{', '.join(told.empty)} {'holds' if len(told.empty) == 1 else 'hold'} no answers yet." if told.empty else ""
    )
    found = [
        empty,
        _reading(table),
        _waiting(audit, table, told),
        _unsure(audit),
        _new_labels(audit, table),
        told.respelled,
    ]
    if told.answers:
        found[1] = ""  # it was said on the first day
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
    shown = ", ".join(_with_likeness(name, count, sorted(predicted)) for name, count in new.most_common(MOST_NAMES))
    more = f" and {len(new) - MOST_NAMES} more" if len(new) > MOST_NAMES else ""
    return f"These true labels were never predicted, so each counts as an error: {shown}{more}."


def _with_likeness(name: Hashable, count: int, predicted: list[str]) -> str:
    close = get_close_matches(str(name).lower(), [one.lower() for one in predicted], n=1, cutoff=0.9)
    alike = [one for one in predicted if close and one.lower() == close[0]]
    return f"{name} ({count} x{f', much like {alike[0]}' if alike else ''})"
