"""The items of a project as an export needs them: those with answers, and those without a label."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from cusal._types import Indices
from cusal.apps.label.export.contents import AnsweredItem, NamedAnswer
from cusal.apps.label.store.project import Project

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
