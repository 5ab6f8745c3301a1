"""What is wanted from a pool in files: how many picks, and by which strategy."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from cusal import strategies
from cusal._checks import as_count
from cusal.errors import InvalidInput, UnknownName
from cusal.strategies._strategy import Strategy
from cusal.strategies.cusal import Cusal


@dataclass(frozen=True)
class Request:
    """How many picks, by which strategy; `seed` is for strategies that draw at random."""

    batch_size: int
    strategy: Strategy = field(default_factory=Cusal)
    seed: int = 0

    def __post_init__(self) -> None:
        as_count(self.batch_size, "batch_size")
        as_count(self.seed, "seed", least=0)
        check_by_row(self.strategy)

    @property
    def estimates(self) -> bool:
        """Whether the strategy estimates the calibration error, for which it needs labelled points."""
        return isinstance(self.strategy, Cusal)

    @property
    def identity(self) -> list[Any]:
        """All that decides the picks, as plain values."""
        kind = type(self.strategy)
        return [self.batch_size, self.seed, f"{kind.__module__}:{kind.__qualname__}", asdict(self.strategy)]


def as_strategy(strategy: Strategy | str, **settings: Any) -> Strategy:
    """Return a strategy: `strategy` itself, or the one of that name with these settings."""
    if isinstance(strategy, Strategy):
        return strategy
    if not isinstance(strategy, str):
        raise InvalidInput(
            f"strategy is {strategy!r}; expected a name such as 'cusal', or a strategy such as "
            "cusal.strategies.Cusal(bandwidth=0.01)."
        )
    kind = strategies.find(strategy)
    known = [setting.name for setting in fields(kind)]
    for setting in settings:
        if setting not in known:
            raise UnknownName(f"setting of {strategy}", setting, known or ["none at all"])
    return kind(**settings)


def check_by_row(strategy: Strategy) -> None:
    """Raise an error if the keys of a row depend on other rows of the pool: files are read a piece at a time."""
    # Not inherited: a subclass may build its batch jointly.
    if not vars(type(strategy)).get("by_row", False):
        able = [name for name in strategies.names() if vars(strategies.find(name)).get("by_row", False)]
        raise InvalidInput(
            f"{type(strategy).__name__} looks at the whole pool at once, but files are scored row by row; choose one "
            f"of {', '.join(able)}, or set by_row = True in a class of your own whose keys need no other row."
        )
    if isinstance(strategy, Cusal) and (strategy.batch_aware or strategy.tie_break == "diverse"):
        setting = "batch_aware" if strategy.batch_aware else 'tie_break="diverse"'
        raise InvalidInput(
            f"{setting} looks at the whole pool at once, but files are scored row by row; leave it out, "
            "or use cusal.query on a pool in memory."
        )
