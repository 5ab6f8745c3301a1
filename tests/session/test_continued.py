"""Sessions that continue on other vectors, with more items, or from bytes."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.errors import DataError, InvalidInput
from cusal.models import PoolClassifier

X, Y = load_digits(return_X_y=True)
X = X[:300].astype(np.float32)
LABELS = Y[:300]
OTHER = np.random.default_rng(0).normal(size=(64, 20)).astype(np.float32)


def labelled_session(rounds=3, model=None, items=X):
    session = cusal.Session(items, model or PoolClassifier(), audit=0.2, seed=3)
    for _ in range(rounds):
        query = session.ask(10)
        session.tell(query.indices, LABELS[query.indices])
    return session


def test_labels_skips_round_and_draws_are_kept_on_other_vectors():
    session = labelled_session()
    session.skip([next(i for i in range(300) if i not in session.labels)])
    drawn = session.estimate_accuracy().drawn
    moved = session.continued(X @ OTHER)
    assert moved.labels == session.labels
    assert moved.pool.skipped.tolist() == session.pool.skipped.tolist()
    assert moved.round == session.round == 2
    assert drawn == moved.estimate_accuracy().drawn == 4
    assert moved.seed == 3
    assert moved.audit == 0.2


def test_the_next_round_is_that_of_a_session_that_knew_these_vectors_from_the_start():
    session = labelled_session()
    moved = session.continued(X @ OTHER)
    query = moved.ask(10)
    assert session.round == 1  # the first batch was a cold start
    assert moved.round == 2
    assert query.audit.sum() == 2
    assert set(query.indices.tolist()).isdisjoint(session.labels)
    fresh = cusal.Session(X @ OTHER, PoolClassifier(), labelled=session.labels, audit=0.2, seed=3)
    np.testing.assert_allclose(all_raw(moved), all_raw(fresh))


def all_raw(session):
    session.fit()
    return session._as_seen(session._raw(session.items))


def test_what_the_old_vectors_predicted_is_forgotten():
    moved = labelled_session(8).continued(X @ OTHER)
    assert moved.stopping().since is None
    assert len(moved.checkpoint().predictions) == 0


def test_sparse_rows_become_dense_vectors_and_another_model():
    session = labelled_session(items=csr_matrix(X))
    moved = session.continued(X, LogisticRegression(max_iter=500))
    query = moved.ask(10)
    moved.tell(query.indices, LABELS[query.indices])
    assert isinstance(moved.model, LogisticRegression)
    assert len(moved.labels) == 40


def test_more_items_are_open_and_nothing_else_changes():
    session = labelled_session(8, items=X[:250])
    course = session.stopping()
    grown = session.continued(X)
    assert len(grown.pool) == 300
    assert grown.labels == session.labels
    assert grown.pool.open.tolist() == [*session.pool.open, *range(250, 300)]
    assert course.since is not None
    assert grown.stopping().since == course.since
    assert grown.ask(10).audit.sum() == 2


def test_fewer_items_are_refused():
    with pytest.raises(InvalidInput, match="the session has 300 items, but 200 are given"):
        labelled_session(1).continued(X[:200])


@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_a_packed_session_continues_as_if_it_had_not_stopped(rounds):
    session = labelled_session(rounds)
    asked = session.ask(10)
    again = cusal.Session.from_bytes(session.to_bytes(), X, PoolClassifier())
    assert again.round == session.round
    for _ in range(3):
        query = session.ask(10)
        assert again.ask(10).indices.tolist() == query.indices.tolist()
        for one in (session, again):
            one.tell(query.indices, LABELS[query.indices])
    assert again.labels == session.labels
    assert set(asked.indices.tolist()) <= set(again.labels)


class Plain:
    """A model of nobody's library."""

    def fit(self, X, y):
        self.model = LogisticRegression(max_iter=500).fit(X, y)
        self.classes_ = self.model.classes_

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def test_a_model_of_ones_own_is_packed_without_a_pickle():
    session = labelled_session(model=Plain())
    content = session.to_bytes()
    assert b"pickle" not in content
    assert cusal.Session.from_bytes(content, X, Plain()).ask(10).indices.tolist() == session.ask(10).indices.tolist()


def test_a_packed_session_can_be_unpacked_over_other_vectors_and_more_items():
    session = labelled_session(items=X[:250])
    again = cusal.Session.from_bytes(session.to_bytes(), X @ OTHER, PoolClassifier())
    assert again.labels == session.labels
    assert len(again.pool) == 300
    assert again.round == session.round


def test_bytes_that_are_no_session_are_refused():
    with pytest.raises(DataError):
        cusal.Session.from_bytes(b"nothing", X, PoolClassifier())


def test_items_that_the_caller_drew_count_as_drawn():
    session = cusal.Session(X, PoolClassifier())
    session.tell(np.arange(30), LABELS[:30])
    session.mark_random(np.arange(20))
    assert session.estimate_accuracy().drawn == 20


def test_predictions_out_of_sample_are_by_models_that_had_not_seen_the_label():
    session = labelled_session(5)
    found = session.out_of_sample()
    assert sorted(found.indices) == sorted(session.labels)
    assert [session.classes_[column] for column in found.labels] == [session.labels[i] for i in found.indices]
    assert found.drawn.sum() == session.estimate_accuracy().drawn
    right = (found.probs.argmax(1) == found.labels).mean()
    assert 0.5 < right < 1
    np.testing.assert_allclose(session.predict_proba(), session.predict_proba(X))
