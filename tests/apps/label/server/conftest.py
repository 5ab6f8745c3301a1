"""Projects to serve, and the app of each, called in this process."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:  # the packages of the extra may be missing: then the fixtures skip the tests that use them
    from fastapi.testclient import TestClient

    from cusal.apps.label.server.security import Access
    from cusal.apps.label.store import Project

CHANGE = {"X-Cusal": "1"}


def new_id() -> str:
    return str(uuid.uuid4())


def fill(project: "Project", classes: tuple[str, ...] = ("cat", "dog", "bird")) -> "Project":
    """Add classes and a queue of all items."""
    from cusal.apps.label.store import ClassChange, Pick

    for name in classes:
        project.classes.change(ClassChange(new_id(), "me", "add", name=name))
    picks = [Pick(int(item), "random", {"kind": "random"}) for item in project.items.ids()]
    project.queue.put(picks, round=0)
    return project


@pytest.fixture
def texts(tmp_path: Path) -> Iterator["Project"]:
    """A project of 40 texts, with three classes and all texts in the queue."""
    from cusal.apps.label.store import NewItem, Project, Settings

    with Project.create(tmp_path / "texts.cusal.db", Settings(title="Texts", kind="text", data="t.csv")) as project:
        project.items.add([NewItem(str(row), f"text number {row}", {"row": row}) for row in range(40)])
        yield fill(project)


@pytest.fixture
def photos(tmp_path: Path) -> Iterator["Project"]:
    """A project of six images, among them one in a sub-folder."""
    from PIL import Image

    from cusal.apps.label.store import NewItem, Project, Settings

    folder = tmp_path / "photos"
    (folder / "more").mkdir(parents=True)
    keys = ["a.png", "b.png", "c.png", "d.png", "more/e.png", "Ü 名.png"]
    rng = np.random.default_rng(0)
    for key in keys:
        Image.fromarray(rng.integers(0, 255, (32, 48, 3), dtype=np.uint8)).save(folder / key)
    settings = Settings(title="Photos", kind="image", data=str(folder))
    with Project.create(tmp_path / "photos.cusal.db", settings) as project:
        project.items.add([NewItem(key) for key in keys])
        yield fill(project)


@pytest.fixture
def app_of(tmp_path: Path) -> Iterator[Callable[..., "TestClient"]]:
    """A function that returns a caller of a project's app, at a local address."""
    from fastapi.testclient import TestClient

    from cusal.apps.label.server.app import make_app
    from cusal.apps.label.server.app_state import Live

    clients: list[TestClient] = []

    def call(project: "Project", access: "Access | None" = None, **options: Any) -> TestClient:
        live = Live(project, exports=tmp_path / "exports")
        options = {"base_url": "http://127.0.0.1:8765", "headers": CHANGE, **options}
        clients.append(TestClient(make_app(live, access), **options))
        return clients[-1]

    yield call
    for client in clients:
        client.close()
