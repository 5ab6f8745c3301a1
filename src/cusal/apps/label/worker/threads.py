"""How many threads computing may take: the server must answer meanwhile."""

import os

from threadpoolctl import threadpool_limits

MOST = 4


def leave_a_core() -> None:
    """Limit the threads of NumPy and torch to half the cores of the machine, at most four."""
    threads = max(1, min(MOST, (os.cpu_count() or 1) // 2))
    # For libraries that are loaded later, as torch is.
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    threadpool_limits(limits=threads)
