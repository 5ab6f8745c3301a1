"""The classifier of tables: few labels, then a forest beside."""

import copy
from unittest import SkipTest

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

import cusal
from cusal.errors import CusalError
from cusal.models import PoolClassifier, TableClassifier
from cusal.models.table_classifier import _Mixture

# The second has a forest in every check.
CHECKS = parametrize_with_checks([TableClassifier(), TableClassifier(trees=6, least_labels=2, random_state=0)])


# Old versions of scikit-learn hand pytest a generator, which it no longer takes.
@pytest.mark.parametrize(CHECKS.args[0], list(CHECKS.args[1]), **CHECKS.kwargs)
def test_it_is_a_scikit_learn_classifier(estimator, check):
    try:
        check(estimator)
    except SkipTest as reason:
        if "SCIPY_ARRAY_API" not in str(reason):  # which the process must set before it starts
            raise


@pytest.fixture(scope="module")
def steps():
    """Rows whose class is whether two columns have the same sign, which trees see and few distances do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 12))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


def test_with_few_labels_it_is_the_pool_classifier(steps):
    X, y = steps
    model = TableClassifier().fit(X[:99], y[:99], unlabelled=X[99:400])
    plain = PoolClassifier().fit(X[:99], y[:99], unlabelled=X[99:400])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.weight_ == 0
    assert not hasattr(model, "out_of_fold_proba_")


def test_the_forest_counts_where_it_is_better(steps):
    X, y = steps
    model = TableClassifier(random_state=0).fit(X[:300], y[:300], unlabelled=X[300:600])
    plain = PoolClassifier().fit(X[:300], y[:300], unlabelled=X[300:600])
    assert model.weight_ > 0.2
    assert model.score(X[600:], y[600:]) >= plain.score(X[600:], y[600:])


def test_the_forest_does_not_count_where_it_is_worse():
    X, y = load_digits(return_X_y=True)
    model = TableClassifier(random_state=0).fit(X[:120], y[:120], unlabelled=X[120:900])
    assert model.weight_ < 0.5
    assert model.score(X[900:], y[900:]) > 0.88


def test_the_mixture_is_the_one_of_the_formula():
    rng = np.random.default_rng(1)
    labels = rng.integers(3, size=200)
    good, bad = (np.eye(3)[labels] * s + rng.dirichlet(np.ones(3), 200) for s in (1.0, 0.0))
    good, bad = (probs / probs.sum(axis=1, keepdims=True) for probs in (good, bad))
    mixture = _Mixture.fit(bad, good, labels)
    assert mixture.weight > 0.9
    mixed = mixture.apply(bad, good)
    a, b = mixture.pool_scaling.apply(bad), mixture.trees_scaling.apply(good)
    expected = a ** (1 - mixture.weight) * b**mixture.weight
    np.testing.assert_allclose(mixed, expected / expected.sum(axis=1, keepdims=True), atol=1e-6)


def test_out_of_fold_predictions_are_as_good_as_those_of_other_items():
    X, y = load_breast_cancer(return_X_y=True)
    model = TableClassifier(random_state=0).fit(X[:200], y[:200])
    right = np.mean(model.classes_[model.out_of_fold_proba_.argmax(axis=1)] == y[:200])
    assert right == pytest.approx(model.score(X[200:], y[200:]), abs=0.06)
    model.fit(X[:50], y[:50])
    assert not hasattr(model, "out_of_fold_proba_")


def test_a_session_takes_these_for_its_evidence(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    session = cusal.Session(X[:400], TableClassifier(), labelled=(range(120), y[:120]))
    session.fit()
    monkeypatch.setattr(session._learner, "out_of_sample", lambda *_: pytest.fail("a copy was fitted"))
    assert session.calibration.evidence == 120
    estimate = session.estimate_accuracy()
    assert estimate.low <= np.mean(session.predict(X[120:400]) == y[120:400]) <= estimate.high


def test_it_is_the_model_of_a_frame_and_survives_saving(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = load_breast_cancer(return_X_y=True)
    frame = pandas.DataFrame(X[:300]).rename(columns=str)
    session = cusal.Session(frame, labelled=(range(110), y[:110]), seed=3)
    assert isinstance(session.model.model, TableClassifier)
    query = session.ask(5)
    assert session.model.model_.trees_model_ is not None
    session.save(tmp_path / "session")
    assert cusal.Session.load(tmp_path / "session", frame).ask(5).indices.tolist() == query.indices.tolist()


def test_classes_with_a_single_item_are_no_error():
    X, y = load_digits(return_X_y=True)
    y = np.where(np.arange(len(y)) == 3, 77, y)
    model = TableClassifier(trees=10, random_state=0).fit(X[:110], y[:110])
    assert model.predict_proba(X[:5]).shape == (5, 11)
    assert np.isfinite(model.out_of_fold_proba_).all()


def test_sparse_rows_work():
    X, y = load_digits(return_X_y=True)
    model = TableClassifier(trees=10, random_state=0).fit(
        csr_matrix(X[:120]), y[:120], unlabelled=csr_matrix(X[120:300])
    )
    assert model.score(csr_matrix(X[900:]), y[900:]) > 0.8


def test_the_same_seed_predicts_the_same(steps):
    X, y = steps
    first = TableClassifier(trees=10, random_state=3).fit(X[:150], y[:150])
    again = copy.deepcopy(first).fit(X[:150], y[:150])
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize("wrong", [{"trees": 0}, {"least_labels": 1}])
def test_wrong_settings_are_refused(steps, wrong):
    X, y = steps
    with pytest.raises(CusalError, match="change them"):
        TableClassifier(**wrong).fit(X[:50], y[:50])
