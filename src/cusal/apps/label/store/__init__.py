"""A labelling project in one database: an SQLite file beside the data by default, PostgreSQL by URL."""

from cusal.errors import MissingExtra

try:
    import sqlalchemy  # noqa: F401 - everything here needs it
except ImportError as error:
    raise MissingExtra("a labelling project", "label") from error

from cusal.apps.label.store.browse import Filter, Row
from cusal.apps.label.store.predictions import Predictions
from cusal.apps.label.store.project import Project
from cusal.apps.label.store.records import (
    Answer,
    Changes,
    ClassChange,
    Event,
    Item,
    LabelClass,
    NewItem,
    Outcome,
    Pick,
    Round,
    Settings,
    Undone,
)
from cusal.apps.label.store.task import ClassTask, Task, VerdictTask

__all__ = [
    "Answer",
    "Changes",
    "ClassChange",
    "ClassTask",
    "Event",
    "Filter",
    "Item",
    "LabelClass",
    "NewItem",
    "Outcome",
    "Pick",
    "Predictions",
    "Project",
    "Round",
    "Row",
    "Settings",
    "Task",
    "Undone",
    "VerdictTask",
]
