"""modAL drives our strategies in its own loop."""

import numpy as np
import pytest
import scipy.sparse
from modAL.models import ActiveLearner, Committee
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.adapters import ModalStrategy

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def digits():
    items, labels = load_digits(return_X_y=True)
    return items[:400] / 16, labels[:400]


def teach(learner, pool, labels, batch_size, rounds=3):
    """Run modAL's loop, and return what is left of the pool."""
    for _ in range(rounds):
        picks, items = learner.query(pool, n_instances=batch_size)
        assert len(set(picks.tolist())) == batch_size
        np.testing.assert_array_equal(items, pool[picks])
        learner.teach(items, labels[picks])
        pool, labels = np.delete(pool, picks, axis=0), np.delete(labels, picks)
    return pool


@pytest.mark.parametrize("name", cusal.strategies.names())
def test_its_loop_teaches_what_our_strategy_picks(digits, name):
    items, labels = digits
    learner = ActiveLearner(RandomForestClassifier(5, random_state=0), ModalStrategy(name), items[:40], labels[:40])
    # Two at once is the number that modAL would take apart if a plain array was returned.
    assert len(teach(learner, items[40:], labels[40:], 2)) == 354
    assert len(learner.y_training) == 46


def test_the_picks_are_those_of_a_session(digits):
    items, labels = digits
    for strategy in (cusal.strategies.Cusal(bandwidth=0.01), "margin"):
        model = LogisticRegression(max_iter=200)
        learner = ActiveLearner(model, ModalStrategy(strategy), items[:60], labels[:60])
        session = cusal.Session(items, model, strategy=strategy, labelled=(range(60), labels[:60]), classes=range(10))
        np.testing.assert_array_equal(learner.query(items[60:], n_instances=7)[0] + 60, session.ask(7).indices)


def test_members_of_a_committee_are_its_samples(digits):
    items, labels = digits
    members = [
        ActiveLearner(
            LogisticRegression(C=strength, max_iter=200), X_training=items[start:40], y_training=labels[start:40]
        )
        for start, strength in ((0, 0.01), (5, 1.0), (8, 100.0))
    ]
    committee = Committee(members, query_strategy=ModalStrategy("bald"))
    assert len(teach(committee, items[40:], labels[40:], 5)) == 345


def test_labels_may_be_words_and_items_sparse(digits):
    items, labels = scipy.sparse.csr_matrix(digits[0]), np.array([f"digit {label}" for label in digits[1]])
    learner = ActiveLearner(LogisticRegression(max_iter=200), ModalStrategy("coreset"), items[:60], labels[:60])
    picks, chosen = learner.query(items[60:], n_instances=4)
    assert chosen.shape == (4, 64)
    learner.teach(chosen, labels[60:][picks])


def test_the_first_items_need_no_label(digits):
    learner = ActiveLearner(LogisticRegression(max_iter=200), ModalStrategy("cusal"))
    picks, chosen = learner.query(digits[0], n_instances=20)
    learner.teach(chosen, digits[1][picks])
    assert len(np.unique(digits[1][picks])) >= 6
