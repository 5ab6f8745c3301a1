"""Scoring one chunk of a pool: its tiles in, its candidates out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cusal._checks import Rows
from cusal._prefetch import read_ahead
from cusal._types import Indices, Keys
from cusal.scale.candidates import Candidates, from_cut
from cusal.scale.parts import Chunk, Tile
from cusal.scale.pool_files import iterate_tiles
from cusal.scale.request import Request
from cusal.strategies._strategy import top_rows
from cusal.strategies._view import Memory, View
from cusal.strategies.cusal import Cusal


@dataclass(frozen=True)
class Scorer:
    """Finds the candidates of a chunk; the same object is sent to every worker."""

    request: Request
    reference: tuple[Rows, Indices]
    kept: Memory = field(default_factory=dict, init=False, repr=False, compare=False)  # from the labelled points alone

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"kept": {}}  # each worker prepares them once for itself

    def __call__(self, chunk: Chunk, advance: Callable[[int], None] = lambda rows: None) -> Candidates:
        """Return the candidates of a chunk; `advance` is called with the rows of each tile that is done."""
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
        view = View.of_arrays(numbers, self._rng(start), kept=self.kept, probs=tile.probs, reference=self.reference)
        strategy = self.request.strategy
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
        """Return the generator that one pass over all rows would have reached at this row: one draw for each."""
        bits = np.random.PCG64(self.request.seed)
        bits.advance(start)
        return np.random.Generator(bits)


def as_text(ids: NDArray[Any]) -> NDArray[np.str_]:
    """Return ids as text; bytes are taken as UTF-8."""
    texts = [value.decode(errors="replace") if isinstance(value, bytes) else str(value) for value in ids.tolist()]
    return np.array(texts, dtype=np.str_)
