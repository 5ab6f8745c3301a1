"""The classifier on features that are smoothed over the pool."""

import copy
import gc
import pickle
from unittest import SkipTest

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from cusal import Session
from cusal._items import Subset
from cusal.errors import CusalError
from cusal.models import PoolClassifier, _neighbours, _smoothed_pool
from cusal.models._encoding import Encoding
from cusal.models._neighbours import Neighbours
from cusal.models._points import Points
from cusal.models._row_hashes import row_hashes


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))
    return X[rows], y[rows]


@pytest.fixture
def graphs(monkeypatch):
    """Count the graphs that are made, starting without any in memory."""
    gc.collect()
    made = []

    class Counted(_smoothed_pool.SmoothedPool):
        def __init__(self, X, settings):
            made.append(X.shape)
            super().__init__(X, settings)

    monkeypatch.setattr(_smoothed_pool, "SmoothedPool", Counted)
    return made


CHECKS = parametrize_with_checks([PoolClassifier()])


# Old versions of scikit-learn hand pytest a generator, which it no longer takes.
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_it_is_a_scikit_learn_classifier(estimator, check):
    try:
        check(estimator)
    except SkipTest as reason:
        if "SCIPY_ARRAY_API" not in str(reason):  # which the process must set before it starts
            raise


@pytest.mark.parametrize("labels", [30, 100])
def test_the_pool_helps_and_both_beat_logistic_regression(digits, labels):
    X, y = digits
    test = X[1000:], y[1000:]
    pooled = PoolClassifier().fit(X[:labels], y[:labels], unlabelled=X[labels:1000]).score(*test)
    alone = PoolClassifier().fit(X[:labels], y[:labels]).score(*test)
    regression = LogisticRegression(max_iter=5000).fit(X[:labels], y[:labels]).score(*test)
    assert pooled > alone > regression


def test_the_smoothed_features_are_those_of_the_formula():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = PoolClassifier(neighbours=4, standardise=False).fit(X[:10], np.arange(10) % 2, unlabelled=X[10:])
    A = (X - X.mean(0)) / np.sqrt(((X - X.mean(0)) ** 2).sum(1).mean())
    distances = np.linalg.norm(A[:, None] - A, axis=2)
    W, reach = np.zeros((40, 40)), np.sort(distances, axis=1)[:, 4]
    for i in range(40):
        for j in np.argsort(distances[i])[1:5]:
            W[i, j] = np.exp(-(distances[i, j] ** 2) / (reach[i] * reach[j]))
    W = np.maximum(W, W.T)
    root = np.sqrt(W.sum(1))
    R = W / root[:, None] / root
    U = 0.5 * A + 0.5 * (R / R.sum(1, keepdims=True)) @ A
    U -= U.mean(0)
    U /= np.sqrt((U**2).sum(1).mean())
    np.testing.assert_allclose(model.embed(X), U, atol=1e-5)


def test_the_probabilities_are_those_of_the_formula(digits):
    X, y = digits
    model = PoolClassifier().fit(X[:60], y[:60], unlabelled=X[60:400])

    def kernel(left, right):
        squared = ((left[:, None] - right) ** 2).sum(2)
        return (left @ right.T + np.exp(-model.head_.anchors.gamma * squared)) / 2

    U, new = model.embed(X[:60]).astype(float), model.embed(X[400:450]).astype(float)
    values, vectors = np.linalg.eigh(kernel(U, U))
    F, G = vectors * np.sqrt(values), kernel(new, U) @ vectors / np.sqrt(values)
    head = LogisticRegression(C=50, class_weight="balanced", max_iter=2000).fit(F - F.mean(0), y[:60])
    np.testing.assert_allclose(model.predict_proba(X[400:450]), head.predict_proba(G - F.mean(0)), atol=1e-3)


def test_an_item_outside_moves_towards_its_neighbours(digits):
    X, y = digits
    model = PoolClassifier(smoothing=1.0).fit(X[:50], y[:50], unlabelled=X[50:500])
    still = PoolClassifier(smoothing=0.0).fit(X[:50], y[:50], unlabelled=X[50:500])
    near = model.pool_.index.find(still.pool_.encoding.dense(X[600:601]), 10)[0]
    means = still.embed(X[:500])[near]
    moved = model.embed(X[600:601])[0] * model.pool_.scale + model.pool_.mean
    assert np.all(moved <= means.max(0) + 1e-5)
    assert np.all(moved >= means.min(0) - 1e-5)


def test_predictions_depend_on_the_row_alone(digits):
    X, y = digits
    model = PoolClassifier().fit(X[:50], y[:50], unlabelled=X[50:500])
    mixed = np.random.default_rng(1).permutation(900)
    np.testing.assert_allclose(model.predict_proba(X[mixed]), model.predict_proba(X)[mixed], rtol=1e-6)
    np.testing.assert_allclose(
        np.vstack([model.predict_proba(X[i : i + 1]) for i in range(480, 520)]),
        model.predict_proba(X[480:520]),
        rtol=1e-6,
    )


def test_the_order_of_the_pool_is_irrelevant(digits, graphs):
    X, y = digits
    model = PoolClassifier().fit(X[:50], y[:50], unlabelled=X[50:500])
    again = PoolClassifier().fit(X[:50], y[:50], unlabelled=X[50:500][::-1])
    assert len(graphs) == 1
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


def test_a_session_makes_the_graph_once(digits, graphs):
    X, y = digits[0][:400], digits[1][:400]
    session = Session(X, PoolClassifier(), labelled=dict(enumerate(y[:20].tolist())), strategy="margin", seed=0)
    session.recalibrate = "cross-fit"
    for _ in range(3):
        query = session.ask(10)
        session.tell(query.indices, y[query.indices])
    assert session.predict_proba(X).shape == (400, 10)
    assert graphs == [(400, 64)]


def test_the_graph_is_forgotten_with_the_last_model(digits, graphs):
    X, y = digits
    model = PoolClassifier().fit(X[:50], y[:50], unlabelled=X[50:300])
    other = copy.deepcopy(model)
    assert other.pool_ is model.pool_
    del model
    other.fit(X[:60], y[:60], unlabelled=X[60:300])
    assert len(graphs) == 1
    del other
    gc.collect()
    assert not [pool for pool in _smoothed_pool._POOLS.values() if pool.A.shape == (300, 64)]


def test_other_settings_make_another_graph(digits, graphs):
    X, y = digits
    models = [PoolClassifier(neighbours=k).fit(X[:50], y[:50], unlabelled=X[50:300]) for k in (5, 10)]
    assert len(graphs) == len(models)


def test_a_pickled_model_predicts_the_same(digits):
    X, y = digits
    model = PoolClassifier().fit(X[:50], y[:50], unlabelled=X[50:300])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("sparse", [False, True])
def test_a_saved_session_predicts_the_same(digits, tmp_path, sparse):
    X, y = digits[0][:300], digits[1][:300]
    items = csr_matrix(X) if sparse else X
    session = Session(items, PoolClassifier(), labelled=dict(enumerate(y[:40].tolist())), strategy="margin", seed=0)
    session.ask(5)
    session.save(tmp_path / "session")
    loaded = Session.load(tmp_path / "session", items)
    np.testing.assert_array_equal(loaded.predict_proba(items), session.predict_proba(items))


def test_a_part_of_a_data_set_stands_for_the_whole(digits):
    X, y = digits
    part = PoolClassifier().fit(X[:50], y[:50], unlabelled=Subset(X[:300], np.arange(60, 300)))
    assert part.pool_.A.shape == (300, 64)


def text_rows(rows=120, columns=300):
    rng = np.random.default_rng(0)
    weights = rng.random((rows, columns)) * (rng.random((rows, columns)) < 0.05)
    return csr_matrix(weights), rng.integers(3, size=rows)


def test_sparse_rows_stay_sparse_and_count():
    X, y = text_rows()
    model = PoolClassifier().fit(X[:40], y[:40], unlabelled=X[40:])
    assert model.embed(X).shape == (120, 100)
    K = model.head_.anchors.mixed(Points(model.space_, X[:2]))
    S, U = X / np.sqrt(X.multiply(X).sum() / 120), model.embed(X).astype(float)
    rbf = np.exp(-model.head_.anchors.gamma * ((U[:2, None] - U[:40]) ** 2).sum(2))
    np.testing.assert_allclose(K, ((S[:2] @ S[:40].T).toarray() + U[:2] @ U[:40].T + rbf) / 3, atol=1e-5)


def test_sparse_without_a_pool():
    X, y = text_rows()
    probs = PoolClassifier().fit(X[:40], y[:40]).predict_proba(X)
    np.testing.assert_allclose(probs.sum(1), 1)


def test_sparse_and_dense_items_do_not_mix():
    X, y = text_rows()
    with pytest.raises(CusalError, match="same form"):
        PoolClassifier().fit(X[:40], y[:40], unlabelled=X[40:].toarray())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.array, csr_matrix])
@pytest.mark.parametrize(
    "X",
    [
        np.array([[0.0, 1.0], [1.0, 0.0]]),
        np.ones((30, 4)),
        np.zeros((30, 150)),
        np.column_stack([np.arange(30.0), np.full(30, 0.1)]),
        np.random.default_rng(0).normal(size=(12, 300)),
        np.repeat([[0.0, 1.0], [3.0, 2.0]], 20, axis=0),
    ],
    ids=["two items", "equal", "zeros", "a constant column", "more columns than items", "many equal"],
)
def test_odd_pools_have_finite_probabilities(X, form, dtype):
    half = max(2, len(X) // 2)
    items = form(X.astype(dtype))
    y = np.arange(half) % 2
    for model in (PoolClassifier().fit(items[:half], y, unlabelled=items), PoolClassifier().fit(items[:half], y)):
        probs = model.predict_proba(form((X + 0.5).astype(dtype)))
        assert np.isfinite(probs).all()
        assert np.isfinite(model.embed(items)).all()


def test_an_empty_rest_of_the_pool_is_no_error(digits):
    X, y = digits
    assert PoolClassifier().fit(X[:50], y[:50], unlabelled=X[:0]).pool_.A.shape == (50, 64)


def test_one_class_is_refused_with_advice(digits):
    with pytest.raises(CusalError, match="one class, 1; expected two or more"):
        PoolClassifier().fit(digits[0][:5], [1] * 5)


def test_missing_values_are_refused_in_the_pool_too(digits):
    X, y = digits
    with pytest.raises(ValueError, match="NaN"):
        PoolClassifier().fit(X[:20], y[:20], unlabelled=np.full((3, 64), np.nan))


@pytest.mark.parametrize("wrong", [{"neighbours": 0}, {"smoothing": 1.5}, {"standardise": "yes"}])
def test_wrong_settings_are_refused(digits, wrong):
    with pytest.raises(CusalError, match="change them"):
        PoolClassifier(**wrong).fit(digits[0][:20], digits[1][:20])


def test_a_clone_has_the_settings_and_nothing_else(digits):
    model = PoolClassifier(neighbours=7).fit(digits[0][:20], digits[1][:20])
    assert vars(clone(model)) == PoolClassifier(neighbours=7).get_params()


@pytest.mark.parametrize(
    ("columns", "standardised"),
    [
        (np.random.default_rng(0).normal(size=(99, 4)) * [1, 1000, 3, 0.01], True),  # units of their own
        (np.random.default_rng(0).normal(size=(99, 4)) * [1, 2, 3, 2.5], False),  # one unit
        (np.random.default_rng(0).normal(size=(99, 4)) * [90, 20, 3, 0.1], True),  # too few to know
        (np.random.default_rng(0).normal(size=(20, 50)) * 0.9 ** np.arange(50), False),  # principal components
        (np.eye(20)[np.random.default_rng(0).integers(20, size=99)], False),  # categories
    ],
)
def test_columns_with_units_of_their_own_are_standardised(columns, standardised):
    factors = Encoding.learn(columns, "auto").directions
    assert (len(np.unique(factors)) > 1) == standardised


def test_hashes_go_by_content(digits):
    X = digits[0][:100]
    first = row_hashes(X)
    assert len(np.unique(first)) == len(np.unique(X, axis=0))
    np.testing.assert_array_equal(row_hashes(X.astype(np.float32)), first)
    np.testing.assert_array_equal(row_hashes(np.where(X == 0, -0.0, X)[::-1]), first[::-1])
    sparse = csr_matrix(X)
    np.testing.assert_array_equal(row_hashes(sparse[7:]), row_hashes(sparse)[7:])


@pytest.mark.parametrize("form", [np.array, csr_matrix])
def test_the_order_of_hashes_is_no_order_of_values(digits, form):
    brightness = digits[0].sum(axis=1)
    first = np.argsort(row_hashes(form(digits[0])))[:400]
    assert abs(brightness[first].mean() - brightness.mean()) < brightness.std() / 5


def test_cells_find_nearly_all_neighbours(digits, monkeypatch):
    exact = Neighbours(digits[0]).of_pool(10)
    monkeypatch.setattr(_neighbours, "EXACT", 1000)
    found = Neighbours(digits[0]).of_pool(10)
    assert np.mean([len(set(a) & set(b)) for a, b in zip(exact, found, strict=True)]) > 9.5
    assert not (found == np.arange(len(found))[:, None]).any()


def test_a_large_pool_is_predicted_as_by_exact_search(digits, monkeypatch):
    X, y = digits
    exact = PoolClassifier().fit(X[:50], y[:50], unlabelled=X[50:1500]).predict(X)
    monkeypatch.setattr(_neighbours, "EXACT", 1000)
    # A pool of another size, so that the graph is not the one in memory.
    found = PoolClassifier().fit(X[:50], y[:50], unlabelled=X[50:1499]).predict(X)
    assert np.mean(found == exact) > 0.99


def test_cells_of_equal_points_are_no_error(monkeypatch):
    monkeypatch.setattr(_neighbours, "EXACT", 100)
    points = np.repeat(np.eye(3, dtype=np.float32), 100, axis=0)
    found = Neighbours(points).of_pool(10)
    np.testing.assert_array_equal(found // 100, np.repeat(np.arange(3), 100)[:, None] + np.zeros(10, dtype=int))
