"""Small projects for the tests of the labelling app."""

from collections.abc import Iterator
from itertools import count

import pytest

from cusal.label import Answer, NewItem, Project, Settings

NUMBERS = count()


@pytest.fixture
def project(place: str) -> Iterator[Project]:
    """A new project without items."""
    with Project.create(place, Settings(title="Pets")) as project:
        yield project


def fill(project: Project, items: int = 6, classes: tuple[str, ...] = ("cat", "dog")) -> None:
    """Add items, and classes by way of labels of items at the end, which come with the data."""
    project.add_items(NewItem(f"row {i}", f"text {i}") for i in range(items))
    project.add_items(NewItem(f"known {name}", name, label=name) for name in classes)


def label(item: int, class_id: int | None, person: str = "me") -> Answer:
    """A label with a new uuid."""
    return Answer(f"uuid {next(NUMBERS)}", item, person, "label", class_id)


def pass_over(item: int, kind: str = "skip", person: str = "me") -> Answer:
    """A skip with a new uuid."""
    return Answer(f"uuid {next(NUMBERS)}", item, person, kind)
