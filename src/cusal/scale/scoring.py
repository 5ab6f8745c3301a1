"""Picks from a pool in files, larger than memory: what `cusal.query` would choose from all of it at once.

parts -> chunks -> engine (tiles -> candidates) -> merged candidates -> picks.csv
"""

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from cusal import strategies
from cusal._arguments import as_path
from cusal._checks import Rows, UnitRows, as_batch_size, as_labels
from cusal._files import write_whole
from cusal._progress import Progress
from cusal._types import Indices
from cusal.errors import DataError, InvalidInput
from cusal.scale.candidates import Candidates
from cusal.scale.checkpoint import Checkpoint
from cusal.scale.columns import PoolColumns, as_class_numbers
from cusal.scale.engines import Engine, find_engine
from cusal.scale.engines.local import LocalEngine
from cusal.scale.parts import Chunk, Part
from cusal.scale.pick_files import find_writer
from cusal.scale.picks import Picks
from cusal.scale.pool_files import check_names, cut_into_chunks, iterate_tiles, open_pool, require_unchanged
from cusal.scale.request import Request
from cusal.scale.scorer import Scorer
from cusal.strategies._strategy import Strategy

PathLike = str | os.PathLike[str]


def score_files(
    pool: PathLike,
    labelled: PathLike | None = None,
    *,
    batch_size: int,
    out: PathLike = "picks.csv",
    strategy: str | Strategy = "margin",
    engine: str | Engine = "local",
    seed: int = 0,
    columns: PoolColumns | None = None,
) -> Picks:
    """Pick from a pool in files, however large, and write the picks to a file.

    The picks, their order and `decided_by` are those of `cusal.query` on the whole pool in memory. The pool is read
    once, some megabytes at a time. Stopped at any moment, the same call resumes after the last finished piece.

    Parameters
    ----------
    pool : path
        A `.npy` file of shape (m, classes); an `.npz` with `probs` and perhaps `ids`; a table (Parquet, CSV, TSV,
        JSONL) with columns `p0 .. pK-1` or those that `columns` names, or lists in a column `probs` (not in CSV), and
        perhaps `id`; or a folder of such files, taken in name order.
    labelled : path, optional
        The labelled points in the same formats, with `labels` (in tables `label`): class numbers, or the names of
        classes where columns or lists name them. Only `cusal` needs them.
    batch_size : int
        How many picks.
    out : path
        The file to write: rank, id, error, confidence, supported, decided_by as `.csv`, `.jsonl` or `.parquet`; or the
        row numbers alone as `.npy`.
    strategy : str or Strategy
        "margin" by default, "entropy", "least_confidence", "random", or "cusal", the paper's method;
        "package.module:Name" for a class of your own; or a strategy with settings, such as
        `cusal.strategies.Cusal(bandwidth=0.01)`.
    engine : str or Engine
        "local", "ray", or an engine such as `cusal.scale.find_engine("ray", "10.0.0.1:6379")`.
    seed : int
        For strategies that draw at random.
    columns : PoolColumns, optional
        The columns of the classes, the ids and the labels, where they have other names.

    Returns
    -------
    Picks
        `indices`, `ids`, `error`, `confidence`, `supported` and `decided_by` of the picks, best first.

    Raises
    ------
    DataError
        If a file is missing, damaged or not what it should be; the message names file and row. Nothing is written.
    InvalidInput
        If the strategy cannot score row by row, or a setting does not fit.
    PoolExhausted
        If `batch_size` is larger than the pool.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> temporary = tempfile.TemporaryDirectory()
    >>> folder = Path(temporary.name)
    >>> np.save(folder / "pool.npy", [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]])
    >>> picks = score_files(folder / "pool.npy", batch_size=2, out=folder / "picks.csv", strategy="margin")
    >>> picks.indices
    array([2, 1])
    >>> print((folder / "picks.csv").read_text())
    rank,id,error,confidence,supported,decided_by
    1,2,,0.5,,
    2,1,,0.6,,
    <BLANKLINE>
    >>> temporary.cleanup()
    """
    if not isinstance(pool, str | os.PathLike):
        raise InvalidInput(f"pool is a {type(pool).__name__}; expected a path. For a pool in memory use cusal.query.")
    if labelled is not None:
        labelled = as_path(labelled, "labelled")
    request = Request(batch_size, strategies.make(strategy), seed)
    chosen = engine if isinstance(engine, Engine) else find_engine(engine)
    return score(Files(pool, out, labelled, columns or PoolColumns()), request, engine=chosen)


@dataclass(frozen=True)
class Files:
    """The files of one scoring: the pool, the labelled points (for `cusal`), where the picks go, and named columns."""

    pool: PathLike
    out: PathLike
    labelled: PathLike | None = None
    columns: PoolColumns = field(default_factory=PoolColumns)


def score(
    files: Files, request: Request, *, engine: Engine | None = None, quiet: bool = False, chunk_rows: int | None = None
) -> Picks:
    """Write the picks from the whole pool to `files.out`, and return them; `score_files` explains the rest.

    quiet: show no progress. chunk_rows: about how many rows are one piece of work; by default some hundred MB of them.
    """
    out = as_path(files.out, "out")
    if not os.path.isdir(out.parent):  # known before hours of scoring; pathlib raises where it may not be entered
        raise DataError(f"there is no folder {out.parent} to write {out.name} to; make it first.")
    if os.path.isdir(out):
        raise DataError(f"{out} is a folder; give the name of the file to write the picks to.")
    write = find_writer(out)
    parts = open_pool(files.pool, files.columns.ids)
    total = sum(part.rows for part in parts)
    as_batch_size(request.batch_size, total)
    scorer = Scorer(request, _read_reference(files, request, parts[0]))
    chunks = cut_into_chunks(parts, chunk_rows)
    checkpoint = Checkpoint(out, scorer)
    best = _run(chunks, scorer, engine or LocalEngine(), checkpoint, Progress(total, quiet=quiet))
    picks = Picks.from_candidates(best, estimated=request.estimates)
    write_whole(out, write(picks))
    checkpoint.remove()
    return picks


def _run(
    chunks: Sequence[Chunk], scorer: Scorer, engine: Engine, checkpoint: Checkpoint, progress: Progress
) -> Candidates:
    count = scorer.request.batch_size
    found: Candidates | None = None
    left = []
    for chunk in chunks:
        before = checkpoint.load(chunk)
        if before is None:
            left.append(chunk)
        else:
            found = before if found is None else Candidates.merge([found, before], count)
            progress.resume(chunk.rows)
    with progress, closing(engine.map(left, scorer, progress.advance)) as results:
        for chunk, fresh in results:
            require_unchanged(chunk.part)
            if len(chunks) > 1:
                checkpoint.save(chunk, fresh)
            found = fresh if found is None else Candidates.merge([found, fresh], count)
    assert found is not None, "a pool with batch_size rows has a chunk"
    return found


def _read_reference(files: Files, request: Request, pool: Part) -> tuple[Rows, Indices]:
    """Return probabilities and labels of the labelled points; none where no file of them is given.

    Where the estimate alone reads them, they stay in their file's precision: 100,000 of 1000 classes take 400 MB.
    """
    classes = pool.classes
    if files.labelled is None:
        if request.estimates:
            raise InvalidInput(f"{type(request.strategy).__name__} needs labelled points; give labelled (--labelled).")
        return np.empty((0, classes)), np.empty(0, dtype=np.int64)
    parts = open_pool(files.labelled, files.columns.labels)
    if parts[0].classes != classes:
        raise DataError(
            f"{parts[0].path} has {parts[0].classes} classes, but the pool has {classes}; "
            "give the same columns, in the same order."
        )
    check_names(pool, parts[0])
    rows = sum(part.rows for part in parts)
    if not rows:
        raise DataError(f"{files.labelled} has no rows; expected labelled points.")
    probs, beside, start = np.zeros((rows, classes), dtype=np.float32), [], 0
    for tile in (tile for chunk in cut_into_chunks(parts) for tile in iterate_tiles(chunk, as_stored=True)):
        if not np.can_cast(tile.probs.dtype, probs.dtype):
            probs = probs.astype(np.float64)
        probs[start : start + len(tile.probs)] = tile.probs
        beside.append(tile.beside)
        start += len(tile.probs)
    told = np.concatenate([labels for labels in beside if labels is not None])
    told = as_class_numbers(told, parts[0].names or pool.names, str(files.labelled))
    try:
        labels = as_labels(told, count=len(probs), classes=classes)
    except InvalidInput as error:
        raise DataError(f"{files.labelled}: {error}") from error
    checked = UnitRows(probs, "probs")
    return checked if request.estimates else checked[:], labels
