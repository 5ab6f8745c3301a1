"""The answers of an audit, and the checked items as samples: those of its order, and those that were hunted.

The audit's sample is the longest beginning of the order that is answered. Hunted items are no sample of anything.
They are counted by themselves: the region of the most suspicious items that is answered in full is known exactly,
and the sample stands for the rest.
"""

import copy
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import as_indices
from cusal._types import Indices
from cusal.audit.error_model import features, fit_error_model
from cusal.audit.order import Design, Identities, Order, exponentials
from cusal.audit.predictions import Claims
from cusal.audit.shares import PartShare, Sample, chances, spread
from cusal.errors import InvalidInput, NotReady
from cusal.session.labels import plain

UNKNOWN = None
FEWEST = 5  # checks in a slice, below which nothing is said
AUDIT, GUARANTEE = 0, 1  # the streams of random numbers
Mask = NDArray[np.bool_]
Events = Callable[[Indices], tuple[NDArray[np.float64], NDArray[np.float64]]]  # of items: without and with unknown ones


class Answers:
    """Answers in the order in which they came; a new answer about an item replaces the earlier one."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.right: dict[int, bool | None] = {}  # None: nobody can tell
        self.true: dict[int, Hashable] = {}

    def __contains__(self, item: int) -> bool:
        return item in self.right

    def __len__(self) -> int:
        return len(self.right)

    def tell(self, indices: Any, labels: Any, right: Any) -> None:
        """Store true labels, or whether predictions are right; invalid answers change nothing."""
        places = as_indices(indices, len(self.claims)).tolist()
        if (labels is None) == (right is None):
            raise InvalidInput("give either the true labels or right=[True, False, ...], one for each index.")
        if right is None:
            names = plain([labels] if isinstance(labels, str) or not hasattr(labels, "__len__") else labels)
            self._check_count(names, places)
            flags = [name == self.predicted_name(place) for place, name in zip(places, names, strict=True)]
            self.true.update(zip(places, names, strict=True))
        else:
            flags = _as_flags(right)
            self._check_count(flags, places)
            for place, flag in zip(places, flags, strict=True):
                self.true.pop(place, None)
                if flag:
                    self.true[place] = self.predicted_name(place)
        self.right.update(zip(places, flags, strict=True))

    def skip(self, indices: Any) -> None:
        """Store that nobody can tell whether these predictions are right."""
        for place in as_indices(indices, len(self.claims)).tolist():
            self.right[place] = UNKNOWN
            self.true.pop(place, None)

    def predicted_name(self, item: int) -> Hashable:
        """Return the predicted label of an item."""
        name: Hashable = self.claims.names[int(self.claims.predicted[item])]
        return name

    def known(self, first: int | None = None) -> tuple[Indices, NDArray[np.bool_]]:
        """Return the items whose answer is known, (n,), and whether their predictions are wrong, (n,).

        `first` takes only those among so many first answers.
        """
        found = [(item, not right) for item, right in list(self.right.items())[:first] if right is not UNKNOWN]
        items = np.array([item for item, _ in found], dtype=np.int64)
        return items, np.array([wrong for _, wrong in found], dtype=np.bool_)

    def true_names(self, items: Iterable[int]) -> list[Hashable]:
        """Return the true label of each answered item, (k,); None where it is not known.

        Of two classes, what is not the one is the other.
        """
        names = self.claims.names
        others = dict(zip(names, reversed(names), strict=True)) if len(names) == 2 else {}
        if others and not others.keys() >= set(self.true.values()):
            others = {}  # a third class was met
        found = []
        for item in items:
            wrong = self.right[item] is False and item not in self.true
            found.append(others.get(self.predicted_name(item)) if wrong else self.true.get(item))
        return found

    def _check_count(self, answers: Sequence[Any], places: Sequence[int]) -> None:
        if len(answers) != len(places):
            raise InvalidInput(f"told {len(answers)} answers for {len(places)} items; give one for each index.")


def _as_flags(right: Any) -> list[bool]:
    values = np.atleast_1d(np.asarray(right))
    if values.ndim != 1 or not (values.dtype == bool or np.isin(values, [0, 1]).all()):
        raise InvalidInput("right holds something else than True and False; give one for each index.")
    return [bool(value) for value in values]


class Checks:
    """The order of checking, the answers, and what the two say about all items.

    groups: (N,) the number of the group of each item, where whole groups are checked.
    """

    def __init__(
        self,
        claims: Claims,
        identities: Identities,
        seed: int,
        design: Design | None = None,
        groups: Indices | None = None,
    ) -> None:
        self.claims, self.identities, self.seed, self.groups = claims, identities, seed, groups
        self.design = Design() if design is None else design
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

    def with_design(self, design: Design) -> "Checks":
        """Return the same predictions in another order, without answers."""
        return Checks(self.claims, self.identities, self.seed, design, self.groups)

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """(N,) how readily each item is drawn."""
        found = self.design.rates(self.claims.predicted, self.claims.confidence)
        if self.groups is not None:
            means = np.bincount(self.groups, found) / np.maximum(np.bincount(self.groups), 1)
            found = means[self.groups]
        return found

    @cached_property
    def order(self) -> Order:
        """The order in which items are checked."""
        drawn = exponentials(self.identities, self.seed, AUDIT)
        if self.groups is not None:  # the hash of the smallest identity stands for the group
            least = np.full(int(self.groups.max()) + 1, np.iinfo(np.uint64).max, dtype=np.uint64)
            np.minimum.at(least, self.groups, self.identities)
            drawn = exponentials(least, self.seed, AUDIT)[self.groups]
        return Order(drawn / self.rates)

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
            self._prefix = count, self._whole_groups(self.answered_beginning(self.order))
        return self._prefix[1]

    def _whole_groups(self, items: Indices) -> Indices:
        """Return the beginning without a last group that is not checked in full."""
        if self.groups is None or len(items) in (0, len(self.claims)):
            return items
        key = self.order.next_key(len(items))
        return items[self.order.keys[items] < key]

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

    def events(self, holds: Callable[[Indices], Sequence[float | None]]) -> Events:
        """Return an event as numbers without and with the items about which nothing is known (None)."""

        def both(items: Indices) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            found = holds(items)
            low, high = ([unknown if one is None else one for one in found] for unknown in (0.0, 1.0))
            return np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)

        return both

    def wrong(self, items: Indices) -> list[float | None]:
        """Return 1 for each wrong prediction and 0 for each right one; None where nobody can tell."""
        found = (self.answers.right[item] for item in items.tolist())
        return [None if right is None else float(not right) for right in found]

    def rest(self, inside: Mask | None) -> tuple[Mask, Indices]:
        """Return which items were not hunted, (N,), and the sample that stands for them."""
        rest = np.ones(len(self.claims), dtype=np.bool_) if inside is None else inside.copy()
        rest[self.hunted()] = False
        return rest, self.prefix[rest[self.prefix]]

    def says_something(self, inside: Mask) -> bool:
        """Return whether enough items were checked to estimate the share of right ones among some."""
        rest, items = self.rest(inside)
        return len(items) >= min(FEWEST, int(rest.sum()))

    def part(self, event: Events, inside: Mask | None = None) -> PartShare:
        """Return the share of an event among items; hunted ones are counted exactly."""
        hunted = self.hunted() if inside is None else self.hunted()[inside[self.hunted()]]
        size = len(self.claims) if inside is None else int(inside.sum())
        known = (0.0, 0.0)
        if len(hunted):
            low, high = event(hunted)
            known = float(low.sum()), float(high.sum())
        rest, items = self.rest(inside)
        scores = self._scores(items, rest)
        groups = None if self.groups is None else np.unique(self.groups[items], return_inverse=True)[1]
        drawn, left = self.chances(items), size - len(hunted)
        without, with_unknown = event(items)
        first = spread(Sample(without, drawn, left, scores, groups))
        same = np.array_equal(without, with_unknown)
        other = first if same else spread(Sample(with_unknown, drawn, left, scores, groups))
        return PartShare(first, other, known, left, size)

    def wrong_share(self, inside: Mask | None = None) -> PartShare:
        """Return the share of wrong predictions among items, or raise a NotReady if too few were checked."""
        found = self.part(self.events(self.wrong), inside)
        least = min(1 if inside is None else FEWEST, found.rest)
        if found.checks < least:
            raise NotReady(
                f"{found.checks} items were checked in the audit's order, and {least} are needed; ask() for some, "
                "check them, and tell() the answers."
            )
        return found

    def counted(self, inside: Mask | None = None) -> int:
        """Return how many checked items an estimate is from, hunted ones among them."""
        checked = np.union1d(self.prefix, self.hunted())
        return len(checked) if inside is None else int(inside[checked].sum())

    def _scores(self, items: Indices, rest: Mask) -> NDArray[np.float64] | None:
        """Return the standardised confidences for the regression; None where there is none."""
        confidence = self.claims.confidence[rest]
        deviation = float(confidence.std()) if len(confidence) else 0.0
        return (self.claims.confidence[items] - confidence.mean()) / deviation if deviation > 1e-12 else None
