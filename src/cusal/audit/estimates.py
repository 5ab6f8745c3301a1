"""What an audit returns: a share with its interval, a slice, and how many checks are needed."""

from collections.abc import Hashable
from dataclasses import dataclass


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

    def __str__(self) -> str:
        ends = f"{self.low * 100:.1f} to {self.high * 100:.1f} %"
        return f"{self.estimate * 100:.1f} % ({ends}, {self.checks} check{'s' * (self.checks != 1)})"


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
