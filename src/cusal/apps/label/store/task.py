"""What people do in a project: they give items classes, or judge the predictions that they were given.

Whatever depends on it is asked of the task by name, so that another kind of work is another class here, and a line
in `Settings.task`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

KindOfTask = Literal["classes", "verdicts"]


class Task(ABC):
    """What people do in a project, as `project.task` says it: a `ClassTask` or a `VerdictTask`.

    Attributes
    ----------
    name : str
        "classes" or "verdicts"; the pages and their calls know it by that.
    verb, noun, participle : str
        What people do, what they give, and what the items then are: "Label", "label", "labelled".
    learns : bool
        Whether a model learns from the answers, in rounds, and says what to ask. If not, the only round came with the
        data, and so did the order.
    shows_predictions : bool
        Whether each item is shown with its prediction, which people call right or wrong.
    progress_page : str
        The template of the Progress page.
    wrong_class : int or None
        The class that says "wrong" and no more, where people judge predictions.

    Examples
    --------
    >>> from cusal.apps.label import Settings
    >>> task = Settings("Pets", wrong_class=2).task
    >>> task.name, task.learns, f"3 {task.noun}s"
    ('verdicts', False, '3 checks')
    """

    name: ClassVar[KindOfTask]
    verb: ClassVar[str]
    noun: ClassVar[str]
    participle: ClassVar[str]
    learns: ClassVar[bool]
    shows_predictions: ClassVar[bool]
    progress_page: ClassVar[str]
    wrong_class: int | None

    @abstractmethod
    def done(self, progress: Mapping[str, Any]) -> int:
        """Return how many items need nobody any more, of what `project.answers.progress()` returns."""

    @abstractmethod
    def fixes(self, class_id: int) -> bool:
        """Return whether a class keeps its name and its items."""

    @abstractmethod
    def image_folder(self, data: str) -> Path:
        """Return the folder that the paths of images start from, for the path of the data."""

    @abstractmethod
    def in_reserve(self, top: int, second: int) -> tuple[str, dict[str, Any]]:
        """Return the origin of an item that is asked when the queue runs dry, and why, by its two likeliest classes."""


@dataclass(frozen=True)
class ClassTask(Task):
    """People give each item a class, and a model learns from them.

    Examples
    --------
    >>> ClassTask().done({"labelled": 7, "skipped": 2, "unsure": 1})
    7
    """

    name = "classes"
    verb, noun, participle = "Label", "label", "labelled"
    learns, shows_predictions = True, False
    progress_page = "progress"
    wrong_class = None

    def done(self, progress: Mapping[str, Any]) -> int:
        """Return how many items have a label."""
        return int(progress["labelled"])

    def fixes(self, class_id: int) -> bool:
        """Return False: classes are the people's own."""
        return False

    def image_folder(self, data: str) -> Path:
        """Return the data themselves: a folder."""
        return Path(data)

    def in_reserve(self, top: int, second: int) -> tuple[str, dict[str, Any]]:
        """Return the reserve, between two classes."""
        return "reserve", {"kind": "reserve", "classes": [top, second]}


@dataclass(frozen=True)
class VerdictTask(Task):
    """People say whether given predictions are right, in the order of an audit.

    Parameters
    ----------
    wrong_class : int
        The class that says "wrong" and no more; those below it are the predicted ones.

    Examples
    --------
    >>> VerdictTask(2).done({"labelled": 7, "skipped": 2, "unsure": 1})
    10
    """

    wrong_class: int

    name = "verdicts"
    verb, noun, participle = "Check", "check", "checked"
    learns, shows_predictions = False, True
    progress_page = "audit"

    def done(self, progress: Mapping[str, Any]) -> int:
        """Return how many items have any answer: that nobody can tell is one."""
        return int(progress["labelled"] + progress["skipped"] + progress["unsure"])

    def fixes(self, class_id: int) -> bool:
        """Return whether a class was predicted, or says "wrong": another name would turn verdicts around."""
        return class_id <= self.wrong_class

    def image_folder(self, data: str) -> Path:
        """Return the folder of the table of predictions."""
        return Path(data).parent

    def in_reserve(self, top: int, second: int) -> tuple[str, dict[str, Any]]:
        """Return the next place in the order, which nothing changes."""
        return "audit", {"kind": "audit"}
