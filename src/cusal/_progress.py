"""How far a long computation is and how long the rest takes: a bar on a terminal, lines elsewhere."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """A counter of what is done of a known number of things, shown on standard error.

    Parameters
    ----------
    total : int
        How many things there are. It may be changed on the way, where it is an estimate.
    title : str
        What is being done, such as "scoring".
    unit : str
        What is counted, such as "rows".
    quiet : bool
        Show nothing.
    always : bool
        Write a last line even if the whole took less than ten seconds. It matters only without a terminal.

    Examples
    --------
    >>> progress = Progress(1000, quiet=True)
    >>> progress.resume(400)  # done by an earlier, stopped computation
    >>> with progress:
    ...     progress.advance(600)
    >>> progress.done
    1000
    """

    def __init__(
        self, total: int, *, title: str = "scoring", unit: str = "rows", quiet: bool = False, always: bool = True
    ) -> None:
        self.total, self.title, self.unit, self.quiet, self.always = total, title, unit, quiet, always
        self.done = self.resumed = 0
        self.begun = self._shown = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Self:
        self.begun = self._shown = time.monotonic()
        if not self.quiet and sys.stderr.isatty():
            self._bar = self._open_bar()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif kind is None and (self.always or self._shown > self.begun):
            self._write_line()

    def resume(self, count: int) -> None:
        """Count things that an earlier computation did."""
        self.done += count
        self.resumed += count

    def advance(self, count: int) -> None:
        """Count things as done, and show them when it is time."""
        self.done += count
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.done, total=self.total, rate=f"{self.rate:,.0f}")
        elif time.monotonic() - self._shown >= SECONDS_BETWEEN_LINES:
            self._write_line()

    @property
    def rate(self) -> float:
        """Things per second since the start of this computation."""
        return (self.done - self.resumed) / max(time.monotonic() - self.begun, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take; None before anything was done."""
        return (self.total - self.done) / self.rate if self.rate else None

    def _write_line(self) -> None:
        if not self.quiet:
            self._shown = time.monotonic()
            rate = f"{self.rate:,.0f} {self.unit}/s"
            left = f"time left {duration(self.seconds_left)}"
            print(f"{self.title}: {self.done:,} of {self.total:,} {self.unit}, {rate}, {left}", file=sys.stderr)
            sys.stderr.flush()

    def _open_bar(self) -> Any:
        try:
            from rich import console, progress
        except ImportError:
            return None
        bar = progress.Progress(
            progress.TextColumn(self.title),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn(f"{{task.fields[rate]}} {self.unit}/s"),
            progress.TimeRemainingColumn(),
            console=console.Console(stderr=True),
        )
        bar.add_task(self.title, total=self.total, completed=self.done, rate="0")
        bar.start()
        return bar


def duration(seconds: float | None) -> str:
    """Return a duration as text, in two units.

    >>> duration(7500), duration(200), duration(None)
    ('2 h 05 min', '3 min 20 s', 'not known yet')
    """
    if seconds is None:
        return "not known yet"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


# A polite end: SIGTERM, by which Slurm, systemd and Kubernetes end jobs, does what Ctrl-C does.


STOPPED = 130  # the exit code that a shell gives for Ctrl-C


@contextmanager
def term_like_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt in this block on SIGTERM; only the main thread can ask for that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
