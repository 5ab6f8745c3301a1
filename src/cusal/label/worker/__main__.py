"""Start the worker of a project: `python -m cusal.label.worker PLACE`."""

import sys
import traceback

from cusal.errors import CusalError
from cusal.label.store.project import Project
from cusal.label.worker.parent import end_with_parent
from cusal.label.worker.process import Worker
from cusal.label.worker.threads import leave_a_core
from cusal.label.worker.vectors import in_one_line


def main(place: str) -> int:
    """Work for the project at a place until the process is ended; return its exit code."""
    end_with_parent()
    leave_a_core()
    try:
        with Project(place) as project:
            try:
                Worker(project).run()
            except KeyboardInterrupt:
                return 0
            except Exception as error:
                traceback.print_exc()
                project.set_status("worker", {"state": "stopped", "message": in_one_line(error)})
                return 1
    except CusalError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m cusal.label.worker PLACE")
    sys.exit(main(sys.argv[1]))
