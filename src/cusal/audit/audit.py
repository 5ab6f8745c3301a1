"""Auditing predictions: how good they are, which are wrong, and which can be trusted, from few checks.

audit.ask(20)  ->  somebody checks these predictions  ->  audit.tell(indices, true labels)  ->  audit.accuracy()
"""

import copy
import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from math import nan
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import as_flag, as_listed, as_share
from cusal._checks import as_array, as_batch_size, as_count
from cusal._types import Indices
from cusal.audit import guarantees, quantities
from cusal.audit.checks import Checks, Mask
from cusal.audit.confidence_sequence import anytime_interval
from cusal.audit.error_model import Suspects, calibrated
from cusal.audit.estimates import Judgement, Kappa, Needed, Score, Share, Slice
from cusal.audit.guarantees import Accepted
from cusal.audit.order import BY_CLASS, TRUST, Design, identities
from cusal.audit.predictions import from_labels, from_probs
from cusal.audit.shares import Quantity, deviations, needed
from cusal.errors import InvalidInput, NotReady, UnknownName

MOST_TRUST = 0.9
WIDE, TEN_POINTS = 0.5, 0.1  # an interval that says little, and half of one that says something


class Audit:
    """An audit of given predictions: ask for items to check, tell what they are, read how good the rest is.

    Use it when labels come from a model, a language model or a vendor, and somebody can check a few hundred of them.
    The order of checking is fixed by the seed, so that results may be looked at whenever one likes. Items with little
    confidence come earlier, which the estimates take into account.

    Parameters
    ----------
    probs : (n, classes) array, optional
        Probabilities of every class. The prediction is the most probable class.
    predicted : (n,) labels, optional
        The predicted labels, in place of `probs`.
    confidence : (n,) numbers from 0 to 1, optional
        How sure each predicted label is; NaN where that is not known. Any score that tends to be higher for right
        predictions is fine.
    classes : sequence, optional
        The names of the columns of `probs`; by default their numbers.
    ids : sequence, optional
        A name for each item. The order of checking then goes by these names, whatever the order of the rows.
    groups : sequence, optional
        The group of each item, for instance its dialogue or patient: whole groups are then checked, and intervals allow
        for items of a group being alike. Without it the intervals hold too, for items that are checked one by one.
    trust : float, default 0.1
        How much of the order of checking goes by the confidence: 0 is a uniform sample. 0.5 is for those who know that
        their confidence is good; where it lies, that can cost twice the checks of a uniform sample, 0.1 at most 1.2
        times as many.
    seed : int, default 0
        Seed of the order of checking.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(0.5, 1, 1000)
    >>> truth = rng.random(1000) < confidence          # a prediction is right as often as it claims
    >>> audit = Audit(predicted=np.full(1000, "spam"), confidence=confidence)
    >>> first = audit.ask(100)
    >>> audit.tell(first, right=truth[first])
    >>> found = audit.accuracy()
    >>> bool(found.low < truth.mean() < found.high)
    True
    """

    def __init__(
        self,
        probs: Any = None,
        *,
        predicted: Any = None,
        confidence: Any = None,
        classes: Sequence[Hashable] | None = None,
        ids: Iterable[object] | None = None,
        groups: Iterable[Hashable] | None = None,
        trust: float = TRUST,
        seed: int = 0,
    ) -> None:
        if (probs is None) == (predicted is None):
            raise InvalidInput("give either probs (n, classes), or predicted labels (n,) with their confidence.")
        if probs is not None and confidence is not None:
            raise InvalidInput("give confidence together with predicted; probs hold their own confidence.")
        claims = from_probs(probs, classes) if probs is not None else from_labels(predicted, confidence)
        names = identities(len(claims), ids)
        if len(names) != len(claims):
            raise InvalidInput(f"ids has {len(names)} names for {len(claims)} items; give one for each.")
        if not 0 <= trust <= MOST_TRUST:
            raise InvalidInput(f"trust is {trust}; expected 0 (a uniform sample) to {MOST_TRUST}, by default {TRUST}.")
        design = Design(float(trust), min(BY_CLASS, trust / 2))
        codes = None if groups is None else _group_codes(groups, len(claims))
        self._checks = Checks(claims, names, as_count(seed, "seed", least=0), design, codes)

    def __repr__(self) -> str:
        return f"Audit({len(self)} predictions of {len(self._checks.claims.names)} classes, {self.checks} checked)"

    def __len__(self) -> int:
        return len(self._checks.claims)

    @property
    def seed(self) -> int:
        """Seed of the order of checking."""
        return self._checks.seed

    @property
    def checks(self) -> int:
        """How many items were checked, whatever they were asked for."""
        return len(self._checks.answers)

    @property
    def answers(self) -> dict[int, bool | None]:
        """Whether the prediction of each checked item is right, by position; None where nobody could tell."""
        return dict(self._checks.answers.right)

    @property
    def true_labels(self) -> dict[int, Hashable]:
        """The true label of each item for which it was told, by position."""
        return dict(self._checks.answers.true)

    @property
    def checked_in_order(self) -> Indices:
        """The checked items that the estimates rest on: the beginning of the audit's order, without a gap."""
        return self._checks.prefix.copy()

    def as_after(self, count: int) -> Self:
        """Return the audit as it was after the first `count` checks of its order, without those that were hunted."""
        count = as_count(count, "count", least=0)
        items = self._checks.prefix[:count].tolist()
        earlier = copy.copy(self)
        earlier._checks = self._checks.with_answers_of(items)
        return earlier

    @property
    def predicted(self) -> NDArray[Any]:
        """(n,) the predicted labels."""
        return np.asarray(self._checks.claims.names)[self._checks.claims.predicted]

    @property
    def confidence(self) -> NDArray[np.float64]:
        """(n,) the confidence of each prediction; the median where it was missing."""
        return self._checks.claims.confidence.copy()

    @property
    def trust(self) -> float:
        """How much of the order of checking goes by the confidence."""
        return self._checks.design.trust

    def ask(self, count: int = 20, *, order: Hashable = None) -> Indices:
        """Return the positions of the items to check next, (count,), in the audit's order; fewer if fewer are left.

        Parameters
        ----------
        count : int, default 20
            How many items.
        order : label, optional
            A rare class, of which the order should find more: it needs about .7 of the checks to know its recall, and
            more for everything else. An audit has one order, so this is decided before the first answer.

        Raises
        ------
        PoolExhausted
            If every item is checked.
        """
        if order is not None:
            self._seek(order)
        as_batch_size(min(as_count(count, "count", least=1), max(1, len(self) - self.checks)), len(self) - self.checks)
        return self._checks.next(self._checks.order, count)

    def tell(self, indices: Any, labels: Any = None, *, right: Any = None) -> None:
        """Store what checked items are: their true labels, or whether their predictions are right.

        Parameters
        ----------
        indices : (k,) integers
            Positions of the items.
        labels : (k,) labels, optional
            The true labels, of the kind of the predicted ones.
        right : (k,) booleans, optional
            Whether the predictions are right, in place of labels.
        """
        self._checks.answers.tell(indices, labels, right)

    def skip(self, indices: Any) -> None:
        """Store that nobody can tell about these items; the intervals allow for both possibilities."""
        self._checks.answers.skip(indices)

    def accuracy(self, where: Any = None, *, anytime: bool = False, level: float = 0.95) -> Share:
        """Return the share of right predictions among all items, with an interval.

        Parameters
        ----------
        where : (n,) booleans, optional
            The items of interest; by default all.
        anytime : bool, default False
            Whether the interval must hold although one looks at it after every few checks, and stops when one likes
            what one sees. It is 1.4 to 1.9 times as wide.
        level : float, default 0.95
            How often the interval covers the truth.

        Raises
        ------
        NotReady
            If nothing was checked in the audit's order yet, or fewer than five items among those of `where`.
        """
        _check_share(level, "level")
        inside = None if where is None else self._as_mask(where)
        if not as_flag(anytime, "anytime"):
            return self._as_share(quantities.accuracy(self._checks, inside), level, inside)
        if inside is not None:
            raise InvalidInput("anytime intervals are of all items; leave `where` or `anytime` out.")
        return self._anytime(level)

    def recall(self, cls: Hashable, *, level: float = 0.95) -> Share:
        """Return the share of the items truly of a class that are predicted so: the true positive rate."""
        return self.estimate("recall", cls, level=level)

    def precision(self, cls: Hashable, *, level: float = 0.95) -> Share:
        """Return the share of the items predicted to be of a class that truly are."""
        return self.estimate("precision", cls, level=level)

    def rate(self, cls: Hashable, *, level: float = 0.95) -> Share:
        """Return the true share of a class among all items, for instance the corrected pass rate of a judge."""
        return self.estimate("rate", cls, level=level)

    def f1(self, cls: Hashable, *, level: float = 0.95) -> Share:
        """Return the harmonic mean of recall and precision of a class."""
        return self.estimate("f1", cls, level=level)

    def kappa(self, cls: Hashable | None = None, *, level: float = 0.95) -> Kappa:
        """Return the agreement beyond luck (Cohen's kappa), of all classes or of one against the rest.

        It comes with the true share of the commonest class, which is the agreement of a judge that always names it.
        """
        found = self.estimate("kappa", cls, level=level)
        assert isinstance(found, Kappa)
        return found

    def weighted_kappa(self, *, level: float = 0.95) -> Score:
        """Return the agreement of verdicts that are numbers, such as 1 to 5, with squared distances as weights."""
        return self._score("weighted_kappa", level)

    def mean_error(self, *, level: float = 0.95) -> Score:
        """Return the mean distance of verdicts that are numbers from the true ones."""
        return self._score("mean_error", level)

    def within_one(self, *, level: float = 0.95) -> Share:
        """Return the share of verdicts that are numbers and at most 1 from the true ones."""
        return self.estimate("within_one", level=level)

    def estimate(self, of: str = "accuracy", cls: Hashable | None = None, *, level: float = 0.95) -> Share:
        """Return any quantity by its name, with an interval.

        Parameters
        ----------
        of : str
            accuracy, recall, specificity, precision, rate, kappa, f1, mcc, weighted_kappa, mean_error or within_one.
            The precision of a class that is never predicted is undefined: NaN, from 0 to 1.
        cls : label, optional
            The class that is meant; recall, specificity, precision, rate and f1 need one.
        level : float, default 0.95
            How often the interval covers the truth.
        """
        _check_share(level, "level")
        found = self._as_share(quantities.quantity(self._checks, of, cls), level)
        ends = (found.estimate, found.low, found.high, found.checks, level)
        if of == "precision" and cls is not None and not quantities.called_so(self._checks, cls).any():
            return Share(nan, 0.0, 1.0, 0, level, f"Nothing is called {cls}, so that its precision is undefined.")
        if of == "kappa":
            shares = quantities.true_shares(self._checks, cls)
            commonest = max(shares, key=lambda name: shares[name])
            return Kappa(*ends, self._remark(of, cls, found), commonest, min(1.0, max(0.0, shares[commonest])))
        if of in ("mcc", "weighted_kappa", "mean_error"):
            return Score(*ends)
        return Share(*ends, self._remark(of, cls, found))

    def judge(self, positive: Hashable, *, level: float = 0.95) -> Judgement:
        """Return how far verdicts can be trusted: accuracy, true rate, recall, precision, kappa; it prints as a table.

        Parameters
        ----------
        positive : label
            The verdict in question, for instance "pass"; all others count as its opposite, but for the accuracy,
            which is that of all verdicts.
        level : float, default 0.95
            How often each interval covers the truth.

        Examples
        --------
        >>> audit = Audit(predicted=["pass"] * 700 + ["fail"] * 300)
        >>> items = audit.ask(100)
        >>> audit.tell(items, ["pass" if item < 650 else "fail" for item in items])
        >>> print(str(audit.judge("pass")).splitlines()[0])
        1,000 verdicts, 100 checked; called pass: 70.0%
        """
        called = float(quantities.called_so(self._checks, positive).mean())
        names = ("rate", "recall", "specificity", "precision", "f1")
        shares = {name: self.estimate(name, positive, level=level) for name in names}
        shares["accuracy"] = self.accuracy(level=level)  # of all verdicts, as the bars and --json have it
        beyond = quantities.of_class(self._checks, quantities.beyond_commonest, positive)
        low, high = beyond.interval(deviations(level))
        gain = Score(beyond.estimate, low, high, self._checks.counted(), level)
        kappa = self.kappa(positive, level=level)
        verdicts = len({*self._checks.claims.names, *self._checks.answers.true.values()})
        return Judgement(positive, len(self), gain.checks, called, kappa=kappa, gain=gain, verdicts=verdicts, **shares)

    def change(
        self, since: "Audit", *, of: str = "accuracy", cls: Hashable | None = None, level: float = 0.95
    ) -> Score:
        """Return how much a quantity grew since an earlier audit of other predictions, with an interval.

        Parameters
        ----------
        since : Audit
            The earlier audit.
        of, cls, level
            As for `estimate`.
        """
        _check_share(level, "level")
        grown = quantities.quantity(self._checks, of, cls) - quantities.quantity(since._checks, of, cls)
        low, high = grown.interval(deviations(level))
        return Score(grown.estimate, low, high, self._checks.counted() + since._checks.counted(), level)

    def by_class(self, *, level: float = 0.95) -> list[Slice]:
        """Return the share of right predictions for each predicted class, in the order of the classes."""
        claims = self._checks.claims
        counts = np.bincount(claims.predicted, minlength=len(claims.names))
        return [
            self.slice(name, claims.predicted == number, level=level)
            for number, name in enumerate(claims.names)
            if counts[number]
        ]

    def slice(self, name: Hashable, where: Any, *, level: float = 0.95) -> Slice:
        """Return the share of right predictions in a part of the items; its `share` is None below five checks."""
        _check_share(level, "level")
        inside = self._as_mask(where)
        size, checks = int(inside.sum()), int(inside[self._checks.prefix].sum())
        share = None
        if size and self._checks.says_something(inside):
            share = self._as_share(quantities.accuracy(self._checks, inside), level, inside)
        return Slice(name, size, checks, share)

    def macro_f1(self, *, level: float = 0.95) -> Share:
        """Return the mean F1 over the classes, with an interval; it needs true labels, ten or more of each class."""
        _check_share(level, "level")
        return quantities.macro_f1(self._checks, level)

    def needed(
        self, half_width: float, *, of: str = "accuracy", cls: Hashable | None = None, level: float = 0.95
    ) -> Needed:
        """Return how many checks an interval of +- `half_width` takes: 0.02 stands for two points.

        Parameters
        ----------
        half_width : float
            Half the width of the interval.
        of, cls, level
            As for `estimate`.
        """
        _check_share(half_width, "half_width")
        _check_share(level, "level")
        found = quantities.quantity(self._checks, of, cls)
        if any(one.checks == 0 and one.rest for one in found.shares):
            raise NotReady(
                f"no item that tells about {of} was checked yet, so that nothing can be foreseen; check more."
            )
        done = len(self._checks.prefix)
        return needed(found, done, len(self), half_width=half_width, z=deviations(level))

    def hunt(self, count: int = 50) -> Suspects:
        """Return the unchecked items that are most likely wrong.

        The score is fixed by the answers at the first call, so that what is found can be counted exactly and the
        interval of `accuracy` still holds. Hunting finds errors; it does not narrow the interval.
        """
        as_count(count, "count", least=1)
        self.begin_hunt()
        rows = self._checks.next(self._checks.suspects, count)
        return Suspects(rows, self._checks.suspicion[rows])

    def begin_hunt(self) -> None:
        """Fix the score by which suspicious items are hunted, as the first call of `hunt` does."""
        self._checks.begin_hunt()

    def calibrated(self) -> NDArray[np.float64]:
        """Return the chance that each prediction is right, (n,), from the confidence and what was checked.

        Where the confidence itself is as good it is returned as it is.
        """
        return calibrated(self._checks.claims, *self._checks.answers.known())

    def guarantee(self, promise: float = 0.98, *, level: float = 0.95, count: int = 50) -> Accepted:
        """Return the most confident predictions, as many as are right to the promised share with this confidence.

        Checks for a guarantee have an order of their own: `missing` holds the next `count` of them. 149 checks without
        an error are the fewest for 98 %.
        """
        _check_share(promise, "promise")
        _check_share(level, "level")
        return guarantees.guarantee(self._checks, promise, level, as_count(count, "count", least=1))

    def accept(self, max_wrong: float = 0.05, *, level: float = 0.95) -> Accepted:
        """Return the most confident predictions that can be accepted if all others are checked by hand.

        At most the share `max_wrong` of the whole data set is wrong then, with this confidence. `missing` holds the
        items to check.
        """
        _check_share(max_wrong, "max_wrong")
        _check_share(level, "level")
        return guarantees.accept(self._checks, max_wrong, level)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the audit to a file: predictions, seed and answers. The file holds no code."""
        from cusal.audit.audit_file import write_checks

        write_checks(path, self._checks)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the audit of a file that `save` wrote; it continues in the same order."""
        from cusal.audit.audit_file import read_checks

        audit = cls.__new__(cls)
        audit._checks = read_checks(path)
        return audit

    def to_bytes(self) -> bytes:
        """Return what `save` writes to a file."""
        from cusal.audit.audit_file import pack_checks

        return pack_checks(self._checks)

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Return the audit of what `to_bytes` returned."""
        from cusal.audit.audit_file import unpack_checks

        audit = cls.__new__(cls)
        audit._checks = unpack_checks(content)
        return audit

    def _anytime(self, level: float) -> Share:
        checks, prefix = self._checks, self._checks.prefix
        if len(prefix) == 0:
            raise NotReady("no item was checked in the audit's order; ask() for some, check them, tell() the answers.")
        optimistic, pessimistic = checks.events(checks.wrong)(prefix)
        doubts = 1 - checks.claims.confidence
        low, high = anytime_interval(pessimistic, prefix, checks.rates, doubts, level)
        if not np.array_equal(optimistic, pessimistic):
            low, _ = anytime_interval(optimistic, prefix, checks.rates, doubts, level)
        right = quantities.accuracy(checks).estimate  # at an end of the interval, rounding may cut it off
        return Share(right, min(1 - high, right), max(1 - low, right), len(prefix), level)

    def _as_share(self, found: Quantity, level: float, inside: Mask | None = None) -> Share:
        low, high = found.interval(deviations(level))
        return Share(found.estimate, low, high, self._checks.counted(inside), level)

    def _score(self, of: str, level: float) -> Score:
        found = self.estimate(of, level=level)
        assert isinstance(found, Score)
        return found

    def _seek(self, cls: Hashable) -> None:
        """Take the order that looks for a class, if nothing was answered in another one."""
        names = self._checks.claims.names
        if cls not in names:
            raise UnknownName("class", str(cls), [str(name) for name in names])
        if self._checks.design.seeks == names.index(cls):
            return
        if self.checks:
            raise InvalidInput(
                f"the order cannot look for {cls} any more: {self.checks} items were checked in another one. Begin "
                "another audit with other seed=, and ask(order=...) before the first answer."
            )
        self._checks = self._checks.with_design(replace(self._checks.design, seeks=names.index(cls)))

    def _remark(self, of: str, cls: Hashable | None, found: Share) -> str:
        """Return why an interval of a class is wide, what is known instead, and how many checks it takes."""
        if cls is None or found.high - found.low <= WIDE or found.checks == 0 or of in ("rate", "accuracy"):
            return ""
        prefix = self._checks.prefix
        met = sum(one is True for one in quantities.is_class(self._checks, prefix, cls))
        verb = "is" if met == 1 else "are"
        known = [
            f"{name} {low * 100:.0f} to {high * 100:.0f} %"
            for name in ("precision", "rate")
            for low, high in [quantities.quantity(self._checks, name, cls).interval(deviations(found.level))]
            if name != of and high - low <= WIDE
        ]
        instead = f" Known instead: {', '.join(known)}." if known else ""
        try:
            wanted = self.needed(TEN_POINTS, of=of, cls=cls, level=found.level)
        except NotReady:
            takes = ""
        else:
            takes = f" To know it within 10 points takes about {wanted.checks:,} checks in all."
        return f"Only {met} of the {len(prefix)} checks {verb} truly {cls}, too few to know {of}.{instead}{takes}"

    def _as_mask(self, where: Any) -> Mask:
        mask = as_array(where, "where")
        if mask.shape != (len(self),) or mask.dtype != bool:
            raise InvalidInput(
                f"where is {mask.dtype} of shape {mask.shape}; expected True or False for each item, ({len(self)},)."
            )
        return mask


def _group_codes(groups: Iterable[Hashable], count: int) -> Indices:
    names = as_listed(groups, "groups")
    if len(names) != count:
        raise InvalidInput(f"groups has {len(names)} names for {count} items; give one for each.")
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(str(name), len(numbers)) for name in names], dtype=np.int64)


def _check_share(value: float, name: str) -> None:
    as_share(value, name)
