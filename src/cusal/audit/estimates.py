"""What an audit returns: a share with its interval, a slice, and how many checks are needed."""

from collections.abc import Hashable
from dataclasses import dataclass
from math import isnan


def per_cent(share: float) -> str:
    """Return a share in words: 98 %, 97.5 %.

    >>> per_cent(0.98), per_cent(0.1234)
    ('98 %', '12.3 %')
    """
    return f"{round(share * 100, 1):g} %"


@dataclass(frozen=True)
class Share:
    """An estimated share, for instance of right predictions, with an interval.

    Attributes
    ----------
    estimate : float
        The best guess.
    low, high : float
        The ends of the interval.
    checks : int
        How many checked items it rests on.
    level : float
        How often such an interval covers the truth.
    remark : str
        A sentence where the interval says little: why, and how many checks it takes.

    Examples
    --------
    >>> print(Share(0.912, 0.853, 0.951, checks=120))
    91.2 % (85.3 to 95.1 %, 120 checks)
    """

    estimate: float
    low: float
    high: float
    checks: int
    level: float = 0.95
    remark: str = ""

    def __str__(self) -> str:
        if isnan(self.estimate):
            return f"undefined. {self.remark}".rstrip()
        ends = f"{self.low * 100:.1f} to {self.high * 100:.1f} %"
        found = f"{self.estimate * 100:.1f} % ({ends}, {self.checks} check{'s' * (self.checks != 1)})"
        return f"{found}. {self.remark}" if self.remark else found


@dataclass(frozen=True)
class Score(Share):
    """An estimated number that is no share, for instance kappa, a difference or a mean distance, with an interval.

    Examples
    --------
    >>> print(Score(0.62, 0.5, 0.72, checks=200))
    0.62 (0.50 to 0.72, 200 checks)
    """

    def __str__(self) -> str:
        found = (
            f"{self.estimate:.2f} ({self.low:.2f} to {self.high:.2f}, {self.checks} check{'s' * (self.checks != 1)})"
        )
        return f"{found}. {self.remark}" if self.remark else found


@dataclass(frozen=True)
class Kappa(Score):
    """Agreement beyond luck, with what a judge would reach that always says the commonest class.

    Attributes
    ----------
    commonest : object
        The class that is truly the commonest.
    base_rate : float
        Its estimated true share, which is also the agreement of a judge that always names it; kappa of that judge is 0.

    Examples
    --------
    >>> print(Kappa(0.62, 0.5, 0.72, checks=200, commonest="pass", base_rate=0.71))
    0.62 (0.50 to 0.72, 200 checks); always saying pass would agree in 71%, with kappa 0
    """

    commonest: Hashable = None
    base_rate: float = 0.0

    def __str__(self) -> str:
        return f"{super().__str__()}; always saying {self.commonest} would agree in {self.base_rate:.0%}, with kappa 0"


@dataclass(frozen=True)
class Judgement:
    """How far a judge can be trusted: everything about one verdict at once.

    Attributes
    ----------
    positive : object
        The verdict in question, for instance "pass".
    items, checks : int
        How many verdicts there are, and how many of them were checked.
    called : float
        The share of items to which the judge gives the verdict.
    rate : Share
        The share of items that truly deserve it.
    accuracy, recall, specificity, precision, f1 : Share
        Right verdicts among all; among those that deserve it (true positive rate); among the others (true negative
        rate); among those to which the judge gives it; and the harmonic mean of recall and precision.
    kappa : Kappa
        The agreement beyond luck.
    gain : Score
        The share rightly told to be `positive` or not, minus that of a judge that always names the commoner of both.
    verdicts : int
        How many different verdicts there are, given or deserved.

    Examples
    --------
    >>> import cusal
    >>> audit = cusal.Audit(predicted=["pass"] * 70 + ["fail"] * 30)
    >>> items = audit.ask(100)
    >>> audit.tell(items, ["pass" if item < 60 else "fail" for item in items])
    >>> print(audit.judge("pass").precision)
    85.7 % (85.7 to 85.7 %, 100 checks)
    """

    positive: Hashable
    items: int
    checks: int
    called: float
    rate: Share
    accuracy: Share
    recall: Share
    specificity: Share
    precision: Share
    f1: Share
    kappa: Kappa
    gain: Score
    verdicts: int = 2

    def rows(self) -> list[tuple[str, Share]]:
        """Return what each figure says in words, and the figure."""
        name = self.positive
        return [
            ("right verdicts (accuracy)", self.accuracy),
            (f"truly {name} (true rate)", self.rate),
            (f"of what is truly {name}, called so (recall)", self.recall),
            ("of the others, called otherwise (specificity)", self.specificity),
            (f"of what is called {name}, truly so (precision)", self.precision),
            ("F1", self.f1),
            ("agreement beyond luck (kappa)", self.kappa),
        ]

    def __str__(self) -> str:
        lines = [f"{self.items:,} verdicts, {self.checks} checked; called {self.positive}: {self.called:.1%}"]
        width = max(len(name) for name, _ in self.rows())
        for name, one in self.rows():
            if isnan(one.estimate):
                lines.append(f"{name:{width}}  undefined")
                continue
            scale, unit = (1, "") if isinstance(one, Score) else (100, " %")
            digits = 2 if scale == 1 else 1
            ends = f"{one.low * scale:.{digits}f} to {one.high * scale:.{digits}f}{unit}"
            lines.append(f"{name:{width}}  {one.estimate * scale:7.{digits}f}{unit:2}  {ends}")
        common = self.kappa
        lines.append(f"Always saying {common.commonest} would agree in {common.base_rate:.0%}, with kappa 0.")
        return "\n".join([*lines, *dict.fromkeys(one.remark for _, one in self.rows() if one.remark)])


@dataclass(frozen=True)
class Slice:
    """A part of the data set, for instance all items of one predicted class, and how many of them are right.

    Attributes
    ----------
    name : object
        What the items have in common.
    items : int
        How many there are.
    checks : int
        How many of them were checked.
    share : Share or None
        The share of right predictions; None below five checks, which are too few.
    """

    name: Hashable
    items: int
    checks: int
    share: Share | None


@dataclass(frozen=True)
class Needed:
    """How many checks an interval of a wanted width takes, in all.

    Attributes
    ----------
    checks : int
        The most likely number.
    low, high : int
        The range that holds the true number in about 80 of 100 cases.
    done : int
        How many were made already.

    Examples
    --------
    >>> print(Needed(400, 222, 615, done=100))
    about 300 more checks (122 to 515)
    """

    checks: int
    low: int
    high: int
    done: int

    def __str__(self) -> str:
        more, low, high = (max(0, count - self.done) for count in (self.checks, self.low, self.high))
        return f"about {more} more checks ({low} to {high})" if more else "no more checks"
