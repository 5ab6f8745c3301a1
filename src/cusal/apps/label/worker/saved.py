"""What a worker keeps of its session in each round, so that one that was killed continues where it was."""

import io
import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cusal._types import Indices
from cusal.errors import DataError
from cusal.persistence import as_bytes, read_objects

KIND, FORMAT = "cusal.apps.label session", 1


@dataclass(frozen=True)
class Saved:
    """The session of a round.

    ids: the items at its positions. vectors: the name of their vectors, which were fitted to the first `fitted` of
    them. event: the last event whose changes it was told. asked: ids of the batch that it asked for. session: what
    `Session.to_bytes` returned.
    """

    ids: Indices
    vectors: str
    fitted: int
    event: int
    asked: list[int]
    session: bytes

    def to_bytes(self) -> bytes:
        """Return it as a file without pickles."""
        packed = np.frombuffer(self.session, dtype=np.uint8)
        return as_bytes({"kind": KIND, "format": FORMAT, **asdict(self), "session": packed})

    @classmethod
    def from_bytes(cls, content: bytes) -> "Saved":
        """Return what was saved; raise `DataError` for anything else."""
        found: Any = read_objects(io.BytesIO(content))
        if not isinstance(found, dict) or (found.pop("kind", None), found.pop("format", None)) != (KIND, FORMAT):
            raise DataError(f"the session of the project is no {KIND} of format {FORMAT}; it is built again.")
        return cls(**found | {"session": np.asarray(found["session"], dtype=np.uint8).tobytes()})


def read_saved(content: bytes | None) -> Saved | None:
    """Return the session of a round; None if there is none, or if it is damaged, which is said."""
    if content is None:
        return None
    try:
        return Saved.from_bytes(content)
    except (DataError, TypeError) as error:
        print(f"{error} The labels are all there.", file=sys.stderr, flush=True)
        return None
