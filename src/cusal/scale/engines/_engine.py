"""What an engine is: something that scores chunks, here or elsewhere, and yields them as they are done."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from cusal.scale.candidates import Candidates
from cusal.scale.parts import Chunk

Advance = Callable[[int], None]
Results = Generator[tuple[Chunk, Candidates], None, None]


class Work(Protocol):
    """What is done with each chunk: `Scorer`. It calls `advance` with the rows that are done."""

    def __call__(self, chunk: Chunk, advance: Advance = ..., /) -> Candidates: ...


class Engine(ABC):
    """Where a pool is scored.

    Parameters
    ----------
    address : str, optional
        Where the engine's cluster is, for those that have one.
    """

    def __init__(self, address: str | None = None) -> None:
        self.address = address

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.address is None else repr(self.address)})"

    @abstractmethod
    def map(self, chunks: Sequence[Chunk], work: Work, advance: Advance) -> Results:
        """Yield each chunk with its candidates, in any order; call `advance` with rows as they are done.

        Closing the generator ends the work that is under way.
        """
