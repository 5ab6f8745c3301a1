"""Projects with a worker, in this process or in one of its own, and a person who answers."""

import subprocess
import sys
import time
import uuid

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cusal.apps.label import Answer, ClassChange, NewItem, Project, Settings

X, Y = load_digits(return_X_y=True)


class Person:
    """Somebody who knows the label of every item."""

    def __init__(self, project, labels, name="me"):
        self.project, self.labels, self.name = project, labels, name

    def look(self, count=10):
        """Return the next picks of the queue, without holding them."""
        picks = self.project.queue.next_picks(self.name, count)
        self.project.queue.release(self.name, [pick.item for pick in picks])
        return picks

    def label(self, items):
        """Answer items; all outcomes must be stored."""
        answers = [Answer(str(uuid.uuid4()), int(i), self.name, class_id=int(self.labels[i])) for i in items]
        assert all(outcome.stored for outcome in self.project.answers.store(answers))

    def skip(self, items, kind="skip"):
        self.project.answers.store([Answer(str(uuid.uuid4()), int(i), self.name, kind) for i in items])


def add_classes(project, names):
    for name in names:
        project.classes.change(ClassChange(str(uuid.uuid4()), "me", "add", name=name))


@pytest.fixture
def make_project(tmp_path):
    """Return a function that makes a project of digits as vectors in a file."""
    opened = []

    def make(items=300, place="digits.cusal.db", **settings):
        vectors = tmp_path / "vectors.npy"
        np.save(vectors, X[:items].astype(np.float32))
        given = {"features": str(vectors), "audit": 0.1, "seed": 5} | settings
        project = Project.create(tmp_path / place, Settings("Digits", "text", **given))
        opened.append(project)
        project.items.add(NewItem(f"{i}", f"digit number {i}") for i in range(items))
        add_classes(project, map(str, range(10)))
        return project

    yield make
    for project in opened:
        project.close()


def wait_until(condition, seconds=60.0):
    """Wait until a condition holds; fail if it never does."""
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, "this never happened"
        time.sleep(0.02)


def run_until(worker, condition, seconds=60.0):
    """Let a worker of this process work until a condition holds."""
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, f"this never happened: {worker.project.status.all()}"
        if not worker.step():
            time.sleep(0.005)


@pytest.fixture
def start_worker():
    """Return a function that starts the worker of a project as a process of its own."""
    started = []

    def start(project):
        process = subprocess.Popen([sys.executable, "-m", "cusal.apps.label.worker", project.place])
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
