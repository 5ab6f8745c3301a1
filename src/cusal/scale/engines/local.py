"""Where chunks are scored: the interface, and this machine as its first implementation."""

from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from cusal.errors import InvalidInput, UnknownName
from cusal.scale.candidates import Candidates
from cusal.scale.parts import Chunk

Advance = Callable[[int], None]
Results = Generator[tuple[Chunk, Candidates], None, None]


class Work(Protocol):
    """What is done with each chunk: `Scorer`. It is told whom to notify of the rows that are done."""

    def __call__(self, chunk: Chunk, advance: Advance = ..., /) -> Candidates: ...


class Engine(Protocol):
    """Gives each chunk with its candidates, in any order; `advance` hears of rows as they are done.

    Closing what `map` gives ends the work that is under way.
    """

    def map(self, chunks: Sequence[Chunk], work: Work, advance: Advance) -> Results: ...


class LocalEngine:
    """One chunk after the other; the estimator itself uses every core."""

    def map(self, chunks: Sequence[Chunk], work: Work, advance: Advance) -> Results:
        """Score the chunks in order."""
        for chunk in chunks:
            yield chunk, work(chunk, advance)


def find_engine(name: str, address: str | None = None) -> Engine:
    """Give the engine called `name`, `local` or `ray`; `address` is that of a Ray cluster."""
    if name not in ("local", "ray"):
        raise UnknownName("engine", name, ["local", "ray"])
    if name == "local" and address is not None:
        raise InvalidInput(f"the local engine has no address, but {address} was given; add --engine ray.")
    if name == "local":
        return LocalEngine()
    from cusal.scale.engines.ray_engine import RayEngine

    return RayEngine(address)
