"""The worker process: started, watched, and started again when it ends without being asked to."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

FIRST_WAIT = 1.0  # seconds before the second start; doubled each time
LONGEST_WAIT = 30.0
STEADY = 60.0  # a worker that ran for so long starts again without delay
SECONDS_TO_END = 5.0
LINES_KEPT = 60  # of what the worker writes to standard error


def worker_command(place: str) -> list[str]:
    """Return the command that starts the worker of a project."""
    return [sys.executable, "-m", "cusal.apps.label.worker", place]


class Supervisor:
    """Keeps one worker process alive.

    Parameters
    ----------
    command : sequence of str
        What to start.
    tell : callable
        Called with a line for the terminal when the worker ends unexpectedly.

    Examples
    --------
    >>> import sys
    >>> supervisor = Supervisor([sys.executable, "-c", "import time; time.sleep(60)"])
    >>> supervisor.start()
    >>> supervisor.state
    'running'
    >>> supervisor.stop()
    >>> supervisor.state
    'stopped'
    """

    def __init__(self, command: Sequence[str], tell: Callable[[str], None] = lambda line: None) -> None:
        self.command, self.tell = list(command), tell
        self.state, self.message = "stopped", ""
        self.starts = 0
        self._process: subprocess.Popen[str] | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the worker, or None while there is none."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> None:
        """Start the worker and watch it from a thread."""
        self._stopping.clear()
        self._start_process()
        self._thread = threading.Thread(target=self._watch, name="worker supervisor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the worker: politely, then by force."""
        self._stopping.set()
        process = self._process
        if process and process.poll() is None:
            process.terminate()
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
        if self._thread:
            self._thread.join()
        self.state, self.message = "stopped", ""

    def _start_process(self) -> None:
        # A group of its own: Ctrl-C reaches the server alone, which then ends the worker. The worker looks whether
        # this process is still its parent, and ends when it is not.
        self._process = subprocess.Popen(
            self.command,
            env={**os.environ, "CUSAL_PARENT": str(os.getpid())},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
        )
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, 5)  # people come first
        self.starts += 1
        self.state, self.message = "running", ""

    def _watch(self) -> None:
        wait = FIRST_WAIT
        while True:
            began = time.monotonic()
            ending, trace = self._await_end()
            if self._stopping.is_set():
                return
            wait = FIRST_WAIT if time.monotonic() - began >= STEADY else wait
            self.message = f"The worker ended ({ending}); it starts again in {wait:.0f} s."
            self.state = "restarting"
            self.tell("\n".join([*trace, self.message]))
            if self._stopping.wait(wait):
                return
            wait = min(2 * wait, LONGEST_WAIT)
            self._start_process()
            if self._stopping.is_set() and self._process:  # stop() may have looked before there was a process
                self._process.terminate()

    def _await_end(self) -> tuple[str, list[str]]:
        """Wait until the worker ends; return how it ended, and the trace of the error if it was a bug."""
        process = self._process
        assert process is not None
        assert process.stderr is not None
        lines = deque((line.rstrip() for line in process.stderr if line.strip()), maxlen=LINES_KEPT)
        code = process.wait()
        process.stderr.close()
        ending = f"exit code {code}" + (f": {lines[-1].strip()[:200]}" if lines else "")
        begin = next((row for row, line in enumerate(lines) if line.startswith("Traceback")), len(lines))
        return ending, list(lines)[begin:]
