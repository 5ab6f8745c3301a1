"""The runner: do what is missing of some specs, in parallel processes, in the order given."""

import importlib.util
import multiprocessing
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from cusal.apps.bench.progress import RunProgress
from cusal.apps.bench.spec import Spec, stored_content
from cusal.apps.bench.store import Store, process_name
from cusal.apps.bench.worker import News, one_thread, work


@dataclass(frozen=True)
class Outcome:
    """What a start of the runner achieved.

    Attributes
    ----------
    done, total : int
        How many of the runs are done, now or before, and how many there are.
    failed : tuple of (str, str)
        The id and the traceback of each run that failed.
    elsewhere : int
        How many runs another runner is doing.
    """

    done: int
    total: int
    failed: tuple[tuple[str, str], ...]
    elsewhere: int


@dataclass
class _Worker:
    process: SpawnProcess
    channel: Connection
    owner: str
    reason: str = ""  # why it ended, if it could say so


def run_grid(specs: Sequence[Spec], place: str, *, workers: int | None = None, trusted: bool = False) -> Outcome:
    """Do the runs that are not done yet; what is stored already, under whatever name, is never done again.

    Parameters
    ----------
    specs : sequence of Spec
        The runs, in the order in which they are started.
    place : str
        The path or URL of the store.
    workers : int, optional
        How many processes; by default as many as cores, or one where there is a GPU.
    trusted : bool, default False
        Whether to resume from checkpoints that somebody else wrote. They are pickles, and reading one runs code.

    Returns
    -------
    Outcome

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, after the processes have ended and their runs are free; the same call resumes them.
    StoreError
        If the store cannot be used.

    Examples
    --------
    >>> from cusal.apps.bench.grid import read_grid
    >>> run_grid(read_grid("digits").choose(["margin"]).specs(), "runs.db")  # doctest: +SKIP
    Outcome(done=10, total=10, failed=(), elsewhere=0)
    """
    with Store(place) as store:
        runs = [spec.run for spec in specs]
        store.add(runs)
        _reuse(store, specs)
        known = {row["id"]: row for row in store.runs()}
        missing = [run.id for run in runs if known[run.id]["status"] != "done"]
        store.check(missing).require()  # what is resumed from must be what was written
        count = min(workers or _default_workers(), len(missing))
        with RunProgress(runs, len(runs) - len(missing), workers=max(1, count)) as progress:
            for run in runs:
                written = [row["round"] for row in store.rounds([run.id])]
                progress.skip(run.id, max(written, default=-1))
            if missing:
                _supervise(store, partial(_start, place, missing, trusted), count, progress)
        return _outcome(store, {run.id for run in runs})


def _default_workers() -> int:
    cores = os.cpu_count() or 1
    if importlib.util.find_spec("torch") is None:
        return cores
    import torch  # slow to load, and not needed to look at grids and stores

    return 1 if torch.cuda.is_available() else cores


def _reuse(store: Store, specs: Sequence[Spec]) -> None:
    """Copy what another experiment in the store has done: ablations share their baselines."""
    rows = store.runs()
    # Of our algorithm alone, because that is a part of the content; what another version wrote may not be readable.
    done = {stored_content(row["spec"]): row["id"] for row in rows if row["status"] == "done"}
    open_ids = {row["id"] for row in rows if row["status"] == "open"}
    for spec in specs:
        if spec.id in open_ids and spec.content in done:
            store.copy(done[spec.content], spec.id)


def _supervise(store: Store, start: Callable[[], _Worker], count: int, progress: RunProgress) -> None:
    workers = [start() for _ in range(count)]
    try:
        while workers:
            wait([worker.channel for worker in workers] + [worker.process.sentinel for worker in workers])
            for worker in list(workers):
                _listen(worker, progress)
                if worker.process.is_alive():
                    continue
                worker.process.join()
                _listen(worker, progress)  # what it said last
                workers.remove(worker)
                if worker.process.exitcode != 0:
                    reason = f"the process that did this run ended with code {worker.process.exitcode}"
                    reason += f": {worker.reason}" if worker.reason else ""
                    lost = store.release(worker.owner, failed=reason)
                    for run_id in lost:
                        progress.show(News(run_id, "failed", text=reason))
                    if lost:  # a process that ended before it took a run would end so again
                        workers.append(start())
    finally:
        for worker in workers:
            worker.process.terminate()  # a round is written whole or not at all, so this is safe at any moment
        for worker in workers:
            worker.process.join()
            store.release(worker.owner)


def _start(place: str, run_ids: list[str], trusted: bool) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(place, run_ids, theirs, trusted), daemon=True)
    with one_thread():
        process.start()
    theirs.close()
    assert process.pid is not None
    return _Worker(process, ours, process_name(process.pid))


def _listen(worker: _Worker, progress: RunProgress) -> None:
    try:
        while worker.channel.poll():
            news = worker.channel.recv()
            if news.kind == "ended":
                worker.reason = news.text
            else:
                progress.show(news)
    except (EOFError, OSError):  # the process has ended; its exit code tells the rest
        return


def _outcome(store: Store, run_ids: set[str]) -> Outcome:
    rows = [row for row in store.runs() if row["id"] in run_ids]
    failed = tuple((row["id"], row["traceback"] or "") for row in rows if row["status"] == "failed")
    done = sum(row["status"] == "done" for row in rows)
    return Outcome(done, len(rows), failed, sum(row["status"] == "running" for row in rows))
