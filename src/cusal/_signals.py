"""A polite end: SIGTERM, by which Slurm, systemd and Kubernetes end jobs, does what Ctrl-C does."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
