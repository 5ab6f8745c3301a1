"""Start the worker of a project: `python -m cusal.apps.label.worker PLACE`."""

import os
import sys
import threading
import time
import traceback

from cusal.apps.label.store.project import Project
from cusal.apps.label.store.validation import in_one_line
from cusal.apps.label.worker.first_queue import FirstQueue
from cusal.errors import CusalError

MOST_THREADS = 4
LOOK = 0.5  # seconds between looks at the parent


def leave_a_core() -> None:
    """Limit NumPy and torch to half the cores of the machine, at most four: the server must answer meanwhile."""
    from threadpoolctl import threadpool_limits  # here, since it looks at the libraries that are loaded

    threads = max(1, min(MOST_THREADS, (os.cpu_count() or 1) // 2))
    # For libraries that are loaded later, as torch is.
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))
    threadpool_limits(limits=threads)


def end_with_parent() -> None:
    """End this process within a second of its parent's end, whatever it is doing."""
    # The parent may have ended while this process imported its modules: then the present one is another.
    parent = int(os.environ.get("CUSAL_PARENT", os.getppid()))
    threading.Thread(target=_watch, args=(parent,), name="watch the parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:  # an orphan belongs to another process
        time.sleep(LOOK)
    os._exit(0)  # not sys.exit: the main thread may be deep in a fit, and everything worth keeping is on disk


def main(place: str) -> int:
    """Work for the project at a place until the process is ended; return its exit code."""
    end_with_parent()
    try:
        with Project(place) as project:
            try:
                _work(project)
            except KeyboardInterrupt:
                return 0
            except Exception as error:
                traceback.print_exc()
                project.status.set("worker", {"state": "stopped", "message": in_one_line(error)})
                return 1
    except CusalError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _work(project: Project) -> None:
    if not project.task.learns:
        from cusal.apps.label.worker.auditing import AuditWorker

        AuditWorker(project).run()
    if project.rounds.last_number() is None:
        FirstQueue(project).keep_filled()  # somebody may be waiting, and what computes takes seconds to load
    from cusal.apps.label.worker.process import Worker

    leave_a_core()
    Worker(project).run()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m cusal.apps.label.worker PLACE")
    sys.exit(main(sys.argv[1]))
