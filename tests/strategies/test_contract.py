"""One contract for every strategy that is found: nothing here names one."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from cusal import Strategy, strategies
from cusal.errors import InvalidInput
from cusal.strategies import check_strategy
from cusal.strategies._contract import CHECKS

every_strategy = pytest.mark.parametrize("name", strategies.names())


@every_strategy
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_contract(name: str, check: Any) -> None:
    check(strategies.find(name)())


@every_strategy
def test_is_imported_from_the_package_by_the_name_of_its_class(name: str) -> None:
    found = strategies.find(name)
    assert getattr(strategies, found.__name__) is found
    assert found.__name__ in dir(strategies)


@every_strategy
def test_says_for_whom_it_is_in_a_line(name):
    line = strategies.find(name).for_whom
    assert 10 <= len(line) <= 120
    assert "\n" not in line
    assert line == line.strip(" .")


@dataclass(frozen=True)
class First(Strategy):
    def select(self, view, batch_size):
        return view.candidates[:batch_size]


@dataclass(frozen=True)
class Surest(Strategy):
    def keys(self, view):
        return view.probs.max(axis=1).astype(np.float64)


@dataclass(frozen=True)
class OfGlobalChance(Strategy):
    def keys(self, view):
        return np.random.random(len(view.candidates))  # noqa: NPY002 - that is what is wrong with it


@dataclass(frozen=True)
class Twice(Strategy):
    def select(self, view, batch_size):
        return np.repeat(view.candidates[:1], batch_size)


@dataclass(frozen=True)
class Silent(Strategy):
    def keys(self, view):
        return view.embeddings[:, 0].astype(np.float64)


@dataclass(frozen=True)
class Timid(Strategy):
    needs: ClassVar[frozenset[str]] = frozenset({"samples"})

    def keys(self, view):
        return view.probs[:, 0].astype(np.float64)


@dataclass(frozen=True)
class LastOfEqual(Strategy):
    def select(self, view, batch_size):
        return view.candidates[np.lexsort((-view.candidates, -self.keys(view)))][:batch_size]

    def keys(self, view):
        return -view.probs.max(axis=1).astype(np.float64)


@dataclass(frozen=True)
class Scribbling(Surest):
    def explain(self, view, indices):
        view.probs.flags.writeable = True
        view.probs[:] = view.probs[::-1].copy()
        return super().explain(view, indices)


def test_a_strategy_that_keeps_the_rules_passes() -> None:
    check_strategy(Surest)
    check_strategy(Surest())


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (First, "in another order of the pool"),
        (OfGlobalChance, "same seed differ; draw every random number from view.rng"),
        (Twice, "distinct items of view.candidates"),
        (Silent, "Name it in the class attribute `needs`"),
        (Timid, "works without samples"),
        (LastOfEqual, "equal keys go to the lower position"),
        (Scribbling, "changed probs of the view"),
        ("margin", "expected an object that derives from cusal.Strategy"),
    ],
)
def test_a_broken_rule_is_named(strategy: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_strategy(strategy)
