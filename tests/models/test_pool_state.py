"""A fitted PoolClassifier as plain values, in a file, and back."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

from cusal.features import TextFeatures
from cusal.models import PoolClassifier, _neighbours
from cusal.models._pool_state import from_state, to_state
from cusal.models._row_hashes import row_hashes
from cusal.persistence.object_file import read_objects, write_objects

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)


def through_a_file(model, path):
    write_objects(path, to_state(model))
    return from_state(read_objects(path))


def largest_difference(model, other, items):
    return np.abs(model.predict_proba(items) - other.predict_proba(items)).max()


@pytest.mark.parametrize("classes", [2, 10])
@pytest.mark.parametrize("pool", [None, 700])
def test_predictions_of_items_inside_and_outside_the_pool_come_back(classes, pool, tmp_path):
    rows = np.flatnonzero(classes > Y)[:60]
    model = PoolClassifier().fit(X[rows], Y[rows], unlabelled=None if pool is None else X[:pool])
    other = through_a_file(model, tmp_path / "model")
    assert largest_difference(model, other, X) == 0
    assert np.array_equal(model.predict(X), other.predict(X))


def test_a_pool_that_is_searched_by_cells_comes_back(tmp_path, monkeypatch):
    monkeypatch.setattr(_neighbours, "EXACT", 400)
    monkeypatch.setattr(_neighbours, "PROBED", 3)
    model = PoolClassifier().fit(X[:50], Y[:50], unlabelled=X[50:1003])  # a pool of its own: the last one is kept
    other = through_a_file(model, tmp_path / "model")
    assert model.pool_.index.centres is not None
    assert largest_difference(model, other, X) == 0


def test_sparse_texts_come_back_to_a_millionth(tmp_path):
    words = ["card", "lost", "transfer", "fee", "top", "up", "cash", "pin", "rate", "refund", "limit", "abroad"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 6)) for _ in range(600)]
    labels = np.array([("card" in text) + 2 * ("cash" in text) for text in texts])
    features = TextFeatures().fit(texts[:500])
    items = csr_matrix(features.transform(texts))
    model = PoolClassifier().fit(items[:80], labels[:80], unlabelled=items[80:500])
    other = through_a_file(model, tmp_path / "model")
    assert largest_difference(model, other, items[:500]) < 1e-12  # looked up
    assert largest_difference(model, other, items[500:]) < 1e-6


def test_what_can_be_computed_is_not_in_the_file(tmp_path):
    model = PoolClassifier().fit(X[:50], Y[:50], unlabelled=X[50:1500])
    pool = to_state(model)["space"]["pool"]
    assert "U" not in pool
    assert pool["A"].dtype == np.float32
    other = through_a_file(model, tmp_path / "model")
    other.predict_proba(X[1600:])
    assert "U" not in vars(other.pool_)  # new items do not need the pool's own features


def test_texts_of_the_pool_are_recognised_when_they_are_transformed_again():
    texts = [f"{'cash' if i % 3 else 'card'} number {i} {'abroad' if i % 2 else ''} today" for i in range(200)]
    features = TextFeatures()
    first = features.fit_transform(texts)
    model = PoolClassifier().fit(first[:30], np.arange(30) % 3 == 0, unlabelled=first[30:])
    assert np.abs(model.predict_proba(first) - model.predict_proba(features.transform(texts))).max() < 1e-12


def test_tables_of_small_whole_numbers_have_a_hash_for_each_row():
    rows = np.array(list(itertools.product([0, 1, 2, 3, 4], repeat=6)), dtype=np.float64)
    assert len(np.unique(row_hashes(rows))) == len(rows)
    assert np.array_equal(row_hashes(rows), row_hashes(rows.astype(np.float32)))
    ones = np.eye(2000)
    assert len(np.unique(row_hashes(np.vstack([ones, 2 * ones, 4 * ones])))) == 6000


def test_counts_are_classified_with_a_pool_as_without():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=120)
    counts = np.column_stack([rng.integers(30, 50, 120), 2 * np.eye(3)[labels]])
    model = PoolClassifier().fit(counts[:30], labels[:30], unlabelled=counts[30:])
    assert model.score(counts, labels) == 1
