"""How compiled kernels are loaded: from numba's cache where it has them, with a note where the user waits for them.

numba keeps what it compiled beside the source, or, where that is read-only, in the user's cache folder;
`NUMBA_CACHE_DIR` names another place. Without any of them it raises an error: then a temporary folder serves.

Rows go through kernels in chunks, on plain threads around compiled code that releases the lock, not by numba's own
parallel loops: they can be started from any thread and after a fork, and one reads the next rows of a memory-mapped
pool while another computes.
"""

import atexit
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import numba
import numpy as np
from numba.core import event
from numpy.typing import NDArray

from cusal._checks import Rows
from cusal.calibration.pointwise import count_threads

CHUNK_BYTES = 1 << 19  # larger arrays go back to the system when freed, and taking them again costs time

_log = logging.getLogger(__name__)


@contextmanager
def kernels() -> Iterator[None]:
    """Import and call compiled functions inside: the first one that has to be compiled is announced, once."""
    _find_cache()
    with event.install_listener("numba:compile", _ANNOUNCEMENT):
        yield


class _Announcement(event.Listener):  # type: ignore[misc]
    """Logs, at the first compilation of a kernel in this process, what the user waits for."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: event.Event) -> None:
        """Called by numba before it compiles a function of cusal's or of anybody's."""
        if not self.said and event.data["dispatcher"].py_func.__module__.startswith("cusal."):
            self.said = True
            _log.warning("compiling the estimator for this processor: some ten seconds, the first time")

    def on_end(self, event: event.Event) -> None:
        """Called by numba when the function is compiled."""


_ANNOUNCEMENT = _Announcement()


@cache
def _find_cache() -> None:
    """Make numba keep compiled code in a temporary folder if it can write to none of its own."""
    try:
        numba.njit(cache=True)(_probe)
    except RuntimeError:  # there is no place for this file, nor for its neighbours
        numba.config.CACHE_DIR = tempfile.mkdtemp(prefix="cusal-numba-")
        atexit.register(shutil.rmtree, numba.config.CACHE_DIR, ignore_errors=True)
        _log.warning("no folder for compiled code can be written; set NUMBA_CACHE_DIR to one to compile only once")


def _probe() -> None:
    """Stand for the kernels, which lie beside this file and are cached in the same place."""


def over_rows(rows: Rows, work: Callable[[slice, NDArray[np.float64]], None], *, most: int = CHUNK_BYTES) -> None:
    """Call `work(where, rows[where])` for chunks of up to `most` rows, in float64, on NUMBA_NUM_THREADS threads."""
    threads = count_threads()
    step = max(1, min(most, CHUNK_BYTES // (8 * rows.shape[1]), -(-len(rows) // (4 * threads))))
    chunks = [slice(start, start + step) for start in range(0, len(rows), step)]

    def read_and_work(where: slice) -> None:
        work(where, np.ascontiguousarray(rows[where], dtype=np.float64))

    if threads == 1 or len(rows) * rows.shape[1] < 10_000:
        for where in chunks:
            read_and_work(where)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(read_and_work, chunks):
            pass
