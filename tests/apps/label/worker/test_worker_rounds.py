"""What the worker writes in its rounds, and what it does with skips, undone labels, failures and newcomers."""

import io
import json
import uuid

import numpy as np
import pytest
from working_projects import Person, X, Y, run_until

from cusal.apps.label import Answer, ClassChange, NewItem
from cusal.apps.label.worker.learning import Learning
from cusal.apps.label.worker.process import Worker
from cusal.apps.label.worker.saved import read_saved
from cusal.models import PoolClassifier
from cusal.session import Session


class Desk:
    """A project, its worker in this process, and a person."""

    def __init__(self, project):
        self.project, self.worker, self.person = project, Worker(project), Person(project, Y)

    def round(self):
        """Let the worker come to rest; return the number of the last round."""
        before = self.project.rounds.last_number() or 0
        run_until(self.worker, lambda: (self.project.rounds.last_number() or 0) > before)
        return before + 1

    def rest(self):
        """Let the worker look once more, and return the number of the last round."""
        for _ in range(3):
            self.worker.step()
        return self.project.rounds.last_number()

    def answer_batch(self, count=10):
        """Answer the next picks of the batch; return them."""
        picks = self.batch()[:count]
        self.person.label(pick.item for pick in picks)
        return picks

    def batch(self):
        """Return the picks that the session asked for, without checks and reserves beside them."""
        return [pick for pick in self.person.look(100) if pick.item in self.worker.learning.asked]

    def labelled(self, rounds):
        """Go through some rounds, and return the report of the last one."""
        self.round()
        for _ in range(rounds):
            self.answer_batch()
            self.round()
        return self.project.rounds.last().report


@pytest.fixture
def desk(make_project):
    return Desk(make_project())


def test_a_batch_is_followed_by_three_in_reserve(desk):
    desk.round()
    first = desk.person.look(100)
    assert {pick.item for pick in desk.batch()} <= {pick.item for pick in first[:11]}
    assert {pick.reason["kind"] for pick in first if pick.origin == "cold"} == {"typical"}
    desk.answer_batch()
    desk.round()
    second = desk.person.look(100)
    assert sorted(pick.origin for pick in second[:10]) == ["audit"] + ["pick"] * 9
    assert {pick.reason["kind"] for pick in second[:10]} <= {"between", "new", "random"}
    rest = [pick for pick in second[10:] if pick.origin != "audit"]
    assert {pick.origin for pick in rest} == {"reserve"}
    assert all(len(pick.reason["classes"]) == 2 for pick in rest)
    assert len({pick.item for pick in second}) == len(second) >= 40


def test_one_item_in_ten_is_a_random_check_from_the_first_queue_on(make_project):
    desk = Desk(make_project(items=1500))
    for _ in range(3):
        desk.round()
        queue = desk.person.look(100)
        for part in (queue[:11], queue):
            checks = [pick for pick in part if pick.origin == "audit"]
            assert 0.08 <= len(checks) / len(part) <= 0.12
            assert all(pick.reason == {"kind": "random"} for pick in checks)
        desk.person.label(pick.item for pick in queue[:10])
    none = Desk(make_project(items=1500, place="none.cusal.db", audit=0.0))
    none.labelled(1)
    assert {pick.origin for pick in none.person.look(100)} == {"pick", "reserve"}


def test_nothing_is_computed_until_the_batch_is_answered(desk):
    desk.round()
    picks = desk.batch()
    desk.person.label(pick.item for pick in picks[:9])
    assert desk.rest() == 1
    desk.person.skip([picks[9].item])
    assert desk.rest() == 2
    assert desk.rest() == 2


def test_as_many_answers_as_a_batch_holds_are_enough(desk):
    desk.round()
    reserve = [pick.item for pick in desk.person.look(100) if pick.item not in desk.worker.learning.asked]
    desk.person.label(reserve[:10])
    assert desk.rest() == 2
    assert desk.project.rounds.last().labels == 10


def test_skips_undone_labels_and_changed_minds_reach_the_session(desk):
    desk.labelled(2)
    session, places = desk.worker.learning.session, desk.worker.learning.places
    batch = [pick.item for pick in desk.batch()]
    desk.person.label(batch[:6])
    desk.project.answers.undo("me", str(uuid.uuid4()))  # the label of batch[5]
    changed, other, *_ = session.labels
    desk.project.answers.store([Answer(str(uuid.uuid4()), int(places.ids[changed]), "me", class_id=7)])
    desk.person.skip([int(places.ids[other])], "unsure")
    desk.person.skip(batch[5:])
    desk.rest()
    session = desk.worker.learning.session
    assert session.labels[changed] == 7
    assert other in session.pool.skipped
    assert set(places.of(batch[5:])) <= set(session.pool.skipped)
    assert len(session.labels) == 20 + 5 - 1


def test_merged_and_deleted_classes_reach_the_session(desk):
    desk.labelled(3)
    change = ClassChange(str(uuid.uuid4()), "me", "merge", class_id=3, into=8)
    desk.project.classes.change(change)
    desk.project.classes.change(ClassChange(str(uuid.uuid4()), "me", "delete", class_id=5))
    desk.person.labels = np.where(Y == 3, 8, np.where(Y == 5, 0, Y))
    desk.answer_batch()
    desk.round()
    session = desk.worker.learning.session
    ids = desk.worker.learning.places.ids
    assert {int(ids[place]): label for place, label in session.labels.items()} == desk.project.answers.labels()
    report = desk.project.rounds.last().report
    assert [one["id"] for one in report["classes"]] == [one.id for one in desk.project.classes.all()]


def test_the_report_says_how_good_the_model_is(desk):
    report = desk.labelled(8)
    json.dumps(report, allow_nan=False)
    assert report["labels"] == 80
    assert report["round"] == 9
    assert report["accuracy"]["low"] < report["accuracy"]["estimate"] < report["accuracy"]["high"]
    assert report["accuracy"]["labels"] == 80
    assert report["accuracy"]["drawn"] == 7  # of each batch after the first
    assert report["calibration"]["ece_after_low"] <= report["calibration"]["ece_after"]
    assert sum(one["share"] for one in report["calibration"]["reliability"]) == pytest.approx(1)
    assert report["stopping"]["since"] >= 50
    assert sum(one["labels"] for one in report["classes"]) == 80
    assert sum(one["predicted"] for one in report["classes"]) == 220
    assert np.sum(report["confusion"]["counts"]) == 80
    wrong = np.sum(report["confusion"]["counts"]) - np.trace(report["confusion"]["counts"])
    assert len(report["mistakes"]) == min(wrong, 50)
    confidences = [one["confidence"] for one in report["mistakes"]]
    assert confidences == sorted(confidences, reverse=True)
    truth = (top_of(desk) == Y[:300])[desk.worker.learning.session.pool.open].mean()
    assert report["accuracy"]["low"] <= truth <= report["accuracy"]["high"]


def top_of(desk):
    with np.load(io.BytesIO(desk.project.rounds.last().predictions), allow_pickle=False) as file:
        assert file["items"].tolist() == list(range(300))
        return file["top"]


def test_predictions_are_those_of_the_session(desk):
    desk.labelled(4)
    found = desk.project.rounds.last()
    with np.load(io.BytesIO(found.predictions), allow_pickle=False) as file:
        columns = {name: file[name] for name in file}
    session = desk.worker.learning.session
    probs = np.sort(session.predict_proba(X[:300].astype(np.float32)), axis=1)
    np.testing.assert_allclose(columns["confidence"], probs[:, -1], rtol=1e-5)
    np.testing.assert_allclose(columns["margin"], probs[:, -1] - probs[:, -2], atol=1e-5)
    assert (columns["top"] == session.predict(X[:300].astype(np.float32))).all()
    assert (columns["second"] != columns["top"]).all()
    assert {name: values.dtype.str for name, values in columns.items()} == {
        "items": "<i8",
        "top": "<i4",
        "second": "<i4",
        "confidence": "<f4",
        "margin": "<f4",
    }


def test_what_is_saved_is_the_session_without_pickles(desk):
    desk.labelled(2)
    content = desk.project.rounds.last().session
    assert b"pickle" not in content
    saved = read_saved(content)
    assert saved.ids.tolist() == list(range(300))
    again = Session.from_bytes(saved.session, X[:300].astype(np.float32), PoolClassifier())
    assert again.labels == desk.worker.learning.session.labels
    assert again.ask(10).indices.tolist() == saved.asked


def test_a_damaged_session_is_built_again_from_the_labels(desk, capsys):
    desk.labelled(3)
    found = desk.project.rounds.last()
    learning = Learning(desk.project, read_saved(b"nonsense"))
    assert learning.saved is None
    assert "The labels are all there" in capsys.readouterr().err
    broken = read_saved(found.session).__class__(**vars(read_saved(found.session)) | {"session": b"nonsense"})
    desk.worker = Worker(desk.project)
    desk.worker.saved = desk.worker.learning.saved = broken
    desk.round()
    report = desk.project.rounds.last().report
    assert report["labels"] == 30
    assert report["accuracy"]["drawn"] == 2


def test_the_last_items_can_be_asked_for(make_project):
    desk = Desk(make_project(items=25))
    desk.labelled(2)
    assert len(desk.answer_batch()) == 5
    desk.round()
    report = desk.project.rounds.last().report
    assert report["labels"] == 25
    assert report["accuracy"] is None
    assert report["stopping"]["stop"]
    assert desk.person.look(10) == []


def test_labels_of_one_class_are_no_reason_to_fail(desk):
    desk.round()
    desk.person.labels = np.zeros(300, dtype=int)
    desk.answer_batch()
    desk.round()
    assert desk.project.status.all()["worker"]["state"] != "trouble"
    assert desk.project.rounds.last().report["accuracy"] is None
    assert [pick.origin for pick in desk.batch()] == ["cold"] * 10


def test_a_model_by_name_learns(make_project):
    desk = Desk(make_project(model="sklearn.linear_model:LogisticRegression"))
    report = desk.labelled(3)
    assert type(desk.worker.learning.session.model).__name__ == "LogisticRegression"
    assert report["accuracy"]["labels"] == 30


FAILS_BELOW = 20


class Moody:
    """A model that cannot learn from few labels."""

    def fit(self, X, y):
        if len(y) < FAILS_BELOW:
            raise RuntimeError("I need\nmore labels")
        self.model = PoolClassifier().fit(X, y)
        self.classes_ = self.model.classes_

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def test_a_model_that_fails_is_said_and_tried_again_with_the_next_batch(make_project):
    desk = Desk(make_project(model=f"{__name__}:Moody"))
    desk.round()
    queue = [pick.item for pick in desk.person.look(100)]
    desk.answer_batch()
    assert desk.rest() == 1
    status = desk.project.status.all()["worker"]
    assert status["state"] == "trouble"
    assert status["message"] == ("The model could not learn from the last labels: RuntimeError: I need more labels")
    rest = desk.person.look(100)
    left = [item for item in queue if item not in desk.project.answers.labels()]
    assert [pick.item for pick in rest][: len(left)] == left
    desk.person.label(pick.item for pick in rest[:10])
    assert desk.rest() == 2
    assert desk.project.status.all()["worker"]["state"] == "idle"
    assert desk.project.rounds.last().labels == 20


def test_a_model_that_cannot_be_imported_is_said(make_project):
    desk = Desk(make_project(model="nowhere:Model"))
    run_until(desk.worker, lambda: desk.project.status.all().get("worker", {}).get("state") == "trouble")
    assert "there is no module 'nowhere'" in desk.project.status.all()["worker"]["message"]
    assert len(desk.person.look(10)) == 10


def test_new_items_join_at_the_next_round(make_project, tmp_path):
    desk = Desk(make_project(items=250))
    desk.labelled(2)
    np.save(tmp_path / "vectors.npy", X[:300].astype(np.float32))
    desk.project.items.add(NewItem(f"{i}", f"digit number {i}") for i in range(250, 300))
    desk.worker._looked = 0.0
    run_until(desk.worker, lambda: len(desk.worker.learning.places) == 300)
    desk.answer_batch()
    desk.round()
    assert len(desk.worker.learning.session.pool) == 300
    assert read_saved(desk.project.rounds.last().session).ids.tolist() == list(range(300))
    again = Desk(desk.project)
    again.answer_batch()
    again.round()
    assert again.project.rounds.last().labels == 40


SLOW = []  # how many items each call brought


def slow_vectors(texts):
    """Return the vectors of digits by their texts, as a network that takes long would."""
    SLOW.append(len(texts))
    return X[[int(text.split()[-1]) for text in texts]]


def test_learning_starts_on_the_first_vectors_and_the_others_join(make_project):
    desk = Desk(make_project(items=1797, features=f"{__name__}:slow_vectors"))
    SLOW.clear()
    desk.round()
    first = set(desk.worker.learning.places.ids.tolist())
    assert len(first) == 500 == sum(SLOW[:2])
    assert {pick.item for pick in desk.person.look(100)} <= first
    run_until(desk.worker, lambda: len(desk.worker.learning.places) == 1797)
    desk.answer_batch()
    desk.round()
    assert not {pick.item for pick in desk.person.look(100)} <= first
    again = Desk(desk.project)  # as after a kill
    run_until(again.worker, lambda: again.worker.learning.session is not None)
    assert again.worker.learning.session.labels == desk.worker.learning.session.labels


def test_of_many_items_a_sample_is_used_and_labelled_ones_join(make_project):
    desk = Desk(make_project(pool=100))
    desk.round()
    learning = desk.worker.learning
    assert len(learning.places) == 100
    outside = [item for item in range(300) if item not in learning.places][:3]
    desk.person.label(outside)
    desk.answer_batch()
    desk.round()
    desk.worker._looked = 0.0
    run_until(desk.worker, lambda: len(learning.places) == 103)
    desk.answer_batch()
    desk.round()
    assert desk.project.rounds.last().labels == 23
    assert len(again_sampled(desk)) == 103


def again_sampled(desk):
    again = Desk(desk.project)
    again.answer_batch()
    again.round()
    return again.worker.learning.places


def test_thousands_of_known_labels_get_a_model_that_scales(make_project, monkeypatch):
    monkeypatch.setattr("cusal.apps.label.worker.heads.MOST_FOR_KERNEL", 50)
    project = make_project()
    project.answers.import_labels((f"{i}", str(Y[i])) for i in range(100))
    desk = Desk(project)
    desk.round()
    assert type(desk.worker.learning.session.model).__name__ == "Pipeline"
    assert project.rounds.last().report["labels"] == 100


def test_new_items_without_vectors_stay_outside_and_the_status_says_why(make_project):
    desk = Desk(make_project(items=250))
    desk.labelled(1)
    desk.project.items.add(NewItem(f"{i}", f"digit number {i}") for i in range(250, 300))
    desk.worker._looked = 0.0
    run_until(desk.worker, lambda: "error" in desk.project.status.all()["features"])
    assert "there are 300 items; give a row for each" in desk.project.status.all()["features"]["error"]
    desk.answer_batch()
    desk.round()
    assert desk.project.rounds.last().labels == 20
