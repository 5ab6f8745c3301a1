"""Real pages for the tests: a real server in a process of its own, and a real Chromium.

    server = serve_project(text_project(tmp_path / "letters.cusal.db", texts, ["bill", "advert"]))
    page = open_label(new_context(), server)      # the Label page, with an item on the screen
    page.keyboard.press("1")

Every page that a test opens is watched: an error in its console fails the test.
"""

import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cusal.apps.label.store import ClassChange, NewItem, Pick, Project, Settings

SERVE = """
import sys
from pathlib import Path
from cusal.apps.label.server.app import make_app
from cusal.apps.label.server.listening import open_socket, serve
from cusal.apps.label.server.app_state import Live
from cusal.apps.label.store import Project

place, port = sys.argv[1], int(sys.argv[2])
with Project(place) as project:
    bound = open_socket("127.0.0.1", port)
    live = Live(project, exports=Path(place).with_suffix(".exports"))
    serve(make_app(live), bound, lambda: print(bound.getsockname()[1], flush=True))
"""


class Server:
    """The server of a project, in a process of its own; it can be killed and started again at the same address."""

    def __init__(self, project: Project) -> None:
        self.project, self.port = project, 0
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        command = [sys.executable, "-c", SERVE, str(self.project.place), str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        """End the server at once, as `kill -9` does."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def new_id() -> str:
    return str(uuid.uuid4())


def add_classes(project: Project, names: list[str]) -> None:
    for name in names:
        project.classes.change(ClassChange(new_id(), "me", "add", name=name))


def fill_queue(project: Project) -> None:
    """Ask for all items, in their order."""
    project.queue.put([Pick(int(item), "random", {"kind": "random"}) for item in project.items.ids()], round=0)


def text_project(place: Path, texts: list[str], classes: list[str], **settings: Any) -> Project:
    """Return a new project of texts, all of them in the queue."""
    project = Project.create(place, Settings(title="Letters", kind="text", data="letters.csv", **settings))
    project.items.add([NewItem(f"row {row}", text, {"row": row, "source": "post"}) for row, text in enumerate(texts)])
    add_classes(project, classes)
    fill_queue(project)
    return project


@pytest.fixture
def serve_project() -> Iterator[Callable[[Project], Server]]:
    """A function that serves a project until the test ends."""
    pytest.importorskip("fastapi")
    servers: list[Server] = []

    def serve(project: Project) -> Server:
        servers.append(Server(project))
        return servers[-1]

    yield serve
    for server in servers:
        server.kill()
        server.project.close()


@pytest.fixture
def new_context(chromium: Any) -> Iterator[Callable[..., Any]]:
    """A function that returns a browser of somebody new: nothing is kept from before, errors fail the test."""
    contexts, errors = [], []

    def open_context(**options: Any) -> Any:
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, **options)
        context.on("weberror", lambda error: errors.append(str(error.error)))
        context.on("console", lambda said: errors.append(said.text) if is_fault(said) else None)
        contexts.append(context)
        return context

    yield open_context
    for context in contexts:
        context.close()
    assert not errors, "\n".join(errors)


def is_fault(said: Any) -> bool:
    """Return whether a line of the console is an error of the page; a server away or a broken file is none."""
    return said.type == "error" and "net::ERR_" not in said.text and "/media/" not in said.location["url"]


def open_label(context: Any, server: Server) -> Any:
    """Return the Label page with an item on it and others on hand."""
    page = context.new_page()
    page.goto(server.url)
    wait_for_items(page)
    return page


def wait_for_items(page: Any) -> None:
    """Wait until the Label page has an item on it and others on hand."""
    page.wait_for_selector("#item[data-item]")
    wait_for(page, "Number(document.body.dataset.ahead) > 5")


def go(page: Any, address: str) -> Any:
    """Open an address and wait until the page listens: it is loaded before its script has asked for the project."""
    page.goto(address)
    page.locator("html[data-ready]").wait_for()
    return page


def shown_item(page: Any) -> int:
    """Return the item on the screen."""
    return int(page.locator("#item").get_attribute("data-item"))


def wait_for(page: Any, condition: str, seconds: float = 20) -> None:
    """Wait until an expression is true; the pages forbid Playwright's own way, which evaluates text inside them."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never true: {condition}"
        page.wait_for_timeout(20)


def wait_until(page: Any, condition: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until something is true of the project; a page that was told something may still be about to send it."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "never true"
        page.wait_for_timeout(20)


def waiting(page: Any) -> int:
    """Return how many entries wait in the browser to be sent."""
    found: int = page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('cusal:wait:')).length")
    return found


def wait_saved(page: Any) -> None:
    """Wait until everything is stored."""
    wait_for(page, "!Object.keys(localStorage).some((name) => name.startsWith('cusal:wait:'))")


def answers_in_order(project: Project) -> list[tuple[int, int | None]]:
    """Return the items and classes of all answers, oldest first."""
    return [
        (event.payload["item"], event.payload["class"]) for event in reversed(project.events.find("answer", count=1000))
    ]
