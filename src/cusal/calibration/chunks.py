"""Rows in chunks, on several threads.

Plain threads around compiled code that releases the lock, not numba's own parallel loops: they can be started from any
thread and after a fork, and one reads the next rows of a memory-mapped pool while another computes.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from cusal._checks import Rows
from cusal.calibration.pointwise import count_threads

CHUNK_BYTES = 1 << 19  # larger arrays go back to the system when freed, and taking them again costs time


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
