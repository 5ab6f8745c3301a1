"""What is wanted from a pool in files: how many picks, and by which strategy."""

from dataclasses import asdict, dataclass, field
from typing import Any

from cusal import strategies
from cusal._checks import as_count
from cusal.errors import InvalidInput
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


def check_by_row(strategy: Strategy) -> None:
    """Raise an error if the keys of a row depend on other rows of the pool: files are read a piece at a time."""
    if not isinstance(strategy, Strategy):
        raise InvalidInput(f"strategy is a {type(strategy).__name__}; give a name, or an object of a strategy.")
    if strategy.by_row:
        return
    if not isinstance(strategy, Cusal):
        able = [name for name in strategies.names() if strategies.find(name)().by_row]
        raise InvalidInput(
            f"{type(strategy).__name__} looks at the whole pool at once, but files are scored row by row; choose one "
            f"of {', '.join(able)}, or set by_row = True in a class of your own whose keys need no other row."
        )
    setting = "batch_aware" if strategy.batch_aware else 'tie_break="diverse"'
    raise InvalidInput(
        f"{setting} looks at the whole pool at once, but files are scored row by row; leave it out, or use "
        "cusal.query on a pool in memory."
    )
