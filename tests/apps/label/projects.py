"""Small projects for the tests of the labelling app."""

from collections.abc import Iterator
from itertools import count

import pytest

from cusal.apps.label import Answer, NewItem, Project, Settings

NUMBERS = count()


@pytest.fixture
def project(place: str) -> Iterator[Project]:
    """A new project without items."""
    with Project.create(place, Settings(title="Pets")) as project:
        yield project


def fill(project: Project, items: int = 6, classes: tuple[str, ...] = ("cat", "dog")) -> None:
    """Add items, and classes by way of labels of items at the end, which come with the data."""
    project.items.add(NewItem(f"row {i}", f"text {i}") for i in range(items))
    project.items.add(NewItem(f"known {name}", name, label=name) for name in classes)


def label(item: int, class_id: int | None, person: str = "me") -> Answer:
    """A label with a new uuid."""
    return Answer(f"uuid {next(NUMBERS)}", item, person, "label", class_id)


def pass_over(item: int, kind: str = "skip", person: str = "me") -> Answer:
    """A skip with a new uuid."""
    return Answer(f"uuid {next(NUMBERS)}", item, person, kind)


def check_consistency(project: Project) -> None:
    """Check that labels and counters are what the answers say."""
    labels, progress = project.answers.labels(), project.answers.progress()
    answers = project.answers.given()
    assert len({(one.item, one.person) for one in answers}) == len(answers)
    assert set(labels) == {one.item for one in answers if one.kind == "label"}
    assert progress["labelled"] == len(labels)
    assert sum(progress["by_person"].values()) == sum(one.kind == "label" for one in answers)
    assert project.answers.label_counts() == {c: list(labels.values()).count(c) for c in set(labels.values())}
    assert project.events.changes_since(0).labelled == labels
    assert project.items.count() == len(project.items.ids(None))
