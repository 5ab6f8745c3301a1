"""The Ray engine: chunks are read and scored on the nodes of a cluster, and only candidates travel.

Every node must see the pool under the same path and have cusal installed. A chunk whose worker or node dies is scored
again elsewhere.
"""

import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cusal.errors import CusalError, DataError, MissingExtra
from cusal.scale.candidates import Candidates
from cusal.scale.engines._engine import Advance, Engine, Results, Work
from cusal.scale.parts import Chunk

try:
    import ray
except ImportError as error:
    raise MissingExtra("the Ray engine", "ray") from error

CONNECT_SECONDS = 10.0
CANCEL_AFTER_SECONDS = 1.0
RETRIES = 8  # of a chunk, when its worker or node dies


class RayEngine(Engine):
    """A Ray cluster: the one at `address`, else the one that is connected already, else a new one on this machine."""

    def map(self, chunks: Sequence[Chunk], work: Work, advance: Advance) -> Results:
        """Score the chunks, each as soon as a CPU is free, and yield them as they finish."""
        started = not ray.is_initialized()
        if started:
            _connect(self.address)
        try:
            yield from _run(chunks, work, advance)
        finally:
            if started:
                ray.shutdown()


def _connect(address: str | None) -> None:
    host, colon, port = (address or "").rpartition("://")[2].rpartition(":")
    try:
        if colon and port.isdigit():  # Ray itself would try for minutes
            socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
        ray.init(address=address, log_to_driver=False)
    except Exception as error:  # whatever a start raises: of sockets, processes, settings, versions
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        ray.shutdown()  # what may have started
        if address is None:
            raise DataError(
                f"Ray does not start on this machine ({reason}); start a cluster with: ray start --head, and give its "
                "--address, or use --engine local."
            ) from error
        raise DataError(f"there is no Ray cluster at {address} ({reason}); start one with: ray start --head") from error


def _run(chunks: Sequence[Chunk], work: Work, advance: Advance) -> Results:
    # One thread a task: Ray counts CPUs, and the estimator would take all of them.
    environment = {"env_vars": {"NUMBA_NUM_THREADS": "1"}}
    task = ray.remote(num_cpus=1, max_retries=RETRIES, runtime_env=environment)(_attempt)
    shared = ray.put(work)
    waiting = list(reversed(chunks))
    running: dict[Any, Chunk] = {}
    try:
        while waiting or running:
            while waiting and len(running) < _places():
                chunk = waiting.pop()
                running[task.remote(shared, _anywhere(chunk))] = chunk
            done, _ = ray.wait(list(running), num_returns=1)
            chunk = running.pop(done[0])
            yield chunk, _result(done[0], chunk)
            advance(chunk.rows)
    finally:
        _stop(list(running))


def _stop(running: list[Any]) -> None:
    # A task that is cancelled at the moment it ends aborts the driver (pull request 54785 of Ray describes the race).
    # So short tasks may end by themselves, and only those that take longer are cancelled.
    if running:
        _, running = ray.wait(running, num_returns=len(running), timeout=CANCEL_AFTER_SECONDS)
    for reference in running:
        ray.cancel(reference, force=True)


def _places() -> int:
    """Return how many tasks may run: one CPU stays free for the driver; nodes that join are used at once."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)) - 1)


def _anywhere(chunk: Chunk) -> Chunk:
    """Return the chunk by a path that does not depend on the folder in which a worker runs."""
    return replace(chunk, part=replace(chunk.part, path=chunk.part.path.absolute()))


def _attempt(work: Callable[[Chunk], Candidates], chunk: Chunk) -> Candidates | DataError:
    # Returned, not raised: Ray would wrap it, and not every error can be pickled.
    try:
        return work(chunk)
    except CusalError as error:
        return DataError(str(error))


def _result(reference: Any, chunk: Chunk) -> Candidates:
    try:
        outcome = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ImportError | ray.exceptions.RaySystemError):
            reason = str(error.cause).partition("\n")[0]
            raise DataError(f"a node cannot load cusal ({reason}); install the same version on every node.") from error
        raise
    except ray.exceptions.RayError as error:
        where = f"{chunk.part.path}: rows {chunk.first_row} to {chunk.first_row + chunk.rows - 1}"
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"{where} could not be scored in {RETRIES + 1} attempts ({reason}); look at the workers' memory."
        ) from error
    if isinstance(outcome, DataError):
        raise outcome
    return outcome  # type: ignore[no-any-return]
