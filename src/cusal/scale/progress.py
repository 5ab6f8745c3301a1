"""How far a pass over a pool is: rows per second and the time left, as a bar on a terminal and as lines elsewhere."""

import sys
import time
from types import TracebackType
from typing import Any, Self

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Counts rows and tells of them on standard error."""

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self.total, self.done, self.resumed = total, 0, 0
        self.quiet = quiet
        self.bar: Any = None

    def __enter__(self) -> Self:
        self.begun = self.told = time.monotonic()
        if not self.quiet and sys.stderr.isatty():
            self.bar = _open_bar(self.total, self.done)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
        elif not self.quiet and kind is None:
            self._tell()

    def resume(self, rows: int) -> None:
        """Count rows that an earlier run has done."""
        self.done += rows
        self.resumed += rows

    def advance(self, rows: int) -> None:
        """Count rows as done."""
        self.done += rows
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], advance=rows, rate=f"{self.rate:,.0f}")
        elif not self.quiet and time.monotonic() - self.told >= SECONDS_BETWEEN_LINES:
            self._tell()

    @property
    def rate(self) -> float:
        """Rows per second since the start of this run."""
        return (self.done - self.resumed) / max(time.monotonic() - self.begun, 1e-9)

    def _tell(self) -> None:
        self.told = time.monotonic()
        left = (self.total - self.done) / self.rate if self.rate else 0.0
        line = f"{self.done:,} of {self.total:,} rows, {self.rate:,.0f} rows/s, {_clock(left)} left"
        print(line, file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"


def _open_bar(total: int, done: int) -> Any:
    try:
        from rich import console, progress
    except ImportError:
        return None
    bar = progress.Progress(
        progress.TextColumn("scoring"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[rate]} rows/s"),
        progress.TimeRemainingColumn(),
        console=console.Console(stderr=True),
    )
    bar.add_task("scoring", total=total, completed=done, rate="0")
    bar.start()
    return bar
