"""A project on SQLite and on PostgreSQL: items, answers, labels, the queue, rounds."""

import numpy as np
import pytest
from projects import fill, label, pass_over

from cusal.apps.label import Answer, Changes, Filter, NewItem, Pick, Project, Round, Settings
from cusal.errors import InvalidInput, ProjectError, UnknownName


def items_of(picks):
    return [pick.item for pick in picks]


def put(project, items, round=1, origin="pick"):
    project.queue.put([Pick(item, origin, {"kind": "random"}) for item in items], round=round)


def test_settings_are_kept_and_changed(place):
    settings = Settings("Pets", "image", "/data/pets", {"text": None}, {"folders_are_labels": True}, budget=300)
    Project.create(place, settings).close()
    with Project(place) as project:
        assert project.settings == settings
        assert project.change_settings(overlap=2, budget=None).overlap == 2
        assert project.settings.budget is None
        with pytest.raises(UnknownName, match="did you mean 'overlap'"):
            project.change_settings(overlaps=3)
        with pytest.raises(InvalidInput, match="batch is 0"):
            project.change_settings(batch=0)


def test_a_place_holds_one_project(place):
    Project.create(place, Settings("Pets")).close()
    with pytest.raises(ProjectError, match=r"there is a project in .* already"):
        Project.create(place, Settings("Pets"))


def test_a_place_without_a_project_is_said(tmp_path):
    with pytest.raises(ProjectError, match="there is no project"):
        Project(tmp_path / "none.cusal.db")
    with pytest.raises(ProjectError, match="in a folder that does not exist"):
        Project.create(tmp_path / "none" / "none.cusal.db", Settings("Pets"))
    (tmp_path / "text.cusal.db").write_text("This is no database, but a text of some length. " * 100)
    with pytest.raises(ProjectError, match="not a database"):
        Project(tmp_path / "text.cusal.db")


def test_items_get_positions_in_order_and_known_keys_are_left_alone(project):
    assert project.items.add([NewItem("a", "first", {"n": 1}), NewItem("b"), NewItem("a", "twice")]) == 2
    assert project.items.add([NewItem("b", "other"), NewItem("c", "third")]) == 1
    assert [(one.id, one.key, one.text) for one in project.items.of([2, 0, 1])] == [
        (2, "c", "third"),
        (0, "a", "first"),
        (1, "b", None),
    ]
    assert project.items.get(0).extra == {"n": 1}
    assert project.items.texts([2, 1]) == ["third", ""]
    assert project.items.find(["c", "a", "z"]) == {"c": 2, "a": 0}
    with pytest.raises(ProjectError, match="there is no item 3"):
        project.items.get(3)


def test_many_items_are_added_in_parts(project):
    assert project.items.add(NewItem(str(i)) for i in range(12_001)) == 12_001
    assert project.items.count() == 12_001
    assert project.items.of([12_000])[0].key == "12000"


def test_a_key_that_no_database_takes_is_refused(project):
    for key in ("a\0b", "caf\udce9.png"):
        with pytest.raises(ProjectError, match="holds a character"):
            project.items.add([NewItem(key)])


def test_items_are_set_aside_and_come_back(project):
    fill(project)
    project.items.mark(1, "broken", "no image")
    project.items.mark_many([3, 4], "missing")
    assert project.items.ids().tolist() == [0, 2, 5, 6, 7]
    assert project.items.ids("missing").tolist() == [3, 4]
    assert project.items.ids(None).tolist() == list(range(8))
    assert (project.items.count("ok"), project.items.count("broken"), project.items.count()) == (5, 1, 8)
    project.items.mark_many([3, 4], "ok")
    assert project.items.ids().dtype == np.int64
    assert project.items.get(1).note == "no image"
    assert project.items.count("ok") == 7


def test_labels_of_the_data_are_taken_in_once(project):
    fill(project, classes=("dog", "cat", "10", "2"))
    assert [one.name for one in project.classes.all()] == ["2", "10", "cat", "dog"]
    assert project.answers.labels() == {6: 3, 7: 2, 8: 1, 9: 0}
    fill(project, classes=("dog", "cat", "10", "2"))
    assert (
        project.answers.import_labels([("known cat", "cat"), ("nobody", "cat"), ("row 1", "bird"), ("row 0", " dog ")])
        == 2
    )
    assert project.answers.labels() == {0: 3, 1: 4, 6: 3, 7: 2, 8: 1, 9: 0}
    assert project.answers.progress()["by_person"] == {"import": 6}


def test_an_answer_is_stored_once(project):
    fill(project)
    answer = label(0, 1)
    for _ in range(2):
        assert [one.stored for one in project.answers.store([answer, answer])] == [True, True]
    assert project.answers.labels()[0] == 1
    assert project.answers.label_counts() == {0: 1, 1: 2}
    assert [one.labels for one in project.classes.all()] == [1, 2]
    assert len(project.events.find(person="me")) == 1


def test_a_later_answer_of_the_same_person_replaces_the_former(project):
    fill(project)
    project.answers.store([label(0, 1), label(0, 0), label(1, 1)])
    project.answers.store([pass_over(1)])
    assert project.answers.labels() == {0: 0, 6: 0, 7: 1}
    assert project.answers.skipped() == [1]
    assert [(one.item, one.kind) for one in project.answers.history("me")] == [(1, "skip"), (0, "label")]


def test_what_cannot_be_stored_is_refused_and_the_rest_stored(project):
    fill(project)
    answers = [label(0, 1), label(99, 1), label(1, 9), label(2, None), pass_over(3, "maybe"), label(4, 0)]
    outcomes = project.answers.store(answers)
    assert [one.stored for one in outcomes] == [True, False, False, False, False, True]
    assert "no item 99" in outcomes[1].reason
    assert set(project.answers.labels()) == {0, 4, 6, 7}


def test_the_label_is_the_majority_and_the_latest_on_a_tie(project):
    fill(project)
    project.answers.store([label(0, 0, "ann"), label(0, 1, "bob")])
    assert project.answers.labels()[0] == 1
    project.answers.store([label(0, 0, "cem")])
    assert project.answers.labels()[0] == 0
    project.answers.store([label(0, 1, "dee")])
    assert project.answers.labels()[0] == 1
    project.answers.store([pass_over(0, "unsure", "dee")])
    assert project.answers.labels()[0] == 0


def test_progress_counts_items_and_people(project):
    fill(project)
    project.change_settings(budget=50)
    project.answers.store(
        [label(0, 0), label(0, 1, "ann"), pass_over(1), pass_over(2, "unsure"), pass_over(2, "skip", "ann")]
    )
    assert project.answers.progress() == {
        "items": 8,
        "aside": 0,
        "labelled": 3,
        "skipped": 1,
        "unsure": 1,
        "budget": 50,
        "by_person": {"ann": 1, "import": 2, "me": 1},
    }


def test_changes_are_what_items_are_now(project):
    fill(project)
    start = project.events.latest()
    project.answers.store([label(0, 0), label(1, 0), pass_over(2), label(1, 1)])
    changes = project.events.changes_since(start)
    assert changes == Changes(project.events.latest(), {0: 0, 1: 1}, [], [2])
    assert project.events.changes_since(changes.event) == Changes(changes.event, {}, [], [])
    assert project.events.changes_since(0).labelled == {0: 0, 1: 1, 6: 0, 7: 1}


def test_the_queue_is_asked_in_order(project):
    fill(project)
    put(project, [3, 1, 5], round=4)
    picks = project.queue.next_picks("me", 2)
    assert picks == [Pick(3, "pick", {"kind": "random"}, 4), Pick(1, "pick", {"kind": "random"}, 4)]
    assert items_of(project.queue.next_picks("me", 9)) == [
        3,
        1,
        5,
    ]  # asking again gives the same until they are answered
    assert items_of(project.queue.next_picks("me", 9, exclude=[3])) == [1, 5]
    project.answers.store([label(1, 0)])
    assert items_of(project.queue.next_picks("me", 9)) == [3, 5]


def test_an_item_goes_to_one_person(project):
    fill(project)
    put(project, [0, 1, 2, 3])
    assert items_of(project.queue.next_picks("ann", 2)) == [0, 1]
    assert items_of(project.queue.next_picks("bob", 9)) == [2, 3]
    project.queue.release("ann", [1])
    assert items_of(project.queue.next_picks("bob", 9)) == [1, 2, 3]
    project.answers.store([label(0, 0, "ann")])
    assert items_of(project.queue.next_picks("ann", 9)) == []


def test_overlap_asks_several_people(project):
    fill(project)
    project.change_settings(overlap=2)
    put(project, [0, 1])
    assert items_of(project.queue.next_picks("ann", 9)) == [0, 1]
    assert items_of(project.queue.next_picks("bob", 9)) == [0, 1]
    assert items_of(project.queue.next_picks("cem", 9)) == []
    project.answers.store([label(0, 0, "ann"), label(1, 0, "bob")])
    assert items_of(project.queue.next_picks("ann", 9)) == [1]
    assert items_of(project.queue.next_picks("bob", 9)) == [0]
    project.answers.store([label(0, 1, "bob")])
    assert items_of(project.queue.next_picks("cem", 9)) == []
    project.change_settings(overlap=3)
    assert items_of(project.queue.next_picks("cem", 9)) == [0, 1]


def test_a_lease_ends(project, monkeypatch):
    fill(project)
    put(project, [0])
    project.queue.next_picks("ann", 1)
    assert project.queue.next_picks("bob", 1) == []
    monkeypatch.setattr("cusal.apps.label.store.queue.LEASE_SECONDS", -1.0)
    project.queue.next_picks("ann", 1)
    assert items_of(project.queue.next_picks("bob", 1)) == [0]


def test_items_that_are_set_aside_are_not_asked(project):
    fill(project)
    put(project, [0, 1])
    project.items.mark(0, "missing")
    assert items_of(project.queue.next_picks("me", 9)) == [1]


def test_a_new_queue_keeps_what_is_answered_or_looked_at(project):
    fill(project)
    put(project, [0, 1, 2, 3], round=1)
    project.queue.next_picks("me", 2)
    project.answers.store([label(0, 0)])
    put(project, [4, 0, 5], round=2)
    assert items_of(project.queue.next_picks("bob", 9)) == [4, 5]
    assert items_of(project.queue.next_picks("me", 9)) == [1]
    assert {item: pick.round for item, pick in project.queue.picks(range(6)).items()} == {0: 1, 1: 1, 4: 2, 5: 2}
    put(project, [1], round=3, origin="audit")
    assert project.queue.picks([1])[1] == Pick(1, "audit", {"kind": "random"}, 3)


def test_a_queue_is_made_longer(project):
    fill(project)
    put(project, [0, 1])
    project.answers.store([label(4, 0)])
    project.items.mark(5, "broken")
    more = [Pick(item, "reserve") for item in (1, 4, 3, 5, 2, 3)]
    assert project.queue.lengthen(more, round=2, most=1) == 1
    assert project.queue.lengthen(more, round=3) == 1
    assert items_of(project.queue.next_picks("me", 9)) == [0, 1, 3, 2]
    assert [project.queue.picks([item])[item].round for item in (1, 3, 2)] == [1, 2, 3]


def test_what_somebody_has_on_hand_waits_behind_a_new_queue(project):
    fill(project)
    put(project, [0, 1, 2, 3])
    project.queue.next_picks("me", 3)
    put(project, [4, 1, 5], round=2)
    assert items_of(project.queue.next_picks("me", 10)) == [4, 1, 5, 0, 2]
    assert [pick.round for pick in project.queue.next_picks("me", 10)] == [2, 2, 2, 1, 1]
    assert project.status.all()["queue"]["replaced"] == 2


def test_labels_of_some_items(project):
    fill(project)
    assert project.answers.labels([7, 1, 0]) == {7: 1}


def test_a_project_that_was_not_made_to_the_end_leaves_nothing(tmp_path):
    with pytest.raises(InvalidInput):
        Project.create(tmp_path / "a.cusal.db", Settings("Pets", batch=0))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a.cusal.db").touch()  # an empty file is an empty database
    Project.create(tmp_path / "a.cusal.db", Settings("Pets")).close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.cusal.db"]


def test_rounds_keep_their_reports_and_the_last_two_their_sessions(project):
    assert project.rounds.last() is None
    assert project.rounds.last_number() is None
    for number in range(1, 5):
        project.rounds.add(Round(number, 10 * number, {"labels": 10 * number}, b"p%d" % number, b"s%d" % number))
    last = project.rounds.last()
    assert (last.round, last.labels, last.predictions, last.session) == (4, 40, b"p4", b"s4")
    assert [report["labels"] for report in project.rounds.reports()] == [10, 20, 30, 40]
    assert project.rounds.last_number() == 4


def test_status_is_what_was_said_last(project):
    project.status.set("worker", {"state": "idle"})
    project.status.set("worker", {"state": "fitting"})
    project.status.set("items", {"done": 5})
    status = project.status.all()
    assert status["worker"]["state"] == "fitting"
    assert status["items"]["done"] == 5
    assert status["worker"]["at"] > 1e9


def test_values_that_no_database_takes_are_errors_of_the_project(project):
    fill(project)
    for call in (
        lambda: project.answers.history("me\ud800"),
        lambda: project.queue.next_picks("a\ud800", 1),
        lambda: project.events.find(before=2**70),
        lambda: project.events.changes_since(-(2**70)),
        lambda: project.items.get(2**70),
        lambda: project.browse.rows(Filter(label=2**70)),
    ):
        with pytest.raises(ProjectError):
            call()
    refused = [Answer("u\0", 0, "me"), Answer("u", 2**70, "me"), Answer("v", 0, "", "skip"), Answer("w", 0, "import")]
    assert [one.stored for one in project.answers.store(refused)] == [False] * 4
    late = Answer("x", 0, "me", "label", 0, at=float("nan"))
    assert project.answers.store([late])[0].reason == "times are finite numbers"
