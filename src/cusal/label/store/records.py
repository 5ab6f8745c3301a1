"""The records that go in and out of a project."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

STATES = ("ok", "missing", "broken")
ANSWERS = ("label", "skip", "unsure")
ORIGINS = ("random", "cold", "pick", "audit", "reserve")
ACTIONS = ("add", "edit", "merge", "reorder", "delete")


@dataclass(frozen=True)
class Settings:
    """What defines a project, all of it kept in its database.

    `data` is the path of the folder or table, `columns` says what the columns of a table are for (`text`, `label`,
    `key`: a name or None), `options` how the source was opened, so that the next start opens it alike. `budget` is the
    number of labels that the people plan to give, `overlap` the number of people who answer each item, `pool` the
    number of items that the model chooses among, `audit` the share of random checks.
    """

    title: str
    kind: str = "text"
    data: str = ""
    columns: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    batch: int = 10
    budget: int | None = None
    overlap: int = 1
    seed: int = 0
    audit: float = 0.1
    pool: int = 20_000
    model: str | None = None
    features: str | None = None


class NewItem(NamedTuple):
    """An item to be read in; `label` is the name of the class that the data already give it."""

    key: str
    text: str | None = None
    extra: dict[str, Any] | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a project; `id` is its position, `key` its relative path, its id or its row."""

    id: int
    key: str
    text: str | None
    extra: dict[str, Any] | None
    state: str
    note: str | None


@dataclass(frozen=True, slots=True)
class LabelClass:
    """A class that items can be labelled with; `labels` is the number of items that are."""

    id: int
    name: str
    place: int
    key: str | None
    colour: str
    description: str
    labels: int


@dataclass(frozen=True, slots=True)
class ClassChange:
    """One change of the classes, with the fields that its action needs.

    - "add": `name`, and any of `key`, `colour`, `description`
    - "edit": `class_id`, and any of `name`, `key`, `colour`, `description`; None leaves a field as it is, "" clears it
    - "merge": `class_id` becomes a part of `into`
    - "reorder": `order`, the ids of the active classes, first one first
    - "delete": `class_id`; its labels become those of `labels_to`, or, if that is None, its items are open again
    """

    uuid: str
    person: str
    action: str
    class_id: int | None = None
    name: str | None = None
    key: str | None = None
    colour: str | None = None
    description: str | None = None
    into: int | None = None
    order: tuple[int, ...] | None = None
    labels_to: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said of an item: "label" with a class, "skip" or "unsure"."""

    uuid: str
    item: int
    person: str
    kind: str = "label"
    class_id: int | None = None
    at: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether an answer is stored, also from an earlier attempt; `reason` says why one was refused."""

    uuid: str
    stored: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a person did; `undone` is the id of the event that undid it."""

    id: int
    uuid: str
    person: str
    at: float
    kind: str
    payload: dict[str, Any]
    undone: int | None = None


@dataclass(frozen=True, slots=True)
class Undone:
    """What was undone: the id and kind of the event, and the items whose answers changed."""

    event: int
    kind: str
    items: list[int]


@dataclass(frozen=True, slots=True)
class Changes:
    """What items are now, of those that events touched; `event` is the latest event that is counted in."""

    event: int
    labelled: dict[int, int]
    opened: list[int]
    skipped: list[int]


@dataclass(frozen=True, slots=True)
class Pick:
    """An item to ask about, where it came from and why; `round` is set on what the queue returns."""

    item: int
    origin: str
    reason: dict[str, Any] = field(default_factory=dict)
    round: int | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """A fit of the model: what it was fitted on, what it says, and the session after it."""

    round: int
    labels: int
    report: dict[str, Any]
    predictions: bytes | None = None
    session: bytes | None = None
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which items to list; None leaves a condition out.

    `label` and `prediction` are class ids, `confidence_low` and `confidence_high` bounds of the prediction's
    confidence, `person` somebody who answered, `kind` the kind of an answer ("label", "skip", "unsure") by anybody, or
    by `person`, `disagree` whether people disagree, `text` words to find in text or key, `labelled` whether there is a
    label. `order` is "id", "confidence" (least sure first), "recent" (latest label first) or "disagree" (those first).
    """

    label: int | None = None
    prediction: int | None = None
    confidence_low: float | None = None
    confidence_high: float | None = None
    person: str | None = None
    kind: str | None = None
    disagree: bool | None = None
    text: str | None = None
    labelled: bool | None = None
    order: str = "id"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a list of items: the item, its label, the model's prediction, who answered."""

    item: Item
    label: int | None
    prediction: int | None
    confidence: float | None
    people: tuple[str, ...]
    disagree: bool
