"""This machine as the engine: one chunk after the other."""

from collections.abc import Sequence

from cusal.errors import InvalidInput
from cusal.scale.engines._engine import Advance, Engine, Results, Work
from cusal.scale.parts import Chunk


class LocalEngine(Engine):
    """This machine: one chunk after the other, since the estimator itself uses every core."""

    def __init__(self, address: str | None = None) -> None:
        if address is not None:
            raise InvalidInput(f"the local engine has no address, but {address} was given; add --engine ray.")
        super().__init__()

    def map(self, chunks: Sequence[Chunk], work: Work, advance: Advance) -> Results:
        """Score the chunks in order."""
        for chunk in chunks:
            yield chunk, work(chunk, advance)
