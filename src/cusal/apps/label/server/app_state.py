"""What the calls share while the server runs: the project, its last round, the worker, pictures and exports."""

import hashlib
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cusal.apps.label.server.export_jobs import ExportJobs
from cusal.apps.label.server.media import PictureCache
from cusal.apps.label.server.messages import reason_in_words
from cusal.apps.label.server.predictions import Predictions
from cusal.apps.label.server.refill import Refill
from cusal.apps.label.server.replies import (
    ClassReply,
    FeaturesReply,
    Guess,
    ItemReply,
    ItemsReply,
    ProgressReply,
    StatusReply,
    WorkerReply,
    finite,
)
from cusal.apps.label.server.supervisor import Supervisor
from cusal.apps.label.store import Pick, Project

STATUS_SECONDS = 0.5  # everybody's pages ask for the status, and it need not be newer than this


@dataclass(frozen=True)
class LastRound:
    """The last round of the model, without its session."""

    number: int = 0
    labels: int = 0
    predictions: Predictions = field(default_factory=lambda: Predictions(None))


class Live:
    """A project as the server sees it.

    Parameters
    ----------
    project : Project
        The open project.
    exports : Path
        The folder that exports are written to.
    supervisor : Supervisor or None
        Who keeps the worker alive; None where there is no worker.
    """

    def __init__(self, project: Project, *, exports: Path, supervisor: Supervisor | None = None) -> None:
        self.project, self.supervisor = project, supervisor
        self.refill = Refill(project)
        self.jobs, self.pictures = ExportJobs(project.place, exports), PictureCache()
        settings = project.settings
        self.kind, self.task = settings.kind, settings.task
        self.folder = settings.folder
        self.id = hashlib.blake2b(f"{project.place}|{settings.data}".encode(), digest_size=8).hexdigest()
        self._round = LastRound()
        self._status: StatusReply | None = None
        self._status_at = 0.0
        self._lock = threading.Lock()

    def status(self) -> StatusReply:
        """Return where things stand, at most half a second old."""
        with self._lock:
            if self._status is None or time.monotonic() - self._status_at > STATUS_SECONDS:
                self._status, self._status_at = self._read_status(), time.monotonic()
            return self._status

    def last_round(self) -> LastRound:
        """Return the last round of the model; it is read once."""
        with self._lock:
            return self._last_round()

    def predictions(self) -> Predictions:
        """Return the predictions of the last round."""
        return self.last_round().predictions

    def next_picks(self, person: str, count: int, exclude: Sequence[int]) -> list[Pick]:
        """Return what the person is to label next."""
        last = self.last_round()
        return self.refill.next_picks(person, count, exclude, last.predictions, last.number)

    def _last_round(self) -> LastRound:
        number = self.project.rounds.last_number()
        if number is not None and number != self._round.number:
            found = self.project.rounds.last()
            if found is not None:
                self._round = LastRound(found.round, found.labels, Predictions(found.predictions))
        return self._round

    def _read_status(self) -> StatusReply:
        known = self.project.status.all()
        features, items, last = known.get("features"), known.get("items"), self._last_round()
        return StatusReply(
            worker=self._worker(known.get("worker", {})),
            features=None if features is None else FeaturesReply.model_validate(features),
            items=ItemsReply.model_validate(items or {"done": self.project.items.count()}),
            round=last.number,
            labels_seen=last.labels,
            queue=known.get("queue", {}).get("replaced", 0),
            event=self.project.events.latest() if self.task.learns else _told(known),
        )

    def _worker(self, written: dict[str, object]) -> WorkerReply:
        """Return what the worker does: its own words, unless the supervisor knows that there is none."""
        if self.supervisor is not None and self.supervisor.state != "running":
            return WorkerReply(state=self.supervisor.state, message=self.supervisor.message or None)
        message = written.get("message")
        return WorkerReply(state=str(written.get("state", "starting")), message=str(message) if message else None)

    def progress(self) -> ProgressReply:
        """Return how much is done."""
        return ProgressReply.model_validate(self.project.answers.progress())

    def classes(self) -> list[ClassReply]:
        """Return the active classes in order."""
        return [ClassReply.model_validate(one, from_attributes=True) for one in self.project.classes.all()]

    def items(self, ids: Sequence[int], *, picks: Iterable[Pick] = (), guesses: bool = False) -> list[ItemReply]:
        """Return items as they are shown, in the order of `ids`, with why they were asked where `picks` says so."""
        chosen = {pick.item: pick for pick in picks}
        names = self.project.classes.names() if chosen else {}
        active = {one.id for one in self.project.classes.all()} if guesses else set[int]()
        predictions = self.predictions() if guesses else Predictions(None)
        replies = []
        for item in self.project.items.of(ids):
            reply = ItemReply(
                id=item.id,
                key=item.key,
                kind=self.kind,
                text=item.text,
                image=self.image_url(item.id),
                extra=finite(item.extra or {}),
                state=item.state,
                note=item.note,
                guess=guess_of(predictions, item.id, active),
            )
            pick = chosen.get(item.id)
            if pick is not None:
                reply.origin, reply.round, reply.reason = pick.origin, pick.round, reason_in_words(pick.reason, names)
            replies.append(reply)
        return replies

    def image_url(self, item: int) -> str | None:
        """Return where the image of an item is found, or None if the project has no images."""
        return f"/media/{item}" if self.kind == "image" else None


def _told(known: dict[str, dict[str, object]]) -> int:
    """Return the last event that the figures of an audit know of: pages read them again when it changes."""
    event = known.get("audit", {}).get("event", 0)
    return event if isinstance(event, int) else 0


def guess_of(predictions: Predictions, item: int, classes: Iterable[int]) -> Guess | None:
    """Return what the model takes an item for; None if it does not know, or for a class that is gone by now."""
    found = predictions.of(item)
    if found is None or found.class_id not in classes:
        return None
    return Guess(class_id=found.class_id, confidence=finite(found.confidence))
