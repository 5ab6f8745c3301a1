"""The worker of an audit: it says what the answers so far show, whenever there are new ones."""

import os
import time

from cusal.apps.label.audits.messages import Checking, figures
from cusal.apps.label.store.project import Project

TICK = 0.25  # seconds between looks at the project
BEAT = 5.0  # seconds between signs of life


class AuditWorker:
    """What computes for an audit until it is ended.

    Parameters
    ----------
    project : Project
        The database through which it is told everything, and says everything.
    """

    def __init__(self, project: Project) -> None:
        self.project, self.checking = project, Checking(project)
        self._seen: tuple[int, int] | None = None  # the last event, and the number of usable items
        self._beaten = 0.0

    def run(self) -> None:
        """Work for ever."""
        while True:
            began = time.monotonic()
            self.step()
            time.sleep(max(TICK, time.monotonic() - began))  # a large audit fills no more than half a core

    def step(self) -> bool:
        """Write new figures if anything changed; return whether it did."""
        if time.monotonic() - self._beaten >= BEAT:
            value = {"pid": os.getpid(), "state": "idle", "message": "", "beat": time.time()}
            self.project.status.set("worker", value)
            self._beaten = time.monotonic()
        seen = self.project.events.latest(), self.project.items.count("ok")
        if seen == self._seen:
            return False
        self.project.status.set("audit", figures(self.checking.audit()) | {"event": seen[0], "usable": seen[1]})
        self._seen = seen
        return True
