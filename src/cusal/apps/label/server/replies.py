"""What the server answers: items, classes, outcomes, rows and where things stand."""

import math
from typing import Any, Literal

from pydantic import Field

from cusal.apps.label.server.fields import Reply
from cusal.apps.label.store.task import KindOfTask


def finite(value: Any) -> Any:
    """Return a value of JSON with None in place of numbers that JSON does not have.

    >>> finite({"ece": float("nan"), "counts": [1, float("inf")]})
    {'ece': None, 'counts': [1, None]}
    """
    if isinstance(value, dict):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class WorkerReply(Reply):
    """What the worker does: "starting", "idle", "working", "restarting", "stopped" and the like."""

    state: str
    message: str | None = None


class FeaturesReply(Reply):
    """How many items have vectors, of those that get them."""

    name: str = ""
    done: int = 0
    total: int = 0


class ItemsReply(Reply):
    """How many items were read in; the total is not known while a table is read."""

    done: int = 0
    total: int | None = None
    finished: bool = True


class StatusReply(Reply):
    """Where things stand; cheap enough to be asked every two seconds by everybody."""

    worker: WorkerReply
    features: FeaturesReply | None = None
    items: ItemsReply
    round: int = 0
    labels_seen: int = 0
    queue: int = 0
    event: int = 0


class ClassReply(Reply):
    """A class, with how many items have it."""

    id: int
    name: str
    key: str | None = None
    colour: str
    description: str
    labels: int


class ProgressReply(Reply):
    """How much is done."""

    items: int
    aside: int = 0
    labelled: int
    skipped: int
    unsure: int
    budget: int | None = None
    by_person: dict[str, int]


class SettingsReply(Reply):
    """Settings that the pages need."""

    batch: int
    budget: int | None
    overlap: int


class ProjectReply(Reply):
    """Everything that a page needs when it opens; `id` stays the same whenever the project is served.

    task: what people do, give items classes or judge given predictions. wrong: of verdicts, the class that says "wrong"
    and no more; null where people label.
    """

    id: str
    title: str
    kind: str
    items: int
    classes: list[ClassReply]
    progress: ProgressReply
    settings: SettingsReply
    status: StatusReply
    task: KindOfTask
    wrong: int | None = None


class Guess(Reply):
    """What the model takes an item for; in an audit its confidence may be missing."""

    class_id: int = Field(serialization_alias="class")
    confidence: float | None


class ItemReply(Reply):
    """An item as it is shown, with why it was asked."""

    id: int
    key: str
    kind: str
    text: str | None = None
    image: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
    state: str = "ok"
    note: str | None = None
    origin: str | None = None
    round: int | None = None
    reason: str | None = None
    guess: Guess | None = None


class NextReply(Reply):
    """The items to label next."""

    items: list[ItemReply]
    status: StatusReply


class OutcomeReply(Reply):
    """What became of one answer."""

    id: str
    stored: bool
    reason: str | None = None


class AnswersReply(Reply):
    """What became of the answers."""

    outcomes: list[OutcomeReply]
    progress: ProgressReply
    status: StatusReply


class UndoneReply(Reply):
    """What was undone; `words` say it where the classes are concerned."""

    kind: str
    words: str | None = None
    items: list[ItemReply]


class UndoReply(Reply):
    """What was undone, or None if there was nothing left to undo."""

    undone: UndoneReply | None
    progress: ProgressReply


class GivenAnswer(Reply):
    """An answer that somebody gave."""

    item: int
    person: str
    kind: str
    class_id: int | None = Field(None, serialization_alias="class")
    at: float
    seconds: float | None = None


class ItemDetails(ItemReply):
    """An item with all that is known about it."""

    answers: list[GivenAnswer]
    label: int | None = None
    prediction: Guess | None = None


class HistoryReply(Reply):
    """A person's answers, newest first."""

    answers: list[GivenAnswer]


class RowReply(Reply):
    """An item in a list; `columns` are the first of a table without texts, `note` why an item was set aside."""

    id: int
    key: str
    text: str | None = None
    columns: dict[str, Any] = Field(default_factory=dict)
    image: str | None = None
    label: int | None = None
    prediction: int | None = None
    confidence: float | None = None
    people: list[str] = Field(default_factory=list)
    kind: str | None = None
    disagree: bool = False
    state: str = "ok"
    note: str | None = None


class BrowseReply(Reply):
    """A page of rows; `next` is the value of `after` for the following page."""

    rows: list[RowReply]
    next: int | None = None
    total: int


class LabelsReply(Reply):
    """What a change of many labels led to."""

    changed: int
    progress: ProgressReply


class GuessesReply(Reply):
    """Open items that the model takes for one class, surest first."""

    class_id: int | None = Field(serialization_alias="class")
    items: list[ItemReply]


class ClassesReply(Reply):
    """The classes, in order."""

    classes: list[ClassReply]


class ReportReply(Reply):
    """What the worker found in the last round, how that changed, and how people agree."""

    report: dict[str, Any] | None
    curves: list[dict[str, Any]]
    progress: ProgressReply
    agreement: dict[str, Any]
    status: StatusReply


class ExportFile(Reply):
    """A file that was written by an export."""

    name: str
    size: int
    at: float


class JobReply(Reply):
    """An export under way."""

    job: str
    state: Literal["running", "done", "failed"]
    message: str | None = None
