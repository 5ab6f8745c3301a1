"""What callers send: the bodies of the calls that change something."""

from typing import Annotated, Literal

from pydantic import Field

from cusal.apps.label.server.fields import WHOLE, AnswerKind, Call, Colour, Id, Key, Name, Person, Prose, Seconds, Uuid


class AnswerCall(Call):
    """A person's answer to one item."""

    id: Uuid
    item: Id
    kind: AnswerKind = "label"
    class_id: Id | None = Field(None, alias="class")
    seconds: Seconds | None = None


class AnswersCall(Call):
    """Answers in the order in which they were given."""

    person: Person = "me"
    answers: Annotated[list[AnswerCall], Field(max_length=500)]


class UndoCall(Call):
    """The wish to undo the latest thing that the person did; `of` leaves the rest alone."""

    id: Uuid
    person: Person = "me"
    of: Literal["labels", "classes"] | None = None


class LabelsCall(Call):
    """One label for many items, or none."""

    id: Uuid
    person: Person = "me"
    items: Annotated[list[Id], Field(min_length=1, max_length=10_000)]
    class_id: Id | None = Field(alias="class")


class ReleaseCall(Call):
    """Items that a person was given and will not answer now."""

    person: Person = "me"
    items: Annotated[list[Id], Field(max_length=1000)]


class ClassesCall(Call):
    """A change of the classes.

    add: name, and key, colour and description if wanted. edit: class and what changes. merge: class and into.
    reorder: order, the ids of all classes. delete: class, and labels_to, the class that takes its labels (or none: its
    items are open again).
    """

    id: Uuid
    person: Person = "me"
    action: Literal["add", "edit", "merge", "reorder", "delete"]
    class_id: Id | None = Field(None, alias="class")
    name: Name | None = None
    key: Key | None = None
    colour: Colour | None = None
    description: Prose | None = None
    into: Id | None = None
    labels_to: Id | None = None
    order: Annotated[list[Id], Field(max_length=10_000)] | None = None


class SettingsCall(Call):
    """Settings that may change while people label; those left out stay. A budget of null is none."""

    person: Person = "me"
    title: Name | None = None
    batch: Annotated[int, Field(ge=1, le=1000), WHOLE] | None = None
    budget: Annotated[int, Field(ge=1, le=2**31 - 1), WHOLE] | None = None
    overlap: Annotated[int, Field(ge=1, le=100), WHOLE] | None = None


class ExportsCall(Call):
    """The formats to write."""

    formats: Annotated[list[Annotated[str, Field(pattern=r"^[a-z]{1,20}$")]], Field(min_length=1, max_length=20)]
