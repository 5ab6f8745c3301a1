"""What people did since the session was last told: labels, skips and items that are open again, by item."""

from collections.abc import Iterable

from cusal.apps.label.store.project import Project
from cusal.apps.label.store.records import Changes
from cusal.apps.label.worker.pool import Places

OPEN, SKIPPED = -1, -2  # beside the ids of classes, which are 0 or more


class News:
    """The changes of a project that its session does not know yet.

    event: the last event that was heard of. waiting: what each item is now: a class id, OPEN or SKIPPED.
    """

    def __init__(self, event: int = 0) -> None:
        self.event = event
        self.waiting: dict[int, int] = {}

    def hear(self, project: Project) -> bool:
        """Ask the project for what happened since the last time; return whether there was anything."""
        if project.events.latest() <= self.event:
            return False
        self.add(project.events.changes_since(self.event))
        return True

    def add(self, changes: Changes) -> None:
        """Take up changes; the newest state of an item counts."""
        self.event = changes.event
        self.waiting |= changes.labelled
        self.waiting |= dict.fromkeys(changes.opened, OPEN)
        self.waiting |= dict.fromkeys(changes.skipped, SKIPPED)

    def take(self, items: list[int]) -> dict[int, int]:
        """Return what became of these items, and forget it."""
        return {item: self.waiting.pop(item) for item in items}

    def forget_outside(self, joining: Iterable[int], places: Places) -> None:
        """Forget what became of items that have no place and get none: nobody asks about them."""
        kept = {int(item) for item in joining}
        self.waiting = {item: now for item, now in self.waiting.items() if item in places or item in kept}
