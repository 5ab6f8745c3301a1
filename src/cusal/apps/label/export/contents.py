"""What an export consists of: labelled items with all their answers, and the predictions of the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cusal._types import Floats
from cusal.apps.label.store.records import Item, LabelClass, Settings


class NamedAnswer(NamedTuple):
    """What a person said of an item, by the name of the class; None for "skip" and "unsure"."""

    person: str
    kind: str
    label: str | None
    at: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class AnsweredItem:
    """An item that somebody answered; `label` is what the answers come to, None if nobody labelled it."""

    item: Item
    label: str | None
    disagree: bool
    answers: tuple[NamedAnswer, ...]

    @property
    def people(self) -> list[str]:
        """Who labelled the item, each once."""
        return list(dict.fromkeys(answer.person for answer in self.answers if answer.kind == "label"))

    @property
    def at(self) -> float | None:
        """When it got its latest label."""
        times = [answer.at for answer in self.answers if answer.kind == "label" and answer.at is not None]
        return max(times, default=None)


@dataclass(frozen=True, slots=True)
class Predicted:
    """Calibrated probabilities (items, classes) of items without a label."""

    items: Sequence[Item]
    probs: Floats


@dataclass(frozen=True, slots=True)
class Overview:
    """What a format knows before the first item: the project, its classes, and those that the model predicts.

    `predicted` is None where there is no model. `model` names it in a word. `rows` are the numbers of rows without
    ids in the table as it is now, by their keys.
    """

    settings: Settings
    classes: tuple[LabelClass, ...]
    predicted: tuple[str, ...] | None
    model: str
    rows: Mapping[str, int] | None = None
