from .export.write import write_export
from .store.browse import Filter, Row
from .store.predictions import Predictions
from .store.project import Project
from .store.records import (
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
from .store.task import ClassTask, Task, VerdictTask

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
    "write_export",
]
