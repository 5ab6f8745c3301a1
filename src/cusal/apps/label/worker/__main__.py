"""Start the worker of a project: `python -m cusal.apps.label.worker PLACE`."""

import sys
import traceback

from cusal.apps.label.store.project import Project
from cusal.apps.label.worker.first_queue import FirstQueue
from cusal.apps.label.worker.one_line import in_one_line
from cusal.apps.label.worker.parent import end_with_parent
from cusal.errors import CusalError


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
    if project.settings.wrong_class is not None:
        from cusal.apps.label.worker.auditing import AuditWorker

        AuditWorker(project).run()
    if project.rounds.last_number() is None:
        FirstQueue(project).keep_filled()  # somebody may be waiting, and what computes takes seconds to load
    from cusal.apps.label.worker.process import Worker
    from cusal.apps.label.worker.threads import leave_a_core

    leave_a_core()
    Worker(project).run()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m cusal.apps.label.worker PLACE")
    sys.exit(main(sys.argv[1]))
