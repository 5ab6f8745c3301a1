"""When to stop: agreement between the predictions of now and of 50 labels ago."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score

import cusal
from cusal.session.stopping import Course, cohens_kappa

X, Y = load_digits(return_X_y=True)
X = X / 16


def begun(strategy="margin", **options):
    start = np.random.default_rng(0).permutation(len(Y))[:20]
    model = LogisticRegression(max_iter=300)
    return cusal.Session(X, model, strategy, labelled=(start, Y[start]), **options)


def told(session, rounds, batch_size=10):
    for _ in range(rounds):
        query = session.ask(batch_size)
        session.tell(query.indices, Y[query.indices])
    return session


def rows(classes, count=3):
    return np.eye(count)[classes]


def test_kappa_is_scikit_learns():
    rng = np.random.default_rng(0)
    first, second = rng.integers(4, size=200), rng.integers(4, size=200)
    second[:120] = first[:120]
    assert cohens_kappa(first, second) == pytest.approx(cohen_kappa_score(first, second))
    assert cohens_kappa(np.zeros(5, dtype=int), np.zeros(5, dtype=int)) == 1


def test_nothing_is_said_before_there_are_50_labels_to_compare():
    session = told(begun(), 2)
    early = session.stopping()
    assert (early.labels, early.since, early.changed, early.stop) == (40, None, None, False)
    assert "ask again after" in early.reason
    later = told(session, 4).stopping()
    assert later.since >= 50
    assert 0 < later.changed < 0.5
    assert later.kappa < 0.99
    assert later.reason.endswith("Continue.")
    assert f"{later.changed * 100:.1f} %" in later.reason


def test_the_share_and_kappa_are_of_the_items_that_are_open_now():
    session = begun()
    before = session.view.probs.argmax(axis=1)
    candidates = session.view.candidates
    said = told(session, 5).stopping()
    then = dict(zip(candidates.tolist(), before.tolist(), strict=True))
    before_of_open = np.array([then[i] for i in session.pool.open.tolist()])
    now = session.view.probs.argmax(axis=1)
    assert said.since == 50
    assert said.changed == pytest.approx((before_of_open != now).mean())
    assert said.kappa == pytest.approx(cohen_kappa_score(before_of_open, now))


def test_it_stops_when_predictions_agree_twice_running():
    course, items = Course(), np.arange(300)
    classes = items % 3
    for labels, stop in ((20, False), (50, False), (80, False), (110, True)):
        course.record(labels, 300, items, rows(classes))
        said = course.judge(labels, items, rows(classes))
        assert said.stop is stop
    assert (said.changed, said.kappa, said.gain) == (0, 1, 0.2)
    assert said.reason.endswith("stop.")
    changed = np.where(items < 30, (classes + 1) % 3, classes)
    unsettled = course.judge(140, items, rows(changed))
    assert not unsettled.stop
    assert (unsettled.changed, unsettled.gain) == (pytest.approx(0.1), 5.7)


def test_a_model_that_says_one_class_alone_is_no_reason_to_stop():
    course, items = Course(), np.arange(300)
    for labels in range(20, 220, 30):
        course.record(labels, 300, items, rows(np.zeros(300, dtype=int)))
        said = course.judge(labels, items, rows(np.zeros(300, dtype=int)))
        assert not said.stop
    assert said.kappa == 1
    assert "all open items are said to be of one class" in said.reason


def test_few_predictions_are_kept_and_in_few_bytes():
    course, items = Course(), np.arange(1000)
    for labels in range(20, 400, 5):
        course.record(labels, 1000, items[labels:], rows(items[labels:] % 3))
        assert len(course.counts) <= 4
        assert len(course.agreements) <= 2
    assert course.counts[-1] - course.counts[0] <= 75
    assert {array.dtype for array in course.classes} == {np.dtype(np.int16)}


def test_labels_that_are_taken_back_begin_the_course_again():
    session = told(begun(), 8)
    assert session.stopping().since is not None
    session.reopen(session.pool.labelled[:60])
    assert session.stopping().since is None


def test_the_course_survives_saving(tmp_path):
    session = told(begun(), 6)
    session.save(tmp_path / "session")
    loaded = cusal.Session.load(tmp_path / "session", X)
    assert loaded.stopping() == session.stopping()
    assert loaded.stopping().since is not None


def test_a_strategy_without_predictions_keeps_none_until_stopping_is_asked():
    session = told(begun("random"), 3)
    assert session._course.counts == []
    session.stopping()
    assert told(session, 5).stopping().since == 50


def test_with_nothing_open_it_stops():
    session = begun()
    session.tell(np.arange(len(Y)), Y)
    assert session.stopping().stop


def test_it_asks_for_no_more_labels_than_there_are_open_items():
    session = cusal.Session(X[:24], LogisticRegression(max_iter=300), labelled=(range(20), Y[:20]))
    assert "ask again after 4 more labels" in session.stopping().reason
