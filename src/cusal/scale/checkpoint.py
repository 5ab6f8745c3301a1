"""What is done already: the candidates of finished chunks, kept beside the output until it is written.

Each is found again by a hash of all that decides it: the request, the labelled points, the part's path, size and time
of change, and the chunk's rows. A file that changed, or another request, is therefore scored again.
"""

import hashlib
import io
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from cusal._checks import UnitRows
from cusal._files import load_arrays, write_whole, writing
from cusal._version import __version__
from cusal.errors import DataError
from cusal.scale.candidates import Candidates
from cusal.scale.parts import Chunk
from cusal.scale.scorer import Scorer


class Checkpoint:
    """The folder `picks.csv.partial` beside `picks.csv`."""

    def __init__(self, out: Path, scorer: Scorer) -> None:
        self.folder = out.with_name(f"{out.name}.partial")
        evidence = hashlib.sha256()
        probs, labels = scorer.reference
        for array in (probs.rows if isinstance(probs, UnitRows) else probs, labels):
            evidence.update(f"{array.dtype} {array.shape}".encode())
            evidence.update(np.ascontiguousarray(array).view(np.uint8).data)
        self.scorer = [__version__, scorer.request.identity, evidence.hexdigest()]

    def load(self, chunk: Chunk) -> Candidates | None:
        """Return the candidates of a chunk that was finished before; one that cannot be read is scored again."""
        try:
            return Candidates(**load_arrays(self._file(chunk), [field.name for field in fields(Candidates)]))
        except DataError:
            return None

    def save(self, chunk: Chunk, candidates: Candidates) -> None:
        """Keep the candidates of a finished chunk."""
        content = io.BytesIO()
        arrays: dict[str, Any] = candidates.arrays()
        np.savez(content, **arrays)  # without allow_pickle, which NumPy before 2.1 would store as an array
        with writing(self.folder):
            self.folder.mkdir(exist_ok=True)
            write_whole(self._file(chunk), content.getvalue())

    def remove(self) -> None:
        """Delete what was kept, and the folder if nothing else is in it."""
        for file in [*self.folder.glob("*.npz"), *self.folder.glob(".*.npz.*")]:  # the latter are left by a kill
            file.unlink()
        if self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _file(self, chunk: Chunk) -> Path:
        part = chunk.part
        content = [*self.scorer, str(part.path.resolve()), part.stamp, part.column, chunk.start]
        content += [chunk.first_row, chunk.rows]
        return self.folder / f"{hashlib.sha256(json.dumps(content, default=repr).encode()).hexdigest()[:32]}.npz"
