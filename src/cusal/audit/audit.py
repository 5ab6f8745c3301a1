"""Auditing predictions: how good they are, which are wrong, and which can be trusted, from few checks.

audit.ask(20)  ->  somebody checks these predictions  ->  audit.tell(indices, true labels)  ->  audit.accuracy()
"""

import copy
import os
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import as_flag, as_share
from cusal._checks import as_array, as_batch_size, as_count
from cusal._types import Indices
from cusal.audit import guarantees
from cusal.audit.betting import anytime_interval
from cusal.audit.checks import Checks, Mask
from cusal.audit.claims import from_labels, from_probs
from cusal.audit.error_model import Suspects, calibrated
from cusal.audit.estimates import Needed, Share, Slice
from cusal.audit.guarantees import Accepted
from cusal.audit.macro_f1 import LEAST, CheckedClasses, macro_f1
from cusal.audit.order import identities
from cusal.audit.planning import needed
from cusal.audit.weighted import deviations
from cusal.errors import InvalidInput, NotReady


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
        self._checks = Checks(claims, names, as_count(seed, "seed", least=0))

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

    def ask(self, count: int = 20) -> Indices:
        """Return the positions of the items to check next, (count,), in the audit's order; fewer if fewer are left.

        Raises
        ------
        PoolExhausted
            If every item is checked.
        """
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
        if not as_flag(anytime, "anytime"):
            return self._checks.share(None if where is None else self._as_mask(where), level)
        if where is not None:
            raise InvalidInput("anytime intervals are of all items; leave `where` or `anytime` out.")
        return self._anytime(level)

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
        share = self._checks.share(inside, level) if size and self._checks.says_something(inside) else None
        return Slice(name, size, checks, share)

    def macro_f1(self, *, level: float = 0.95) -> Share:
        """Return the mean F1 over the classes, with an interval; it needs true labels, ten or more of each class."""
        _check_share(level, "level")
        claims, prefix = self._checks.claims, self._checks.prefix
        truth = self._checks.answers.true
        missing = [item for item in prefix.tolist() if item not in truth]
        if missing:
            raise NotReady(f"item {missing[0]} was checked without its true label; tell labels, not right=, for F1.")
        number = {name: i for i, name in enumerate(claims.names)}
        true = np.array([number.get(truth[item], len(number)) for item in prefix.tolist()], dtype=np.int64)
        counts = np.bincount(claims.predicted, minlength=len(number) + 1)
        met = np.bincount(true, minlength=len(number) + 1)
        least = int(met[(counts > 0) | (met > 0)].min())
        if least < LEAST:
            raise NotReady(f"a class has {least} checks; F1 needs {LEAST} of each. Check more, or read accuracy().")
        sample = CheckedClasses(claims.predicted[prefix], true, self._checks.chances(prefix))
        return macro_f1(sample, counts, z=deviations(level), level=level)

    def needed(self, half_width: float, *, level: float = 0.95) -> Needed:
        """Return how many checks an interval of +- `half_width` takes: 0.02 stands for two points."""
        _check_share(half_width, "half_width")
        _check_share(level, "level")
        found = self._checks.spread(None, unknown_right=False)
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
        optimistic, pessimistic = (1 - checks.right(prefix, flag) for flag in (True, False))
        low, high = anytime_interval(pessimistic, checks.rates[prefix], checks.rates, level)
        if not np.array_equal(optimistic, pessimistic):
            low, _ = anytime_interval(optimistic, checks.rates[prefix], checks.rates, level)
        return Share(checks.share(None, level).estimate, 1 - high, 1 - low, len(prefix), level)

    def _as_mask(self, where: Any) -> Mask:
        mask = as_array(where, "where")
        if mask.shape != (len(self),) or mask.dtype != bool:
            raise InvalidInput(
                f"where is {mask.dtype} of shape {mask.shape}; expected True or False for each item, ({len(self)},)."
            )
        return mask


def _check_share(value: float, name: str) -> None:
    as_share(value, name)
