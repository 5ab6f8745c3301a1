"""Which part of the predictions can be accepted without looking, with a stated confidence.

"The most confident part is at least 98 % right": the items among the 60 % most confident are checked in an order that
is uniformly random. Among the L most confident ones, n_L were then checked and x_L found wrong, and

    p_L = P(X <= x_L),   X ~ hypergeometric(L items, the fewest wrong ones that break the promise, n_L draws)

Levels L are tested upwards, from where enough are checked for the test to succeed in spite of some errors. The first
failure ends it, so that no correction for many tests is due (Maurer, Hothorn and
Lehmacher 1995; Angelopoulos et al. 2021).

"Accept the L most confident and check all others; at most 5 % of the data set is wrong then": the wrong ones among the
L most confident can only grow with L. L grows until the upper end of their estimate exceeds the limit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from scipy.stats import binom, hypergeom

from cusal._types import Indices
from cusal.audit.checks import Checks
from cusal.audit.estimates import per_cent
from cusal.audit.order import Order
from cusal.audit.shares import deviations

PART = 0.6  # of the items, the most confident, in which a guarantee is sought
LEVELS = 50  # parts of the data set that are tried


@dataclass(frozen=True)
class Accepted:
    """The part of the predictions that can be accepted, or what is still missing to accept any.

    Attributes
    ----------
    indices : (m,) int64
        Positions of the accepted items, the most confident first; empty if none can be accepted yet.
    threshold : float or None
        The lowest confidence among them.
    missing : (k,) int64
        Positions of the items to check next: for a guarantee, the next of its own order; to accept with few wrong,
        all items that are not accepted and not checked.
    reason : str
        What was found, in words.
    """

    indices: Indices
    threshold: float | None
    missing: Indices
    reason: str

    def __len__(self) -> int:
        return len(self.indices)


@dataclass(frozen=True)
class Tested:
    """A level: the L most confident items, how many of them were checked, and how many of those are wrong."""

    size: int
    checks: int
    wrong: int


def keeps_promise(level: Tested, promise: float, alpha: float) -> bool:
    """Return whether at least the promised share of a level is right, with a chance of error of at most alpha.

    >>> keeps_promise(Tested(10_000, 149, 0), 0.98, 0.05), keeps_promise(Tested(10_000, 140, 0), 0.98, 0.05)
    (True, False)
    """
    fewest = floor((1 - promise) * level.size + 1e-9) + 1  # wrong ones that would break the promise
    if fewest > level.size:
        return True
    return float(hypergeom.cdf(level.wrong, level.size, fewest, level.checks)) <= alpha


def fewest_checks(promise: float, alpha: float, errors: int = 0) -> int:
    """Return how many checks with so many errors among them keep the promise in a large data set.

    >>> [fewest_checks(0.98, 0.05, errors) for errors in (0, 1, 2)]
    [149, 236, 313]
    """
    low, high = errors, max(1, ceil(40 * (errors + 1) / (1 - promise)))  # too few, enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if binom.cdf(errors, middle, 1 - promise) <= alpha else (middle, high)
    return high


def start_of_levels(promise: float, alpha: float, checks: int) -> int:
    """Return how many checks the first level must hold: with many in all, enough to allow for an error or more.

    It depends on how many were checked, never on what was found.
    """
    errors = 0
    while 2 * fewest_checks(promise, alpha, errors + 1) <= checks:
        errors += 1
    return fewest_checks(promise, alpha, errors)


def guarantee(checks: Checks, promise: float, level: float, count: int) -> Accepted:
    """Return the most confident predictions that keep a promise, and the next `count` items to check."""
    top = checks.by_confidence[: max(1, int(PART * len(checks.claims)))]
    drawn = np.full(len(checks.claims), np.inf)  # only the most confident part is in this order
    drawn[top] = checks.uniform[top]
    order = Order(drawn)
    checked = checks.answered_beginning(order)
    checked = checked[np.isfinite(drawn[checked])]
    wrong = np.array([not checks.answers.right[item] for item in checked.tolist()], dtype=np.bool_)  # unknown: wrong
    ranks, start = checks.ranks[checked], start_of_levels(promise, 1 - level, len(checked))

    def passes(size: int) -> bool:
        inside = ranks < size
        return keeps_promise(Tested(size, int(inside.sum()), int(wrong[inside].sum())), promise, 1 - level)

    able = [size for size in _levels(checks, len(top)) if (ranks < size).sum() >= min(start, size)]
    kept = _last_success(able, passes)
    missing = checks.next(order, count)
    promised = per_cent(promise)
    reason = (
        f"The {kept:,} most confident predictions are at least {promised} right, with {level * 100:g} % confidence."
    )
    if not kept and able:
        reason = (
            f"A guarantee of {promised} cannot be given so far: of its {len(checked)} checks {wrong.sum()} are wrong "
            "or unknown, which is too many."
        )
    elif not kept:
        reason = (
            f"A guarantee of {promised} takes {start} checks or more of an order of its own, among the most confident "
            f"predictions; {len(checked)} of them are made."
        )
    return _accepted(checks, kept, missing[np.isfinite(drawn[missing])], reason)


def accept(checks: Checks, max_wrong: float, level: float) -> Accepted:
    """Return the most confident predictions that can be accepted once all others are checked."""
    z = deviations(level, sides=1)

    def passes(size: int) -> bool:
        inside = checks.ranks < size
        wrong = checks.wrong_share(inside)  # what was hunted is corrected
        return wrong.with_unknown.interval(z)[1] * wrong.rest <= max_wrong * len(checks.claims)

    able = [size for size in _levels(checks, len(checks.claims)) if checks.says_something(checks.ranks < size)]
    kept = _last_success(able, passes)
    rest = checks.by_confidence[kept:]
    missing = rest[[item not in checks.answers for item in rest.tolist()]]
    reason = "No part can be accepted with the checks so far."
    if kept:
        reason = (
            f"Accept the {kept:,} most confident predictions and check {len(missing):,} others: at most "
            f"{per_cent(max_wrong)} of all are wrong then, with {level * 100:g} % confidence."
        )
    return _accepted(checks, kept, missing, reason)


def _levels(checks: Checks, count: int) -> list[int]:
    """Return sizes of levels among the `count` most confident items; items of equal confidence stay together."""
    confidence = checks.claims.confidence[checks.by_confidence]  # highest first
    steps = np.unique(np.ceil(np.linspace(0, count, LEVELS + 1)[1:]).astype(np.int64))
    ends = len(confidence) - np.searchsorted(confidence[::-1], confidence[steps - 1], side="left")
    return [int(end) for end in np.unique(ends) if end <= count] or [count]


def _last_success(levels: list[int], passes: Callable[[int], bool]) -> int:
    """Return the largest level before the first one that fails; 0 if the first does."""
    best = 0
    for level in levels:
        if not passes(level):
            break
        best = level
    return best


def _accepted(checks: Checks, kept: int, missing: Indices, reason: str) -> Accepted:
    accepted = checks.by_confidence[:kept]
    threshold = float(checks.claims.confidence[accepted[-1]]) if kept else None
    return Accepted(accepted, threshold, missing, reason)
