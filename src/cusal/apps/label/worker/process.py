"""The main loop of the worker: it listens, computes vectors beside it, and makes a round when one is due."""

import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cusal._types import Indices
from cusal.apps.label.sources import read_in, source_of
from cusal.apps.label.store.project import Project
from cusal.apps.label.store.validation import in_one_line
from cusal.apps.label.worker.first_queue import FirstQueue
from cusal.apps.label.worker.learning import Learning
from cusal.apps.label.worker.pool import Places, choose_items, find_newcomers
from cusal.apps.label.worker.saved import Saved, read_saved
from cusal.apps.label.worker.vectors import Maker, makers_of
from cusal.features import ImageVectors, VectorisedItems, stacked


@dataclass(frozen=True)
class Finished:
    """A job that ended: its name, and what it returned, or the error that it raised."""

    name: str
    value: Any = None
    error: Exception | None = None


class Background:
    """Jobs that run one after the other beside the main thread.

    >>> background = Background()
    >>> background.start("sum", lambda: 1 + 1)
    >>> background.wait().value, background.busy
    (2, False)
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[str, Callable[[], Any]]] = queue.SimpleQueue()
        self._finished: queue.SimpleQueue[Finished] = queue.SimpleQueue()
        self._open = 0
        # It ends with the process: nothing that it does is lost, since it is kept chunk by chunk.
        threading.Thread(target=self._run, name="background", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether there are jobs whose end was not collected."""
        return self._open > 0

    def start(self, name: str, job: Callable[[], Any]) -> None:
        """Run a job after those that were started before."""
        self._open += 1
        self._jobs.put((name, job))

    def collect(self) -> Finished | None:
        """Return a job that ended, or None."""
        try:
            finished = self._finished.get_nowait()
        except queue.Empty:
            return None
        self._open -= 1
        return finished

    def wait(self) -> Finished:
        """Return the next job that ends."""
        finished = self._finished.get()
        self._open -= 1
        return finished

    def _run(self) -> None:
        while True:
            name, job = self._jobs.get()
            try:
                self._finished.put(Finished(name, job()))
            except Exception as error:  # code of users runs here; what it raises is shown, and labelling continues
                self._finished.put(Finished(name, error=error))


TICK = 0.25  # seconds between looks at the project
BEAT = 5.0  # seconds between signs of life
LOOK = 2.0  # seconds between looks for new items
NOTE = 0.5  # seconds between notes on progress
FIRST = 500  # items with which learning starts, where vectors take long and each stands for itself
NEXT = 1500  # that join then; later ones double what is there


class Worker:
    """What computes for a project until it is ended.

    Parameters
    ----------
    project : Project
        The database through which it is told everything, and says everything.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.background = Background()
        self.first_queue = FirstQueue(project)
        found = project.rounds.last()
        self.saved = read_saved(found.session if found else None)
        self.learning = Learning(project, self.saved)
        self.maker: Maker | None = None  # of the vectors in use
        self.coming: list[Maker] = []  # those whose vectors are still to come, the first of them under way
        self.ready = False  # whether all items were read in and vectors were asked for
        self.read = False  # whether the data were read in to their end
        self.broken: str | None = None  # why there are no vectors, or fewer items
        self._items, self._looked, self._beaten = 0, 0.0, 0.0
        self._said: tuple[str, str] = ("", "")

    def run(self) -> None:
        """Work for ever."""
        self.say("starting")
        while True:
            if not self.step():
                time.sleep(TICK)

    def step(self) -> bool:
        """Do what is due; return whether there was anything."""
        finished = self.background.collect()
        if finished is not None:
            self._take(finished)
        if not self.ready:
            self._prepare()
        heard = self.learning.news.hear(self.project)
        if self.learning.session is None:
            if self.saved is None or self.broken:
                self.first_queue.keep_filled()
        elif heard or finished or self.learning.stale:
            settings = self.project.settings
            if self.learning.due(settings.batch):
                self.learning.round(settings, partial(self.say, "working"))
        self._look_for_items()
        trouble = self.learning.trouble or self.broken
        doing = "" if not self.background.busy else "Computing features" if self.ready else "Reading the data"
        self.say("trouble" if trouble else "working" if doing else "idle", trouble or doing)
        return finished is not None

    def say(self, state: str, message: str = "") -> None:
        """Write what the worker does, if it is something else than before or was written long ago."""
        now = time.monotonic()
        if (state, message) != self._said or now - self._beaten >= BEAT:
            value = {"pid": os.getpid(), "state": state, "message": message, "beat": time.time()}
            self.project.status.set("worker", value)
            self._said, self._beaten = (state, message), now

    # Vectors.

    def _prepare(self) -> None:
        """Read in what the command left of the data; then start the first vectors, if there are items."""
        if self.background.busy:
            return
        if not self.read:
            self.read = True
            if not self.project.status.all().get("items", {}).get("finished", True):
                self.background.start("items", partial(read_rest, self.project))
                return
        if self.project.items.count("ok") == 0:
            return
        self.ready = True
        # A session that continues looks for items once: files that it found broken may be usable by now.
        self._items = self.project.items.count() if self.saved is None else 0
        try:
            self.coming = makers_of(self.project, self.project.settings)
        except Exception as error:  # also what a module of the user's raises
            self._give_up(error)
            return
        if self.saved is not None and self._resume(self.saved):
            return
        self.saved = self.learning.saved = None
        in_parts = len(self.coming) == 1 and self.coming[0].in_parts
        if in_parts:
            self._items = 0  # the others join
        self._start("vectors", self.coming[0], choose_items(self.project, FIRST if in_parts else None))

    def _resume(self, saved: Saved) -> bool:
        """Start the vectors of a saved session; return False if they are of another kind than is asked for now."""
        for place, maker in enumerate(self.coming):
            if isinstance(maker.vectoriser, ImageVectors) and saved.vectors.startswith(f"{maker.name}-"):
                maker.vectoriser.side = int(saved.vectors.rpartition("-")[2])
            if maker.name == saved.vectors:
                self.coming = self.coming[place:]
                note = self._noting(maker, len(saved.ids))
                self.background.start("vectors", partial(remake_vectors, maker, saved, note))
                return True
        return False

    def _start(self, job: str, maker: Maker, ids: Indices) -> None:
        self.background.start(job, partial(make_vectors, maker, ids, self._noting(maker, len(ids))))

    def _take(self, finished: Finished) -> None:
        """Use what the background computed."""
        if finished.error is not None:
            if finished.name == "vectors":
                self._give_up(finished.error)
            elif finished.name == "items":
                self.broken = f"The data cannot be read to their end: {in_one_line(finished.error)}"
            else:  # new items stay outside until there are others
                self._items = self.project.items.count()
                self.learning.news.forget_outside([], self.learning.places)
                self._note_error(finished.error)
            return
        if finished.name == "items":
            return
        ids, matrix = finished.value
        if finished.name == "join":
            if len(ids):
                self.learning.join(ids, matrix)
                self._looked = 0.0
        elif len(ids) == 0:
            self.broken = "None of the items could be read; see the list of broken ones."
        else:
            self.maker = self.coming.pop(0)
            self.learning.begin(Places(ids), matrix, self.maker.name)
            if self.coming:
                self._start("vectors", self.coming[0], ids)

    def _give_up(self, error: Exception) -> None:
        """Continue without the vectors that failed: on those that are there, or with a queue in random order."""
        message = self._note_error(error)
        if self.learning.session is None:
            self.broken = message
        self.coming = []

    def _note_error(self, error: Exception) -> str:
        message = f"Features cannot be computed: {in_one_line(error)}"
        self.project.status.set("features", {"name": "", "done": 0, "total": 0, "error": message})
        return message

    def _look_for_items(self) -> None:
        """Add items that came in later, or that were labelled outside the sample."""
        waits = self.background.busy or self.maker is None or self.coming
        if waits or time.monotonic() - self._looked < LOOK:
            return
        self._looked = time.monotonic()
        items = self.project.items.count()
        outside = any(item not in self.learning.places for item in self.learning.news.waiting)
        if items == self._items and not outside:
            return
        most = max(NEXT, len(self.learning.places))
        ids = find_newcomers(self.project, self.learning.places, most)
        self._items = items if len(ids) < most else 0  # look again if there may be more
        self.learning.news.forget_outside(ids, self.learning.places)
        if len(ids) and self.maker is not None:
            self._start("join", self.maker, ids)

    def _noting(self, maker: Maker, total: int) -> Callable[[int], None]:
        """Return what counts finished items in the project's status, now and then."""
        done, noted = 0, 0.0

        def note(more: int) -> None:
            nonlocal done, noted
            done += more
            if time.monotonic() - noted >= NOTE or done >= total:
                noted = time.monotonic()
                self.project.status.set("features", {"name": maker.name, "done": done, "total": total})

        note(0)
        return note


def read_rest(project: Project) -> None:
    """Read in the rest of a large table or folder."""
    read_in(project, source_of(project))


def make_vectors(maker: Maker, ids: Indices, note: Callable[[int], None]) -> tuple[Indices, Any]:
    """Return the items that have vectors, and these."""
    made = maker.vectors(ids, note)
    return ids[made.rows], made.matrix


def remake_vectors(maker: Maker, saved: Saved, note: Callable[[int], None]) -> tuple[Indices, Any]:
    """Return the vectors of all items of a saved session, learned from those that they were learned from then."""
    parts = [some for some in (saved.ids[: saved.fitted], saved.ids[saved.fitted :]) if len(some)]
    return saved.ids, stacked([_filled(maker.vectors(ids, note), len(ids)) for ids in parts])


def _filled(found: VectorisedItems, count: int) -> Any:
    """Return the matrix of all items, with zeros for those that have none."""
    if len(found.rows) == count:
        return found.matrix
    filled = np.zeros((count, found.matrix.shape[1]), dtype=found.matrix.dtype)
    filled[found.rows] = found.matrix
    return filled
