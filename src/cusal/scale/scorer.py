"""Scoring one chunk of a pool: its tiles in, its candidates out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal import strategies
from cusal._checks import as_count
from cusal._prefetch import read_ahead
from cusal._types import Floats, Indices, Keys
from cusal.errors import UnknownName
from cusal.scale.candidates import Candidates, from_cut
from cusal.scale.parts import Chunk, Tile, iterate_tiles
from cusal.strategies._strategy import Strategy, top_rows
from cusal.strategies._view import View
from cusal.strategies.cusal import Cusal

# The strategies whose keys of a row depend on that row and the labelled points alone.
BY_ROW = ("cusal", "entropy", "least_confidence", "margin", "random")


@dataclass(frozen=True)
class Request:
    """What is wanted from a pool: how many picks, and by which strategy.

    `bandwidth` is for `cusal`, `seed` for `random`.
    """

    batch_size: int
    strategy: str = "cusal"
    bandwidth: float = 1e-3
    seed: int = 0

    def __post_init__(self) -> None:
        as_count(self.batch_size, "batch_size")
        as_count(self.seed, "seed", least=0)
        if self.strategy not in BY_ROW:
            raise UnknownName("strategy for pools in files", self.strategy, BY_ROW)
        self.make()

    def make(self) -> Strategy:
        """Give the strategy."""
        settings = {"bandwidth": self.bandwidth} if self.estimates else {}
        return strategies.find(self.strategy)(**settings)

    @property
    def estimates(self) -> bool:
        """Whether the strategy estimates the calibration error, for which it needs labelled points."""
        return self.strategy == "cusal"


@dataclass(frozen=True)
class Scorer:
    """Gives the candidates of a chunk; the same object goes to every worker."""

    request: Request
    reference: tuple[Floats, Indices]

    def __call__(self, chunk: Chunk, advance: Callable[[int], None] = lambda rows: None) -> Candidates:
        """Score a chunk; `advance` is told the rows of each tile that is done."""
        found: Candidates | None = None
        start = chunk.start
        for tile in read_ahead(iterate_tiles(chunk)):
            fresh = self._score(tile, start)
            found = fresh if found is None else Candidates.merge([found, fresh], self.request.batch_size)
            start += len(tile.probs)
            advance(len(tile.probs))
        assert found is not None, "a chunk has rows"
        return found

    def _score(self, tile: Tile, start: int) -> Candidates:
        numbers = np.arange(start, start + len(tile.probs))
        view = View.of_arrays(numbers, self._rng(start), probs=tile.probs, reference=self.reference)
        strategy = self.request.make()
        keys: Keys = strategy.keys(view)  # type: ignore[attr-defined]
        keys = keys[:, None] if keys.ndim == 1 else keys
        rows = top_rows(keys, min(self.request.batch_size, len(keys)))
        error, supported = np.full(len(keys), np.nan), np.ones(len(keys), dtype=bool)
        if isinstance(strategy, Cusal):
            estimate = strategy.estimate(view)
            error, supported = estimate.error, estimate.supported
        return Candidates(
            keys=keys[rows],
            rows=numbers[rows],
            ids=as_text((numbers if tile.beside is None else tile.beside)[rows]),
            confidence=tile.probs[rows].max(axis=1).astype(np.float64),
            error=error[rows],
            supported=supported[rows],
            **from_cut(keys[rows], *np.unique(keys[:, 0], return_counts=True)),
        )

    def _rng(self, start: int) -> np.random.Generator:
        """Give the generator that one pass over all rows would have reached at this row: one draw for each."""
        bits = np.random.PCG64(self.request.seed)
        bits.advance(start)
        return np.random.Generator(bits)


def as_text(ids: NDArray[Any]) -> NDArray[np.str_]:
    """Give ids as text; bytes are taken as UTF-8."""
    texts = [value.decode(errors="replace") if isinstance(value, bytes) else str(value) for value in ids.tolist()]
    return np.array(texts, dtype=np.str_)
