"""The records that go in and out of a project."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cusal.apps.label.store.task import ClassTask, Task, VerdictTask

STATES = ("ok", "missing", "broken")
ANSWERS = ("label", "skip", "unsure")
ORIGINS = ("random", "cold", "pick", "audit", "reserve")
ACTIONS = ("add", "edit", "merge", "reorder", "delete")


@dataclass(frozen=True)
class Settings:
    """What defines a project, all of it kept in its database.

    Parameters
    ----------
    title : str
        What the pages call it.
    kind : str
        "image", "text" or "table" (rows of features).
    data : str
        The path of the folder or table.
    columns : dict
        What the columns of a table are for: `text`, `label` and `key`, each a name or None, and the `others`.
    options : dict
        How the source was opened, so that the next start opens it alike.
    batch : int
        Labels between two fits of the model.
    budget : int or None
        The number of labels that the people plan to give.
    overlap : int
        The number of people who answer each item.
    seed : int
        Of every random choice.
    audit : float
        The share of items that are asked as random checks.
    pool : int
        The number of items that the model chooses among.
    model, features : str or None
        A model or features of the user's own, by name or file.
    wrong_class : int or None
        In an audit of predictions, the class that says "wrong" and no more; classes up to it are the predicted ones.
        None where people label.

    Examples
    --------
    >>> from cusal.apps.label import Settings
    >>> Settings("Pets", kind="image", data="/data/pets", budget=300).batch
    10
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
    wrong_class: int | None = None

    @property
    def task(self) -> Task:
        """What people do in the project."""
        return ClassTask() if self.wrong_class is None else VerdictTask(self.wrong_class)

    @property
    def folder(self) -> Path:
        """The folder that the paths of images start from."""
        return self.task.image_folder(self.data)


class NewItem(NamedTuple):
    """An item to be read in.

    Parameters
    ----------
    key : str
        What the data know it by: the relative path of an image, the id of a row, or the hash of what it holds.
    text : str or None
        The text to label.
    extra : dict or None
        The other columns of its row.
    label : str or None
        The name of the class that the data already give it.
    """

    key: str
    text: str | None = None
    extra: dict[str, Any] | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a project.

    Parameters
    ----------
    id : int
        Its position among all items.
    key : str
        Its relative path, its id, or the hash of what its row holds.
    text : str or None
        The text to label.
    extra : dict or None
        The other columns of its row.
    state : str
        "ok", "missing" or "broken".
    note : str or None
        Why it is set aside.
    """

    id: int
    key: str
    text: str | None
    extra: dict[str, Any] | None
    state: str
    note: str | None

    @property
    def file(self) -> str:
        """The path of its image; a row of a table of predictions has it as its text."""
        return self.text or self.key


@dataclass(frozen=True, slots=True)
class LabelClass:
    """A class that items can be labelled with.

    Parameters
    ----------
    id : int
        Its number, which no other class ever has.
    name : str
        What people call it.
    place : int
        Its place in the list.
    key : str or None
        The key that people chose for it.
    colour : str
        As #rrggbb.
    description : str
        What annotators are shown.
    labels : int
        The number of items with this label.
    """

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

    Parameters
    ----------
    uuid, person : str
        The id of the change, and who makes it.
    action : str
        "add", "edit", "merge", "reorder" or "delete".
    class_id : int, optional
        The class to edit, to merge into another, or to delete.
    name, key, colour, description : str, optional
        To add or to edit. None leaves a field as it is; "" clears a key or description.
    into : int, optional
        The class that a merged one becomes a part of.
    order : tuple of int, optional
        The ids of the active classes, first one first, to reorder them.
    labels_to : int, optional
        The class that the labels of a deleted one go to. With None, its items are open again.

    Examples
    --------
    >>> from cusal.apps.label import ClassChange
    >>> ClassChange("7c1f", "me", "merge", class_id=3, into=1).action
    'merge'
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
    """What a person said of an item.

    Parameters
    ----------
    uuid : str
        The id of the answer, made by whoever sends it; an answer is stored once by it.
    item : int
        The id of the item.
    person : str
        Who answered.
    kind : str
        "label", "skip" or "unsure".
    class_id : int or None
        The class of a label.
    at : float or None
        When, in seconds since 1970; None for now.
    seconds : float or None
        How long the person looked.

    Examples
    --------
    >>> from cusal.apps.label import Answer
    >>> Answer("5b2e", item=17, person="ann", class_id=0).kind
    'label'
    """

    uuid: str
    item: int
    person: str
    kind: str = "label"
    class_id: int | None = None
    at: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether an answer is stored.

    Parameters
    ----------
    uuid : str
        Of the answer.
    stored : bool
        True also if it was stored by an earlier attempt.
    reason : str or None
        Why it was refused.
    """

    uuid: str
    stored: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a person did.

    Parameters
    ----------
    id : int
        Its number; events are numbered in order from 1.
    uuid, person : str
        Its id from outside, and who did it.
    at : float
        When, in seconds since 1970.
    kind : str
        "answer", "labels" (many at once), "class", "undo" or "import".
    payload : dict
        What was done, and what was there before.
    undone : int or None
        The number of the event that undid it.
    """

    id: int
    uuid: str
    person: str
    at: float
    kind: str
    payload: dict[str, Any]
    undone: int | None = None


@dataclass(frozen=True, slots=True)
class Undone:
    """What was undone.

    Parameters
    ----------
    event : int
        The number of the event.
    kind : str
        Its kind.
    items : list of int
        The items whose answers it had changed.
    action, class_id : str or None, int or None
        Of a change of the classes: what it did ("add", "edit", "merge", "reorder", "delete"), and to which class.
    """

    event: int
    kind: str
    items: list[int]
    action: str | None = None
    class_id: int | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What items are now, of those that events touched.

    Parameters
    ----------
    event : int
        The number of the latest event that is counted in.
    labelled : dict of int to int
        Class ids of the items that have a label.
    opened : list of int
        Items without any answer.
    skipped : list of int
        Items that people passed over and nobody labelled.
    """

    event: int
    labelled: dict[int, int]
    opened: list[int]
    skipped: list[int]


@dataclass(frozen=True, slots=True)
class Pick:
    """An item to ask about.

    Parameters
    ----------
    item : int
        The id of the item.
    origin : str
        "random", "cold", "pick", "audit" or "reserve".
    reason : dict
        Why it is asked.
    round : int or None
        The round that chose it; set on what the queue returns.
    """

    item: int
    origin: str
    reason: dict[str, Any] = field(default_factory=dict)
    round: int | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """A fit of the model.

    Parameters
    ----------
    round : int
        Its number.
    labels : int
        How many labels it was fitted on.
    report : dict
        What it says about itself.
    predictions : bytes or None
        What it says about items, see `Predictions`.
    session : bytes or None
        The session after it.
    at : float or None
        When, in seconds since 1970; None for now.
    """

    round: int
    labels: int
    report: dict[str, Any]
    predictions: bytes | None = None
    session: bytes | None = None
    at: float | None = None
