"""When to stop: do the last labels still change what the model says about the open items?

    changed = share of the open items whose predicted class differs from the one of about 50 labels ago
    kappa   = (agreement - expected) / (1 - expected),   expected = sum_k share now_k * share then_k
    stop    when kappa >= .99 twice running, unless all open items are said to be of one class

Cohen 1960; as a rule for active learning, Bloodgood and Vijay-Shanker 2009. What 50 more labels gain, given how much
the last 50 changed, was measured on 8 tasks with logistic regression (`GAINS`).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._types import Floats, Indices

WINDOW = 50  # labels between the two predictions that are compared
SPACING = 25  # labels between the predictions that are kept: two comparisons running overlap by half
AGREEMENT = 0.99
# (share of predictions that 50 labels changed, below which the next 50 gained these points of accuracy)
GAINS = ((0.01, 0.2), (0.02, 0.5), (0.03, 1.0), (0.05, 1.2), (0.10, 2.4))
MOST_GAIN = 5.7  # between 10 and 20 %; beyond that nothing was measured
UNKNOWN = -1  # the class of an item that was not open


@dataclass(frozen=True)
class Stopping:
    """Whether more labels would still change the model, and the reason in words.

    Attributes
    ----------
    labels : int
        How many labels there are.
    since : int or None
        How many of them are newer than the predictions that are compared, about 50. None where there is nothing to
        compare with yet; then so are the next three.
    changed : float or None
        The share of the open items whose predicted class changed since.
    kappa : float or None
        Cohen's kappa between the predicted classes of the open items then and now.
    gain : float or None
        The points of accuracy that the next 50 labels are likely to add.
    stop : bool
        Whether to stop: kappa was .99 or more twice running, and the predictions are not all of one class.
    reason : str
        Why, in words.
    """

    labels: int
    since: int | None
    changed: float | None
    kappa: float | None
    gain: float | None
    stop: bool
    reason: str


@dataclass
class Course:
    """The predicted classes of the open items, as they were at label counts about 25 apart over the last 50 labels.

    counts, classes: the label counts, ascending, and the class numbers (items,) at each, -1 where an item was not open.
    agreements: kappa at the label counts where it could be computed; the last two are kept.
    """

    counts: list[int] = field(default_factory=list)
    classes: list[NDArray[Any]] = field(default_factory=list)
    agreements: list[tuple[int, float]] = field(default_factory=list)

    def due(self, labels: int) -> bool:
        """Return whether predictions with so many labels are worth keeping."""
        return not self.counts or labels - self.counts[-1] >= SPACING or labels < self.counts[-1]

    def record(self, labels: int, size: int, open_items: Indices, probs: Floats) -> None:
        """Keep the predictions (m, classes) of the open items, if they are due; `size` counts all items."""
        if not self.due(labels):
            return
        if self.counts and labels < self.counts[-1]:  # labels were taken back: what was compared no longer holds
            self.counts, self.classes, self.agreements = [], [], []
        predicted = probs.argmax(axis=1)
        compared = self.compare(labels, open_items, predicted)
        if compared is not None:
            self.agreements = [*self.agreements, (labels, compared[2])][-2:]
        kept = np.full(size, UNKNOWN, dtype=np.int16 if probs.shape[1] < 1 << 15 else np.int32)
        kept[open_items] = predicted
        self.counts.append(labels)
        self.classes.append(kept)
        while len(self.counts) > 1 and labels - self.counts[1] >= WINDOW:  # the second is old enough to compare with
            del self.counts[0], self.classes[0]

    def extended(self, size: int) -> "Course":
        """Return the same course over more items, `size` in all, of which nothing was predicted so far."""
        longer = [np.append(kept, np.full(size - len(kept), UNKNOWN, dtype=kept.dtype)) for kept in self.classes]
        return Course(list(self.counts), longer, list(self.agreements))

    def compare(self, labels: int, open_items: Indices, predicted: Indices) -> tuple[int, float, float] | None:
        """Return how many labels ago the compared predictions are, the share that changed, and kappa."""
        old = [row for row, count in enumerate(self.counts) if labels - count >= WINDOW]
        if not old or len(open_items) == 0:
            return None
        before = self.classes[old[-1]][open_items]
        known = before != UNKNOWN
        if not known.any():
            return None
        changed = float((before[known] != predicted[known]).mean())
        return labels - self.counts[old[-1]], changed, cohens_kappa(before[known], predicted[known])

    def judge(self, labels: int, open_items: Indices, probs: Floats) -> Stopping:
        """Return whether to stop, from the raw predictions of the open items of now."""
        predicted = probs.argmax(axis=1)
        compared = self.compare(labels, open_items, predicted)
        if compared is None:
            return _nothing_to_compare(labels, open_items, self.counts)
        since, changed, kappa = compared
        earlier = [value for count, value in self.agreements if labels - count >= SPACING][-1:]
        constant = probs.shape[1] > 1 and bool((predicted == predicted[0]).all())
        twice = kappa >= AGREEMENT and bool(earlier) and earlier[0] >= AGREEMENT and not constant
        gain = next((points for below, points in GAINS if changed < below), MOST_GAIN)
        reason = _in_words(since, changed, kappa, gain)
        if constant:
            reason += " But all open items are said to be of one class, of which agreement says nothing: continue."
        elif twice:
            reason += " It was so the time before too: stop."
        elif kappa >= AGREEMENT:
            reason += f" If that is still so in {SPACING} labels, stop."
        else:
            reason += " Continue."
        return Stopping(labels, since, changed, kappa, gain, twice, reason)


def cohens_kappa(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return Cohen's kappa between two arrays of class numbers (n,); 1 where all are of one class in both.

    >>> cohens_kappa(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0]))
    0.5
    """
    classes = int(max(first.max(), second.max())) + 1
    shares = [np.bincount(values, minlength=classes) / len(values) for values in (first, second)]
    expected = float(shares[0] @ shares[1])
    agreed = float((first == second).mean())
    return 1.0 if expected == 1 else (agreed - expected) / (1 - expected)


def _in_words(since: int, changed: float, kappa: float, gain: float) -> str:
    more = "or more " if changed >= 0.2 else ""
    return (
        f"The last {since} labels changed {changed * 100:.1f} % of the predictions of open items (kappa {kappa:.3f}); "
        f"the next {WINDOW} are likely to gain about {gain:g} {more}points of accuracy."
    )


def _nothing_to_compare(labels: int, open_items: Indices, counts: list[int]) -> Stopping:
    if len(open_items) == 0:
        return Stopping(labels, None, None, None, None, True, "No item is open: stop.")
    left = WINDOW - (labels - counts[0] if counts else 0)
    more = min(max(1, left), len(open_items))
    reason = f"There are no earlier predictions to compare with yet; ask again after {more} more labels."
    return Stopping(labels, None, None, None, None, False, reason)
