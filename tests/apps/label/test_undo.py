"""Undo: any number of steps, each person's own, nothing of what others did."""

from itertools import count

import pytest
from projects import fill, label, pass_over

from cusal.apps.label import ClassChange, Pick, Undone
from cusal.errors import ProjectError, UnknownName

STEPS = count()


def undo(project, person="me"):
    return project.answers.undo(person, f"step back {next(STEPS)}")


def test_ten_answers_are_undone_one_by_one(project):
    fill(project, items=10)
    progress = []
    for item in range(10):
        progress.append((project.answers.labels(), project.answers.progress(), project.answers.skipped()))
        project.answers.store([label(item, item % 2) if item % 3 else pass_over(item, "unsure")])
    for item in reversed(range(10)):
        assert undo(project).items == [item]
        assert (project.answers.labels(), project.answers.progress(), project.answers.skipped()) == progress[item]
    assert undo(project) is None


def test_labels_and_classes_are_undone_each_by_themselves(project):
    fill(project)
    here = [0, 1]
    project.answers.store([label(0, 0), label(1, 1)])
    project.classes.change(ClassChange("merge", "me", "merge", class_id=0, into=1))
    assert project.answers.undo("me", "of labels", of="labels").items == [1]
    assert project.answers.labels(here) == {0: 1}
    back = project.answers.undo("me", "of classes", of="classes")
    assert (back.kind, back.action, back.class_id) == ("class", "merge", 0)
    assert project.answers.labels(here) == {0: 0}
    assert back == project.answers.undo("me", "of classes", of="classes")
    project.answers.undo("me", "of labels again", of="labels")
    assert project.answers.labels(here) == {}
    assert project.answers.undo("me", "no label is left", of="labels") is None
    assert len(project.classes.all()) > 1
    with pytest.raises(UnknownName, match="labels"):
        project.answers.undo("me", "nonsense", of="everything")


def test_undo_restores_the_answer_before(project):
    fill(project)
    project.answers.store([label(0, 0)])
    project.answers.store([label(0, 1)])
    project.answers.store([pass_over(0)])
    undo(project)
    assert project.answers.labels()[0] == 1
    undo(project)
    assert project.answers.labels()[0] == 0
    assert [one.class_id for one in project.answers.given([0])] == [0]


def test_a_step_is_taken_once(project):
    fill(project)
    project.answers.store([label(0, 0), label(1, 0)])
    first = project.answers.undo("me", "the step")
    assert first == project.answers.undo("me", "the step") == Undone(first.event, "answer", [1])
    assert 0 in project.answers.labels()


def test_undo_is_an_event_and_names_what_it_undid(project):
    fill(project)
    project.answers.store([label(0, 0)])
    undone, start = undo(project), project.events.latest()
    step, answer = project.events.find(person="me")
    assert (step.kind, step.payload["undoes"], answer.undone) == ("undo", answer.id, step.id)
    assert undone.event == answer.id
    assert project.events.changes_since(start - 1).opened == [0]


def test_an_answer_that_was_undone_is_not_stored_by_arriving_again(project):
    fill(project)
    answer = label(0, 0)
    project.answers.store([answer])
    undo(project)
    assert project.answers.store([answer])[0].stored
    assert 0 not in project.answers.labels()


def test_people_undo_what_they_did_themselves(project):
    fill(project)
    project.answers.store([label(0, 0, "ann"), label(0, 1, "bob")])
    undo(project, "ann")
    assert [one.person for one in project.answers.given([0])] == ["bob"]
    assert undo(project, "ann") is None


def test_labels_of_many_items_are_one_step(project):
    fill(project)
    project.answers.store([label(0, 0), label(1, 0, "ann")])
    before = project.answers.labels(), project.answers.progress()
    event = project.answers.label_many("many", "me", [0, 1, 2, 2], 1)
    assert project.answers.label_many("many", "me", [5], 1) == event
    assert project.answers.labels() == {0: 1, 1: 1, 2: 1, 6: 0, 7: 1}
    assert undo(project) == Undone(event, "labels", [0, 1, 2])
    assert (project.answers.labels(), project.answers.progress()) == before


def test_labels_are_taken_away_from_many_items_and_come_back(project):
    fill(project)
    project.answers.store([label(0, 0), label(0, 1, "ann"), label(1, 0, "ann"), pass_over(2)])
    before = project.answers.labels(), project.answers.progress(), project.answers.given()
    start = project.events.latest()
    project.answers.label_many("away", "me", [0, 1, 2, 3, 6], None)
    assert project.answers.labels() == {7: 1}
    assert project.events.changes_since(start).opened == [0, 1, 2, 3, 6]
    undo(project)
    assert (project.answers.labels(), project.answers.progress(), project.answers.given()) == before


def test_an_answer_is_not_undone_once_somebody_took_it_away(project):
    fill(project)
    project.answers.store([label(0, 0), label(0, 1)])
    project.answers.label_many("away", "ann", [0], None)
    undo(project)
    assert 0 not in project.answers.labels()


def test_undo_of_an_answer_before_a_merge_knows_the_class_that_is_left(project):
    fill(project, classes=("cat", "dog", "puppy"))
    project.answers.store([label(0, 2), label(0, 0)])
    project.classes.change(ClassChange("merge", "ann", "merge", class_id=2, into=1))
    undo(project)
    assert project.answers.labels()[0] == 1


def test_many_labels_need_items_and_a_class(project):
    fill(project)
    with pytest.raises(ProjectError, match="there is no item 99"):
        project.answers.label_many("a", "me", [0, 99], 1)
    with pytest.raises(ProjectError, match="there is no class 9"):
        project.answers.label_many("b", "me", [0], 9)
    assert 0 not in project.answers.labels()


def test_an_item_that_was_undone_is_held_for_the_person_who_sees_it_again(project):
    fill(project)
    project.queue.put([Pick(0, "pick"), Pick(1, "pick")], round=1)
    project.answers.store([label(0, 0)])
    undo(project)
    assert [pick.item for pick in project.queue.next_picks("ann", 9)] == [1]
