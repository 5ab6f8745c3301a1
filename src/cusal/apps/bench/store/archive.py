"""A store as compact files, one for each run, in a folder for each experiment.

A run that is added, or that went further, changes its own file and no other. A run that was under way resumes where it
stopped if its session is small enough to be there, else it starts again; `Summary` says which. What earlier versions
exported, one file for each table, is read too, and turned into files of this kind by the next export.

Sessions are pickles, and only those that this user wrote are ever read (`signatures`): of any other, the run starts
again.
"""

import gzip
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from cusal._files import write_whole, writing
from cusal.apps.bench.store.digests import verified, write_digests
from cusal.apps.bench.store.former_export import RUNS_FILE, former_files, read_former
from cusal.apps.bench.store.records import Row
from cusal.apps.bench.store.run_file import ENDING, KEPT, SESSION_ENDING, ExportedRun, check_inside, read_run, unpack
from cusal.apps.bench.store.schema import CHECKPOINTS, OF_A_ROUND, ROUNDS, RUNS
from cusal.errors import StoreError

SMALL_BYTES = 1 << 20  # of one gzipped session


@dataclass(frozen=True)
class Summary:
    """How many runs were written or read, how many of them are done, and which resume and which start again."""

    runs: int
    done: int
    resuming: tuple[str, ...]
    starting_again: tuple[str, ...]

    @classmethod
    def of(cls, runs: Iterable[ExportedRun]) -> "Summary":
        """Return the summary of some runs."""
        runs = list(runs)
        unfinished = [one for one in runs if one.run["status"] != "done"]
        resuming = tuple(one.run["id"] for one in unfinished if verified(one.run["id"], one.session) is not None)
        starting_again = tuple(one.run["id"] for one in unfinished if one.run["id"] not in resuming)
        return cls(len(runs), len(runs) - len(unfinished), resuming, starting_again)

    def __str__(self) -> str:
        text = f"{self.runs} runs, {self.done} of them done"
        if self.resuming:
            text += f"; {len(self.resuming)} resume where they stopped: {', '.join(self.resuming)}"
        if self.starting_again:
            text += f"; {len(self.starting_again)} start again: {', '.join(self.starting_again)}"
        return text


class ExportedRuns:
    """A folder that `cusal store export` wrote, read as a store is, without a database.

    Parameters
    ----------
    folder : path
        The folder, of this or of an earlier version.

    Examples
    --------
    >>> ExportedRuns("results/mnist").runs()  # doctest: +SKIP
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.place = str(folder)

    @cached_property
    def _by_id(self) -> dict[str, ExportedRun]:
        return {one.run["id"]: one for one in read_folder(Path(self.place).expanduser())}

    def runs(self) -> list[Row]:
        """Return every run, sorted as a store sorts them."""
        keys = ("experiment", "dataset", "strategy", "seed", "id")
        runs = (one.run for one in self._by_id.values())
        return sorted(runs, key=lambda run: tuple(run[key] for key in keys))

    def rounds(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Return the rounds of all or some runs, in order."""
        return self._of_runs("rounds", run_ids)

    def metrics(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Return the metrics of all or some runs, in order."""
        return self._of_runs("metrics", run_ids)

    def bins(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Return the reliability bins of all or some runs, in order."""
        return self._of_runs("bins", run_ids)

    def picks(self, run_ids: Iterable[str] | None = None) -> list[Row]:
        """Return the picks of all or some runs, in order."""
        return self._of_runs("picks", run_ids)

    def _of_runs(self, table: str, run_ids: Iterable[str] | None) -> list[Row]:
        ids = sorted(self._by_id) if run_ids is None else run_ids
        return [row for run_id in ids for row in self._by_id[run_id].rows[table]]


def read_folder(folder: Path) -> list[ExportedRun]:
    """Return the runs of a folder; of two files of one run, the one with more rounds."""
    paths = sorted(folder.glob(f"*/*{ENDING}"))
    former = (folder / RUNS_FILE).exists()
    if not paths and not former:
        raise StoreError(f"there is no run in {folder}; give a folder that `cusal store export` wrote.")
    for path in (*paths, *folder.glob(f"*/*{SESSION_ENDING}"), *former_files(folder)):
        check_inside(path, folder)
    found: dict[str, ExportedRun] = {}
    for one in [*(read_former(folder) if former else []), *map(read_run, paths)]:
        before = found.get(one.run["id"])
        if before is None or one.rounds >= before.rounds:
            found[one.run["id"]] = one
    return list(found.values())


def export(connection: sa.Connection, folder: Path, *, compact: bool = False) -> Summary:
    """Write every run that this connection sees to `folder`; files of other runs stay.

    compact: leave out what curves and tables do not need: picks, reliability bins, scores on the pool, and runs that
    are not done.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        former = former_files(folder)
        kept = {one.run["id"]: one for one in (read_former(folder) if (folder / RUNS_FILE) in former else [])}
        written = []
        found = _exported(connection)
        for one in map(_compacted, filter(_is_done, found)) if compact else found:
            before = kept.get(one.run["id"])
            if before is None or before.rounds <= one.rounds:
                kept[one.run["id"]] = one
            written.append(one)
        for one in kept.values():
            _write(folder, one)
        for path in former:
            path.unlink()
    return Summary.of(written)


def _exported(connection: sa.Connection) -> Iterable[ExportedRun]:
    for run in _rows(connection, sa.select(*KEPT).order_by(RUNS.c.id)):
        run["status"] = "open" if run["status"] == "running" else run["status"]
        rows = {}
        for table in OF_A_ROUND:
            own = sa.select(table).where(table.c.run_id == run["id"])
            rows[table.name] = _rows(connection, own.order_by(*table.primary_key.columns))
        state = connection.scalar(sa.select(CHECKPOINTS.c.state).where(CHECKPOINTS.c.run_id == run["id"]))
        small = state is not None and len(gzip.compress(state, mtime=0)) <= SMALL_BYTES
        yield ExportedRun(run, rows, state if small else None)


def _is_done(one: ExportedRun) -> bool:
    return bool(one.run["status"] == "done")


def _compacted(one: ExportedRun) -> ExportedRun:
    tested = [row for row in one.rows["metrics"] if row["split"] == "test"]
    return ExportedRun(one.run, one.rows | {"metrics": tested, "bins": [], "picks": []}, one.session)


def _rows(connection: sa.Connection, query: sa.Select[Any]) -> list[Row]:
    return [dict(row) for row in connection.execute(query).mappings()]


def _write(folder: Path, one: ExportedRun) -> None:
    """Write a run's files, unless they say the same already or the folder has more rounds of it."""
    path, session = (folder / f"{one.path}{ending}" for ending in (ENDING, SESSION_ENDING))
    path.parent.mkdir(exist_ok=True)
    check_inside(path, folder)
    if path.exists() and read_run(path).rounds > one.rounds:
        return
    _write_packed(path, one.pack())
    if one.session is None:
        session.unlink(missing_ok=True)
    else:
        _write_packed(session, one.session)


def _write_packed(path: Path, content: bytes) -> None:
    if not path.exists() or unpack(path) != content:  # not by its bytes: versions of zlib differ in theirs
        write_whole(path, gzip.compress(content, mtime=0))


def load(connection: sa.Connection, folder: Path, *, held: set[str]) -> Summary:
    """Put the runs of `folder` into the database.

    A run that is there stays unless the folder has more rounds of it; one that is `held` by a runner stays anyway.
    """
    count = sa.func.count(ROUNDS.c.round).label("rounds")
    known = connection.execute(sa.select(RUNS.c.id, count).outerjoin(ROUNDS).group_by(RUNS.c.id))
    there = {row.id: row.rounds for row in known}
    taken = [
        one for one in read_folder(folder) if one.rounds > there.get(one.run["id"], -1) and one.run["id"] not in held
    ]
    for one in sorted(taken, key=lambda one: str(one.run["id"])):
        run_id = one.run["id"]
        connection.execute(RUNS.delete().where(RUNS.c.id == run_id))
        connection.execute(RUNS.insert().values(**one.run))
        for table in OF_A_ROUND:
            if own := one.rows[table.name]:
                connection.execute(table.insert(), own)
        if one.session is not None and one.rounds:
            last = max(row["round"] for row in one.rows["rounds"])
            connection.execute(CHECKPOINTS.insert().values(run_id=run_id, round=last, state=one.session))
        write_digests(connection, run_id)
    return Summary.of(sorted(taken, key=lambda one: str(one.run["id"])))
