"""The tasks of a Label Studio project with their annotations: all of them once, then those that have changed.

A server takes some milliseconds for each task; annotations, also when they change or are deleted, renew the
`updated_at` of theirs.
"""

import json
from datetime import datetime, timedelta
from typing import Any

from cusal.adapters._label_studio_server import LabelStudioServer
from cusal.errors import ServerError

PAGE = 500  # tasks in one call
OVERLAP = timedelta(minutes=1)  # what was changed at one time may be seen at a later one


class TaskList:
    """The tasks of a project as they were last pulled."""

    def __init__(self, server: LabelStudioServer, project: int) -> None:
        self.server, self.project = server, project
        self._known: dict[int, dict[str, Any]] = {}

    def pull(self, count: int) -> list[dict[str, Any]]:
        """Return all tasks by their ids; `count` is how many there are, by which deleted ones are noticed."""
        if self._known:
            self._read(_since(max(task["updated_at"] for task in self._known.values())))
        if len(self._known) != count:
            self._known = {}
            self._read({})
        return [task for _, task in sorted(self._known.items())]

    def latest(self) -> list[tuple[int, str]]:
        """Return the id of the task that changed last, and when; nothing if there are no tasks."""
        found = self._page({"page_size": 1, "query": json.dumps({"ordering": ["-tasks:updated_at"]})})
        return [(task["id"], task["updated_at"]) for task in found]

    def _read(self, filters: dict[str, Any]) -> None:
        query = json.dumps({"ordering": ["tasks:id"], **filters})
        number = 1
        while page := self._page({"page": number, "page_size": PAGE, "fields": "all", "query": query}):
            kept = ("id", "data", "annotations", "updated_at")
            self._known |= {task["id"]: {name: task[name] for name in kept} for task in page}
            number += 1

    def _page(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        try:
            return list(self.server.call("GET", "/api/tasks/", query={"project": self.project, **query})["tasks"])
        except ServerError as error:
            if error.status != 404:
                raise
            return []  # beyond the last page


def _since(moment: str) -> dict[str, Any]:
    """Return a filter for tasks that changed after a moment, or shortly before."""
    value = f"{datetime.fromisoformat(moment) - OVERLAP:%Y-%m-%dT%H:%M:%S.%fZ}"
    changed = {"filter": "filter:tasks:updated_at", "operator": "greater", "type": "Datetime", "value": value}
    return {"filters": {"conjunction": "and", "items": [changed]}}
