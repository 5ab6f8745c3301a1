"""Estimates where labels have nothing to do with items, and where they have."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import cusal
from cusal.models import FewLabelClassifier
from cusal.recalibration.skill import find_skill


def test_labels_that_follow_the_predictions_leave_no_doubt():
    labels = np.arange(40) % 2
    probs = np.where(np.eye(2)[labels] == 1, 0.9, 0.1)
    skill = find_skill(probs, labels, probs, drawn=0)
    assert skill.doubt == 0
    assert skill.allowed_for(0.9, 0.8, 0.95) == (0.9, 0.8, 0.95)


def test_by_hand():
    labels = np.array([0, 0, 0, 1])
    probs = np.array([[0.6, 0.4]] * 4)
    skill = find_skill(probs, labels, np.array([[0.7, 0.3], [0.2, 0.8]]), drawn=1)
    frequency = np.array([4, 2]) / 6
    shown = 1 - (3 * np.log(0.6) + np.log(0.4)) / (3 * np.log(frequency[0]) + np.log(frequency[1]))
    assert skill.doubt == pytest.approx(min(1, (0.3 - shown) / 0.2) * 0.75)
    assert skill.guessing == pytest.approx(0.5)
    assert skill.lowest == pytest.approx(0.6 - 1.645 * np.sqrt(0.6 * 0.4 / 4))  # .75 - .15
    estimate, low, high = skill.allowed_for(0.9, 0.8, 1.0)
    doubt = skill.doubt
    assert low == pytest.approx(max(0, doubt * skill.lowest + (1 - doubt) * 0.8))
    assert high == pytest.approx(1 - doubt / 4 * 0.1)
    assert estimate == pytest.approx(0.9 - doubt / 4 * 0.4)


def test_random_labels_are_believed():
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet([1, 1], size=60), rng.integers(2, size=60)
    assert find_skill(probs, labels, probs, drawn=60).doubt == 0


def course(X, y, **settings):
    session = cusal.Session(X, FewLabelClassifier(["kernel", "lda"]), seed=0, **settings)
    while len(session.labels) < 80:
        picks = session.ask(20).indices
        session.tell(picks, y[picks])
    truth = np.mean(session.predict(X[session.pool.open]) == y[session.pool.open])
    return session.estimate_accuracy(), truth


@pytest.mark.filterwarnings("ignore::cusal.errors.CusalWarning")
def test_of_coins_a_session_says_so_and_covers_the_truth():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 10)), rng.integers(2, size=600)
    estimate, truth = course(X, y)
    assert estimate.low <= truth <= estimate.high
    assert "guessing by class frequency" in str(estimate)
    assert "strategy='random'" in str(estimate)


@pytest.mark.filterwarnings("ignore::cusal.errors.CusalWarning")
def test_of_digits_a_session_says_nothing_of_the_kind():
    X, y = load_digits(return_X_y=True)
    estimate, truth = course(X[:800], y[:800])
    assert estimate.guessing is None
    assert estimate.low <= truth <= estimate.high
