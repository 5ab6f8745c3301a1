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

__all__ = [
    "Answer",
    "Changes",
    "ClassChange",
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
    "Undone",
    "write_export",
]
