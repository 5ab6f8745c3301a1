"""Picks from a pool in files, larger than memory: what `cusal.query` would choose from all of it at once.

parts -> chunks -> engine (tiles -> candidates) -> merged candidates -> picks.csv
"""

import csv
import io
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cusal._checks import as_batch_size, as_labels
from cusal._files import write_whole
from cusal._progress import Progress
from cusal._types import Floats, Indices
from cusal.errors import DataError, InvalidInput
from cusal.scale.candidates import Candidates
from cusal.scale.checkpoint import Partial, writing
from cusal.scale.engines.local import Engine, LocalEngine
from cusal.scale.parts import LABELS, Chunk, cut_into_chunks, iterate_tiles, open_pool
from cusal.scale.scorer import Request, Scorer

HEADER = ("rank", "id", "error", "confidence", "supported", "decided_by")
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Files:
    """The files of one scoring: the pool, the labelled points (for `cusal`), and where the picks go."""

    pool: PathLike
    out: PathLike
    labelled: PathLike | None = None


def score(
    files: Files, request: Request, *, engine: Engine | None = None, quiet: bool = False, chunk_rows: int | None = None
) -> Candidates:
    """Give the picks from the whole pool, best first, and write them to `files.out`.

    Parameters
    ----------
    files: the pool and the labelled points, each `.npy`, `.npz`, Parquet or a folder of such parts; and the CSV.
    request: how many picks, by which strategy.
    engine: where the pool is scored: `LocalEngine()` (default) or `RayEngine(address)`.
    quiet: tell nothing of the progress.
    chunk_rows: about how many rows are one piece of work; by default some hundred MB of them.

    The picks, their order and `decided_by` are those of `cusal.query` on the whole pool in memory. Stopped at any
    moment, the same call goes on after the last finished chunk.

    >>> import tempfile
    >>> temporary = tempfile.TemporaryDirectory()
    >>> folder = Path(temporary.name)
    >>> np.save(folder / "pool.npy", [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]])
    >>> picks = score(Files(folder / "pool.npy", folder / "picks.csv"), Request(2, strategy="margin"), quiet=True)
    >>> print((folder / "picks.csv").read_text())
    rank,id,error,confidence,supported,decided_by
    1,2,,0.5,,
    2,1,,0.6,,
    <BLANKLINE>
    >>> temporary.cleanup()
    """
    out = Path(files.out)
    if not out.parent.is_dir():
        raise DataError(f"there is no folder {out.parent} to write {out.name} to; make it first.")
    parts = open_pool(files.pool)
    total = sum(part.rows for part in parts)
    as_batch_size(request.batch_size, total)
    scorer = Scorer(request, _read_reference(files, request, parts[0].classes))
    chunks = cut_into_chunks(parts, chunk_rows)
    partial = Partial(out, scorer)
    picks = _run(chunks, scorer, engine or LocalEngine(), partial, Progress(total, quiet=quiet))
    with writing(out):
        write_whole(out, as_csv(picks, request).encode())
    partial.remove()
    return picks


def _run(chunks: Sequence[Chunk], scorer: Scorer, engine: Engine, partial: Partial, progress: Progress) -> Candidates:
    count = scorer.request.batch_size
    found: Candidates | None = None
    left = []
    for chunk in chunks:
        before = partial.load(chunk)
        if before is None:
            left.append(chunk)
        else:
            found = before if found is None else Candidates.merge([found, before], count)
            progress.resume(chunk.rows)
    with progress, closing(engine.map(left, scorer, progress.advance)) as results:
        for chunk, fresh in results:
            if len(chunks) > 1:
                partial.save(chunk, fresh)
            found = fresh if found is None else Candidates.merge([found, fresh], count)
    assert found is not None, "a pool with batch_size rows has a chunk"
    return found


def _read_reference(files: Files, request: Request, classes: int) -> tuple[Floats, Indices]:
    """Give probabilities and labels of the labelled points; none where the strategy does not look at them."""
    if not request.estimates:
        return np.empty((0, classes)), np.empty(0, dtype=np.int64)
    if files.labelled is None:
        raise InvalidInput(f"the strategy {request.strategy} needs labelled points; give --labelled.")
    parts = open_pool(files.labelled, LABELS)
    if parts[0].classes != classes:
        raise DataError(
            f"{parts[0].path} has {parts[0].classes} classes, but the pool has {classes}; "
            "give the same columns, in the same order."
        )
    tiles = [(chunk.part, tile) for chunk in cut_into_chunks(parts) for tile in iterate_tiles(chunk, LABELS)]
    if not tiles:
        raise DataError(f"{files.labelled} has no rows; expected labelled points.")
    probs = np.concatenate([tile.probs for _, tile in tiles])
    try:
        labels = as_labels(np.concatenate([tile.beside for _, tile in tiles]), count=len(probs), classes=classes)
    except InvalidInput as error:
        raise DataError(f"{files.labelled}: {error}") from error
    return probs, labels


def as_csv(picks: Candidates, request: Request) -> str:
    """Give the picks as text, one line each; what the strategy does not estimate stays empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    decided_by = np.where(picks.alone, "calibration", "uncertainty")
    for i, (name, confidence) in enumerate(zip(picks.ids.tolist(), picks.confidence.tolist(), strict=True)):
        known = (repr(float(picks.error[i])), confidence, bool(picks.supported[i]), decided_by[i])
        writer.writerow((i + 1, name, *(known if request.estimates else ("", confidence, "", ""))))
    return text.getvalue()
