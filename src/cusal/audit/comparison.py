"""Two or more judges on the same items: which one is nearer to the truth, from few checks.

    q_i = .5 + .5 [they disagree] / share of disagreements          half of the checks are where they disagree

What people are asked is the true label; they see neither verdict. Differences are functions of shares:

    accuracy: |D| / N (2 p - 1),  p the share among the disagreements D of (1 + right_A - right_B) / 2
    others:   the metric of A minus that of B, from the shares truly of the class where (A, B) said no or yes

Of more than two judges each pair has the level 1 - .05 / pairs (Bonferroni), so that all intervals hold together.
"""

from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._arguments import as_share
from cusal._checks import as_array, as_batch_size, as_count
from cusal._types import Indices
from cusal.audit import quantities
from cusal.audit.checks import Checks, Mask
from cusal.audit.estimates import Score
from cusal.audit.order import Design, identities
from cusal.audit.predictions import Claims
from cusal.audit.shares import PartShare, Quantity, deviations
from cusal.errors import InvalidInput, NotReady, UnknownName

KINDS = ("accuracy", "recall", "specificity", "precision", "rate", "kappa", "f1", "mcc")
LEVEL = 0.95


class Comparison:
    """A comparison of judges: ask for items, tell their true labels, read by how much one judge is better.

    Use it for two prompts, two models or two weeks of verdicts on the same items. Half of the checks are where the
    judges disagree, since only those say which is better. Show people neither verdict.

    Parameters
    ----------
    judges : mapping, optional
        The verdicts (n,) of each judge, by name; or give them by keyword: `Comparison(old=..., new=...)`.
    ids : sequence, optional
        A name for each item. The order of checking then goes by these names, whatever the order of the rows.
    seed : int, default 0
        Seed of the order of checking.
    **named
        The verdicts of each judge, by keyword.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=2000)
    >>> old = np.where(rng.random(2000) < 0.2, 1 - truth, truth)
    >>> new = np.where(rng.random(2000) < 0.1, 1 - truth, truth)
    >>> both = Comparison(new=new, old=old)
    >>> items = both.ask(100)
    >>> both.tell(items, truth[items])
    >>> found = both.difference()                                # of accuracy, new minus old
    >>> bool(found.low < (new == truth).mean() - (old == truth).mean() < found.high)
    True
    """

    def __init__(
        self,
        judges: Mapping[str, Any] | None = None,
        *,
        ids: Iterable[object] | None = None,
        seed: int = 0,
        **named: Any,
    ) -> None:
        given = {name: as_array(verdicts, name) for name, verdicts in {**(judges or {}), **named}.items()}
        if len(given) < 2:
            raise InvalidInput(f"{len(given)} judges were given; a comparison needs two or more: Comparison(a=, b=).")
        shapes = {verdicts.shape for verdicts in given.values()}
        if len(shapes) > 1 or len(next(iter(shapes))) != 1:
            raise InvalidInput(f"the verdicts have the shapes {sorted(shapes)}; give one verdict for each item, (n,).")
        count = len(next(iter(given.values())))
        if not count:
            raise InvalidInput("there are no verdicts; expected at least one.")
        try:
            names, codes = np.unique(np.concatenate(list(given.values())), return_inverse=True)
        except TypeError:
            raise InvalidInput("verdicts mix several types; give all as text, or all as numbers.") from None
        self.judges = tuple(given)
        self._codes = dict(zip(given, codes.reshape(len(given), count), strict=True))
        first = next(iter(self._codes.values()))
        claims = Claims(first, np.full(count, 0.5), tuple(names.tolist()), np.zeros(count, dtype=np.bool_))
        hashes = identities(count, ids)
        if len(hashes) != count:
            raise InvalidInput(f"ids has {len(hashes)} names for {count} items; give one for each.")
        disputed = np.any([verdicts != first for verdicts in self._codes.values()], axis=0)
        design = Design(disputed=disputed)
        self._checks = Checks(claims, hashes, as_count(seed, "seed", least=0), design)

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.judges)}: {len(self)} items, {self.checks} checked)"

    def __len__(self) -> int:
        return len(self._checks.claims)

    @property
    def checks(self) -> int:
        """How many items were checked."""
        return len(self._checks.answers)

    @property
    def disputed(self) -> NDArray[np.bool_]:
        """(n,) whether the judges disagree about each item."""
        found = self._checks.design.disputed
        assert found is not None
        return found.copy()

    def ask(self, count: int = 20) -> Indices:
        """Return the positions of the items to check next, (count,); half of them are disputed."""
        left = len(self) - self.checks
        as_batch_size(min(as_count(count, "count", least=1), max(1, left)), left)
        return self._checks.next(self._checks.order, count)

    def tell(self, indices: Any, labels: Any) -> None:
        """Store the true labels of checked items."""
        self._checks.answers.tell(indices, labels, None)

    def skip(self, indices: Any) -> None:
        """Store that nobody can tell about these items; the intervals allow for all possibilities."""
        self._checks.answers.skip(indices)

    def difference(
        self,
        of: str = "accuracy",
        cls: Hashable | None = None,
        *,
        between: tuple[str, str] | None = None,
        level: float = LEVEL,
    ) -> Score:
        """Return by how much one judge is above another, with an interval; above 0 the first one is higher.

        Parameters
        ----------
        of : str, default "accuracy"
            accuracy, recall, specificity, precision, kappa, f1 or mcc; or rate, the share of items to which a judge
            gives the label, whose difference is known exactly.
        cls : label, optional
            The class that is meant; not needed for accuracy, nor for kappa of two classes.
        between : two names, optional
            The judges; by default the first two.
        level : float, default 0.95
            How often the interval covers the truth.

        Raises
        ------
        NotReady
            If nothing was checked yet.
        """
        as_share(level, "level")
        one, other = self.judges[:2] if between is None else between
        for name in (one, other):
            if name not in self.judges:
                raise UnknownName("judge", name, self.judges)
        low, high = (found := self._quantity(of, cls, one, other)).interval(deviations(level))
        return Score(found.estimate, low, high, len(self._checks.prefix), level)

    def differences(
        self, of: str = "accuracy", cls: Hashable | None = None, *, level: float = LEVEL
    ) -> dict[tuple[str, str], Score]:
        """Return the differences of all pairs of judges; their intervals hold together (Bonferroni)."""
        pairs = list(combinations(self.judges, 2))
        each = 1 - (1 - as_share(level, "level")) / len(pairs)
        return {pair: self.difference(of, cls, between=pair, level=each) for pair in pairs}

    def _quantity(self, of: str, cls: Hashable | None, one: str, other: str) -> Quantity:
        if of not in KINDS:
            raise UnknownName("quantity", of, KINDS)
        if not len(self._checks.prefix):
            raise NotReady("no item was checked in the comparison's order; ask() for some, and tell() their labels.")
        names, first, second = self._checks.claims.names, self._codes[one], self._codes[other]
        if of == "accuracy":
            return self._accuracy(first, second)
        if cls is None and of in ("kappa", "mcc") and len(names) <= 2:
            cls = names[-1]
        if cls is None:
            raise InvalidInput(f"{of} is of one class; name it: {', '.join(str(name) for name in names[:5])}.")
        if cls not in names:
            raise UnknownName("class", str(cls), [str(name) for name in names])
        number = names.index(cls)
        said = first == number, second == number
        if of == "rate":
            gap = float(said[0].mean() - said[1].mean())
            return Quantity((), lambda at: gap)
        sides = [(~said[0], ~said[1]), (~said[0], said[1]), (said[0], ~said[1]), (said[0], said[1])]
        parts = [self._truly(cls, a & b) for a, b in sides]
        sizes = np.array([(a & b).mean() for a, b in sides])
        return quantities.difference_of_parts(parts, sizes, quantities.METRICS[of])

    def _truly(self, cls: Hashable, inside: Mask) -> PartShare:
        """Return the share truly of a class in a part."""
        true = self._checks.answers.true

        def holds(items: Indices) -> list[float | None]:
            return [float(true[item] == cls) if item in true else None for item in items.tolist()]

        return self._checks.part(self._checks.events(holds), inside)

    def _accuracy(self, first: Indices, second: Indices) -> Quantity:
        names, true, disputed = self._checks.claims.names, self._checks.answers.true, first != second

        def holds(items: Indices) -> list[float | None]:
            found: list[float | None] = []
            for item in items.tolist():
                label = true.get(item)
                rights = [float(names[codes[item]] == label) for codes in (first, second)]
                found.append(None if item not in true else (1 + rights[0] - rights[1]) / 2)
            return found

        share, part = float(disputed.mean()), self._checks.part(self._checks.events(holds), disputed)
        return Quantity((part,), lambda at: share * (2 * at[0] - 1))

    def __str__(self) -> str:
        lines = [f"{len(self):,} items, {self.checks} checked; the judges disagree about {self.disputed.mean():.1%}"]
        if len(self._checks.prefix):
            for (one, other), found in self.differences().items():
                verdict = f"{one} is better" if found.low > 0 else f"{other} is better" if found.high < 0 else "open"
                lines.append(f"right verdicts, {one} minus {other}: {_points(found)}: {verdict}")
        return "\n".join(lines)


def _points(found: Score) -> str:
    return f"{found.estimate * 100:+.1f} points ({found.low * 100:+.1f} to {found.high * 100:+.1f})"
