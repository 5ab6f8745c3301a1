"""What an export consists of: labelled items with all their answers, and the predictions of the others."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cusal._types import Floats, Indices
from cusal.apps.label.store.project import Project
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


CHUNK = 2000  # items that are read together


def answered_items(project: Project, labels: Mapping[int, int]) -> Iterator[list[AnsweredItem]]:
    """Yield the items that somebody answered, in order; `labels` are the resolved ones, class ids by item."""
    names = {one.id: one.name for one in project.classes.all()}
    said: dict[int, list[NamedAnswer]] = defaultdict(list)
    for answer in project.answers.given():
        label = None if answer.class_id is None else names.get(answer.class_id)
        said[answer.item].append(NamedAnswer(answer.person, answer.kind, label, answer.at, answer.seconds))
    for ids in chunks(np.array(sorted(said), dtype=np.int64)):
        yield [
            AnsweredItem(item, names.get(labels.get(item.id, -1)), _disagree(said[item.id]), tuple(said[item.id]))
            for item in project.items.of(ids.tolist())
        ]


def open_items(project: Project, labels: Mapping[int, int]) -> Indices:
    """Return the ids of the items that can be predicted and have no label."""
    return np.setdiff1d(project.items.ids("ok"), np.fromiter(labels, dtype=np.int64, count=len(labels)))


def chunks(ids: Indices) -> list[Indices]:
    """Return the ids in parts of at most 2,000."""
    return np.split(ids, range(CHUNK, len(ids), CHUNK)) if len(ids) else []


def _disagree(answers: Iterable[NamedAnswer]) -> bool:
    return len({answer.label for answer in answers if answer.kind == "label"}) > 1
