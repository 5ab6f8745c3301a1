"""A process that ends when the one that started it does."""

import os
import threading
import time

SECONDS = 0.5


def end_with_parent() -> None:
    """End this process within a second of its parent's end, whatever it is doing."""
    # The parent may have ended while this process imported its modules: then the present one is another.
    parent = int(os.environ.get("CUSAL_PARENT", os.getppid()))
    threading.Thread(target=_watch, args=(parent,), name="watch the parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:  # an orphan belongs to another process
        time.sleep(SECONDS)
    os._exit(0)  # not sys.exit: the main thread may be deep in a fit, and everything worth keeping is on disk
