"""The checked items of an audit as samples: those of its order, and those that were hunted.

The audit's sample is the longest beginning of the order that is answered. Hunted items are no sample of anything.
They are counted by themselves: the region of the most suspicious items that is answered in full is known exactly,
and the sample stands for the rest.
"""

import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices
from cusal.audit.answers import Answers
from cusal.audit.claims import Claims
from cusal.audit.error_model import features, fit_error_model
from cusal.audit.estimates import Share
from cusal.audit.order import Identities, Order, exponentials
from cusal.audit.order import rates as drawing_rates
from cusal.audit.weighted import Sample, Spread, chances, deviations, spread
from cusal.errors import NotReady

FEWEST = 5  # checks in a slice, below which nothing is said
AUDIT, GUARANTEE = 0, 1  # the streams of random numbers
Mask = NDArray[np.bool_]


class Checks:
    """The order of checking, the answers, and what the two say about all items."""

    def __init__(self, claims: Claims, identities: Identities, seed: int) -> None:
        self.claims, self.identities, self.seed = claims, identities, seed
        self.answers = Answers(claims)
        self.hunting_since: int | None = None  # how many answers there were when hunting began
        self._prefix: tuple[int, Indices] | None = None  # after how many answers, and which items

    def with_answers_of(self, items: list[int]) -> "Checks":
        """Return the same order with the answers about these items alone, and without a hunt."""
        checks = copy.copy(self)
        checks.answers = Answers(self.claims)
        checks.answers.right = {item: self.answers.right[item] for item in items}
        checks.answers.true = {item: self.answers.true[item] for item in items if item in self.answers.true}
        checks.hunting_since, checks._prefix = None, None
        return checks

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """(N,) how readily each item is drawn."""
        return drawing_rates(self.claims.confidence)

    @cached_property
    def order(self) -> Order:
        """The order in which items are checked."""
        return Order(exponentials(self.identities, self.seed, AUDIT) / self.rates)

    @cached_property
    def uniform(self) -> NDArray[np.float64]:
        """(N,) keys of an order in which every item is as likely as any other, for guarantees."""
        return exponentials(self.identities, self.seed, GUARANTEE)

    @cached_property
    def by_confidence(self) -> Indices:
        """(N,) the items, the most confident first."""
        return np.argsort(-self.claims.confidence, kind="stable")

    @cached_property
    def ranks(self) -> Indices:
        """(N,) the place of each item in `by_confidence`."""
        places = np.empty(len(self.claims), dtype=np.int64)
        places[self.by_confidence] = np.arange(len(places))
        return places

    @property
    def prefix(self) -> Indices:
        """The items of the longest answered beginning of the order."""
        count = len(self.answers)  # answers are replaced, never taken back: their number says which items have one
        if self._prefix is None or self._prefix[0] != count:
            self._prefix = count, self.answered_beginning(self.order)
        return self._prefix[1]

    def answered_beginning(self, items: Order) -> Indices:
        """Return the longest beginning of an order that is answered."""
        upper = min(len(self.claims), len(self.answers) + 1)
        flags = [item in self.answers for item in items.first(upper).tolist()]
        return items.first(upper if all(flags) else flags.index(False))

    def next(self, items: Order, count: int) -> Indices:
        """Return the first items of an order that are not answered."""
        found = items.first(len(self.answers) + count)
        unanswered: Indices = found[[item not in self.answers for item in found.tolist()]]
        return unanswered[:count]

    def chances(self, items: Indices) -> NDArray[np.float64]:
        """Return the chance that items of the prefix had to be in it."""
        return chances(self.rates[items], self.order.next_key(len(self.prefix)))

    def begin_hunt(self) -> None:
        """Fix the score by which suspicious items are hunted, if that has not happened yet."""
        if self.hunting_since is None:
            self.hunting_since = len(self.answers)

    @cached_property
    def suspicion(self) -> NDArray[np.float64]:
        """(N,) the chance that each item is wrong, by the answers before the hunt."""
        items, wrong = self.answers.known(self.hunting_since)
        rows, classes = features(self.claims), len(self.claims.names)
        model = fit_error_model(rows[items], self.claims.predicted[items], wrong, classes)
        return model.chance_wrong(rows, self.claims.predicted)

    @cached_property
    def suspects(self) -> Order:
        """The items by falling suspicion."""
        return Order(-self.suspicion)

    def hunted(self) -> Indices:
        """Return the most suspicious items, as far as they are answered without a gap."""
        return np.empty(0, dtype=np.int64) if self.hunting_since is None else self.answered_beginning(self.suspects)

    def rest(self, inside: Mask | None) -> tuple[Mask, Indices]:
        """Return which items were not hunted, (N,), and the sample that stands for them."""
        rest = np.ones(len(self.claims), dtype=np.bool_) if inside is None else inside.copy()
        rest[self.hunted()] = False
        return rest, self.prefix[rest[self.prefix]]

    def says_something(self, inside: Mask) -> bool:
        """Return whether enough items were checked to estimate the share of right ones among some."""
        rest, items = self.rest(inside)
        return len(items) >= min(FEWEST, int(rest.sum()))

    def spread(self, inside: Mask | None, *, unknown_right: bool, is_part: bool = False) -> Spread:
        """Return the estimated share of wrong predictions among items, without those that were hunted."""
        rest, items = self.rest(inside)
        size = int(rest.sum())
        if size == 0:
            return Spread(0.0, 0.0, 0.0, 0.0)
        least = 1 if inside is None else min(FEWEST, size)
        if len(items) < least:
            raise NotReady(
                f"{len(items)} items were checked in the audit's order, and {least} are needed; ask() for some, check "
                "them, and tell() the answers."
            )
        right, scores = self.right(items, unknown_right), self._scores(items, rest, inside)
        return spread(Sample(right, self.chances(items), size, scores, is_part))

    def share(self, inside: Mask | None, level: float) -> Share:
        """Return the share of right predictions among items, hunted ones counted exactly, with its interval."""
        z = deviations(level)
        part = inside is not None
        pessimistic, optimistic = (self.spread(inside, unknown_right=flag, is_part=part) for flag in (False, True))
        hunted = self.hunted() if inside is None else self.hunted()[inside[self.hunted()]]
        size = len(self.claims) if inside is None else int(inside.sum())
        found = [self.right(hunted, flag).sum() for flag in (False, True)]
        rest = size - len(hunted)
        low = (found[0] + rest * (1 - pessimistic.interval(z)[1])) / size
        high = (found[1] + rest * (1 - optimistic.interval(z)[0])) / size
        middle = (sum(found) / 2 + rest * (1 - (pessimistic.error + optimistic.error) / 2)) / size
        checked = np.union1d(self.prefix if inside is None else self.prefix[inside[self.prefix]], hunted)
        return Share(float(middle), float(low), float(high), len(checked), level)

    def right(self, items: Indices, unknown_right: bool) -> NDArray[np.float64]:
        """Return 1 for each right prediction and 0 for each wrong one, (k,); unknown ones as one likes."""
        found = (self.answers.right[item] for item in items.tolist())
        return np.array([unknown_right if one is None else one for one in found], dtype=np.float64)

    def _scores(self, items: Indices, rest: Mask, inside: Mask | None) -> NDArray[np.float64] | None:
        """Return the standardised confidences for the regression; None where there is none."""
        if inside is not None:
            return None
        confidence = self.claims.confidence[rest]
        deviation = float(confidence.std())
        return (self.claims.confidence[items] - confidence.mean()) / deviation if deviation > 0 else None
