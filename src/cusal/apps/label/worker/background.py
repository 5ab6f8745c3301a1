"""One thread for what takes long: vectors, reading a large table. The main thread collects what came of it."""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Finished:
    """A job that ended: its name, and what it returned, or the error that it raised."""

    name: str
    value: Any = None
    error: Exception | None = None


class Background:
    """Jobs that run one after the other beside the main thread.

    >>> background = Background()
    >>> background.start("sum", lambda: 1 + 1)
    >>> background.wait().value, background.busy
    (2, False)
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[str, Callable[[], Any]]] = queue.SimpleQueue()
        self._finished: queue.SimpleQueue[Finished] = queue.SimpleQueue()
        self._open = 0
        # It ends with the process: nothing that it does is lost, since it is kept chunk by chunk.
        threading.Thread(target=self._run, name="background", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether there are jobs whose end was not collected."""
        return self._open > 0

    def start(self, name: str, job: Callable[[], Any]) -> None:
        """Run a job after those that were started before."""
        self._open += 1
        self._jobs.put((name, job))

    def collect(self) -> Finished | None:
        """Return a job that ended, or None."""
        try:
            finished = self._finished.get_nowait()
        except queue.Empty:
            return None
        self._open -= 1
        return finished

    def wait(self) -> Finished:
        """Return the next job that ends."""
        finished = self._finished.get()
        self._open -= 1
        return finished

    def _run(self) -> None:
        while True:
            name, job = self._jobs.get()
            try:
                self._finished.put(Finished(name, job()))
            except Exception as error:  # code of users runs here; what it raises is shown, and labelling continues
                self._finished.put(Finished(name, error=error))
