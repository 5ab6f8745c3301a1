"""Reading data into a project: what is new is added, what is gone is marked, and the status says how far it is."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cusal._types import Indices
from cusal.apps.label.sources.source import Source
from cusal.apps.label.store.project import Project
from cusal.apps.label.store.records import NewItem

CHUNK = 5_000
STATUS_SECONDS = 0.5
MISSING = {"image": "the file is not there any more", "row": "the row is not in the table any more"}
CHANGED = "its row has other content now, which is another item"


@dataclass(frozen=True)
class ReadIn:
    """What became of reading.

    Parameters
    ----------
    added, missing, back, changed : int
        Items that were added, that are missing now, that are there again, and that were broken and have other files
        now.
    edited : int
        Rows of a table that have other content under their id: former items are set aside, and new ones added.
    again : bool
        Whether the project had been read in to its end before.
    finished : bool
        Whether all was read.
    notes : list of str
        What was passed over, in plain sentences.
    """

    added: int = 0
    missing: int = 0
    back: int = 0
    changed: int = 0
    edited: int = 0
    again: bool = False
    finished: bool = True
    notes: list[str] = field(default_factory=list)


def read_in(project: Project, source: Source, *, limit: int | None = None) -> ReadIn:
    """Add the items of a source that a project does not have yet, and known labels.

    Called again after it was stopped, or when the data have changed, it adds what is missing. Files and rows that are
    gone are marked "missing", and "ok" when they return, as are broken files that were changed since the last reading.
    A row with an id whose content has changed is a new item, asked again; the former keeps its answers and is set
    aside. The status "items" holds `done`, `total` (None while it is not known), `finished`, and `notes`.

    Parameters
    ----------
    project : Project
        Where to add.
    source : Source
        What to read.
    limit : int, optional
        Stop after this many rows; by default, read to the end. A table that was read to the end and has not changed
        since is not read again.

    Returns
    -------
    ReadIn
    """
    fingerprint = source.fingerprint()
    if fingerprint is not None and _is_read(project, fingerprint):
        project.answers.import_labels(source.known_labels)
        return ReadIn(notes=source.notes())
    rows, added, edited, said = source.rows(), 0, 0, 0.0
    status = project.status.all().get("items", {})
    before, again = float(status.get("at", 0.0)), bool(status.get("finished"))
    first, present, done = project.items.count(), _Present(), 0
    while chunk := list(islice(rows, CHUNK if limit is None else min(CHUNK, limit - done))):
        if first:
            known = project.items.find(row.key for row in chunk)
            former = _edited(project, source, chunk, known)
            edited += len(former)
            present.add(set(known.values()) - set(former))
        added += project.items.add(chunk)
        done += len(chunk)
        if time.monotonic() > said + STATUS_SECONDS:
            said = time.monotonic()
            _say(project, source, done)
    more = [] if limit is None else list(islice(rows, 1))
    if more:
        _say(project, source, done)
        return ReadIn(added - edited, edited=edited, again=again, finished=False, notes=source.notes())
    project.answers.import_labels(source.known_labels)
    present.add(range(first, first + added))
    missing, back = _mark(project, present, source.kind if source.kind == "image" else "row")
    changed = _try_again(project, since=before) if source.kind == "image" else 0
    value = {"done": done, "total": done, "finished": True, "fingerprint": fingerprint}
    project.status.set("items", value | {"notes": source.notes()})
    return ReadIn(added - edited, missing, back, changed, edited, again, notes=source.notes())


def _edited(project: Project, source: Source, rows: Sequence[NewItem], known: dict[str, int]) -> list[int]:
    """Set items aside whose rows have changed under their ids, and return them."""
    met = [row for row in rows if row.key in known]
    items = project.items.of(known[row.key] for row in met)
    edited = [item.id for item, row in zip(items, met, strict=True) if source.is_changed(item, row)]
    project.items.retire(edited, CHANGED)
    return edited


class _Present:
    """Which items were found, one bit for each."""

    def __init__(self) -> None:
        self._found = np.zeros(0, bool)

    def add(self, ids: Iterable[int]) -> None:
        numbers = np.fromiter(ids, np.int64)
        if len(numbers):
            more = int(numbers.max()) + 1 - len(self._found)
            self._found = np.pad(self._found, (0, max(more, 0)))
            self._found[numbers] = True

    def holds(self, ids: Indices) -> NDArray[np.bool_]:
        known = ids < len(self._found)
        known[known] = self._found[ids[known]]
        return known


def _mark(project: Project, present: _Present, kind: str) -> tuple[int, int]:
    here, gone = project.items.ids("ok"), project.items.ids("missing")
    missing, back = here[~present.holds(here)], gone[present.holds(gone)]
    project.items.mark_many(missing.tolist(), "missing", MISSING[kind])
    project.items.mark_many(back.tolist(), "ok")
    return len(missing), len(back)


def _try_again(project: Project, *, since: float) -> int:
    """Mark broken items as usable whose files were changed; one that is still broken is found out once more."""
    folder = project.settings.folder
    broken = project.items.of(project.items.ids("broken").tolist())
    changed = [item.id for item in broken if _changed_at(folder / item.file) >= since]
    project.items.mark_many(changed, "ok")
    return len(changed)


def _changed_at(path: Path) -> float:
    """Return when a file was last written or put in its place, in seconds since 1970; 0 where there is none."""
    try:
        state = path.stat()
    except (OSError, ValueError):
        return 0.0
    return max(state.st_mtime, state.st_ctime)


def _is_read(project: Project, fingerprint: list[object]) -> bool:
    said = project.status.all().get("items", {})
    return bool(said.get("finished")) and said.get("fingerprint") == fingerprint


def _say(project: Project, source: Source, done: int) -> None:
    share = source.share
    total = round(done / share) if share else None
    project.status.set("items", {"done": done, "total": total, "finished": False})
