"""Whatever people do in whatever order: labels and counters follow from the answers, and undo leads back."""

import numpy as np
import pytest
from projects import check_consistency, fill

from cusal.apps.label import Answer, ClassChange, Pick, Project, Settings
from cusal.errors import ProjectError

PEOPLE = ("ann", "bob", "cem")
ITEMS = 12


@pytest.fixture
def busy(tmp_path):
    with Project.create(tmp_path / "busy.cusal.db", Settings("Busy", overlap=2)) as project:
        fill(project, items=ITEMS, classes=("a", "b", "c"))
        yield project


def act(project, rng, person, uuid):
    """Do something at random; what cannot be done is refused."""
    one, other = (int(number) for number in rng.integers(0, 5, 2))
    items = rng.choice(ITEMS, 3, replace=False).tolist()
    kind = rng.choice(["label", "label", "label", "skip", "unsure"])
    match rng.choice(
        ["answer", "answer", "answer", "many", "away", "add", "edit", "merge", "delete", "reorder", "queue"]
    ):
        case "answer":
            project.answers.store([Answer(uuid, items[0], person, str(kind), one if kind == "label" else None)])
        case "many":
            project.answers.label_many(uuid, person, items, one)
        case "away":
            project.answers.label_many(uuid, person, items, None)
        case "queue":
            project.queue.put([Pick(item, "pick") for item in items], round=1)
            project.queue.next_picks(person, 2)
        case "reorder":
            order = tuple(rng.permutation([line.id for line in project.classes.all()]).tolist())
            project.classes.change(ClassChange(uuid, person, "reorder", order=order))
        case "add":
            project.classes.change(ClassChange(uuid, person, "add", name=f"new {one}"))
        case "delete":
            to = other if rng.random() < 0.5 else None
            project.classes.change(ClassChange(uuid, person, "delete", class_id=one, labels_to=to))
        case action:
            more = {"into": other} if action == "merge" else {"name": f"name {other}", "key": str(other)}
            project.classes.change(ClassChange(uuid, person, str(action), class_id=one, **more))


def state(project):
    return (
        project.classes.all(),
        project.answers.labels(),
        project.answers.progress(),
        project.answers.skipped(),
        project.answers.given(),
    )


def run(project, rng, people, steps):
    for step in range(steps):
        try:
            act(project, rng, str(rng.choice(people)), f"step {step}")
        except ProjectError:
            continue  # nothing of it may have been done: the state is checked below


@pytest.mark.parametrize("seed", range(4))
def test_one_person_comes_back_to_the_beginning_by_undo(busy, seed):
    before = state(busy)
    run(busy, np.random.default_rng(seed), ["ann"], 80)
    check_consistency(busy)
    steps = 0
    while busy.answers.undo("ann", f"back {steps}"):
        steps += 1
    assert steps > 40
    assert state(busy) == before
    check_consistency(busy)


@pytest.mark.parametrize("seed", range(4))
def test_several_people_leave_a_project_that_is_consistent(busy, seed):
    rng = np.random.default_rng(100 + seed)
    run(busy, rng, PEOPLE, 80)
    for step in range(40):
        busy.answers.undo(str(rng.choice(PEOPLE)), f"back {step}")
    check_consistency(busy)
    active = {line.id for line in busy.classes.all()}
    assert set(busy.answers.labels().values()) <= active
    assert {one.class_id for one in busy.answers.given()} <= {*active, None}
    assert len({line.name for line in busy.classes.all()}) == len(active)
