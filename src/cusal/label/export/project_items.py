"""The items of a project as an export needs them: those with answers, and what a model takes of the others."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cusal._types import Indices
from cusal.label.export.contents import AnsweredItem, NamedAnswer
from cusal.label.store.project import Project
from cusal.label.store.records import Item, Settings

CHUNK = 2000  # items that are read together


def answered_items(project: Project, labels: Mapping[int, int]) -> Iterator[list[AnsweredItem]]:
    """Yield the items that somebody answered, in order; `labels` are the resolved ones, class ids by item."""
    names = {one.id: one.name for one in project.classes()}
    said: dict[int, list[NamedAnswer]] = defaultdict(list)
    for answer in project.answers():
        label = None if answer.class_id is None else names.get(answer.class_id)
        said[answer.item].append(NamedAnswer(answer.person, answer.kind, label, answer.at, answer.seconds))
    for ids in chunks(sorted(said)):
        yield [
            AnsweredItem(item, names.get(labels.get(item.id, -1)), _disagree(said[item.id]), tuple(said[item.id]))
            for item in project.items(ids)
        ]


def open_items(project: Project, labels: Mapping[int, int]) -> Indices:
    """Return the ids of the items that can be predicted and have no label."""
    return np.setdiff1d(project.item_ids("ok"), np.fromiter(labels, dtype=np.int64, count=len(labels)))


def as_inputs(items: Sequence[Item], settings: Settings) -> list[Any]:
    """Return what a model takes of items: paths of images, texts, or rows."""
    if settings.kind == "image":
        return [str(Path(settings.data) / item.key) for item in items]
    if settings.kind == "text":
        return [item.text or "" for item in items]
    return [item.extra or {} for item in items]


def chunks(ids: Iterable[int], size: int = CHUNK) -> Iterator[list[int]]:
    """Yield the ids in lists of at most `size`."""
    listed = list(ids)
    return (listed[start : start + size] for start in range(0, len(listed), size))


def _disagree(answers: Iterable[NamedAnswer]) -> bool:
    return len({answer.label for answer in answers if answer.kind == "label"}) > 1
