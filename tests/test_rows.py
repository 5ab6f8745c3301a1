"""Rows that sum to one only roughly, as files keep them, give the picks and errors of the exact rows."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import cusal
from cusal._checks import as_probs

CIFAR = Path(os.environ.get("CUSAL_DATA", "")) / "extra" / "cifar10_test_set_pyx.npy"
FORMS = {
    "float16": lambda probs: probs.astype(np.float16),
    "float32": lambda probs: probs.astype(np.float32),
    "three decimals": lambda probs: np.round(probs, 3),
    "three decimals in float32": lambda probs: np.round(probs, 3).astype(np.float32),
}


def exact(probs):
    """The same rows divided by their sums in float64: what every form stands for."""
    rows = probs.astype(np.float64)
    return rows / rows.sum(axis=1, keepdims=True)


def predictions():
    """Out-of-sample predictions of CIFAR-10 and their labels, where the data are there; else confident made-up ones."""
    if CIFAR.exists():
        probs = np.load(CIFAR).astype(np.float64)
        labels = np.load(CIFAR.with_name("cifar10_test_set_original_labels.npy")).ravel().astype(np.int64)
        return probs / probs.sum(axis=1, keepdims=True), labels
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(10, 0.05), size=6000)
    return probs, np.array([rng.choice(10, p=row) for row in probs])


@pytest.fixture(scope="module")
def rows():
    probs, labels = predictions()
    return probs[:5000], probs[5000:6000], labels[5000:6000]


@pytest.mark.parametrize("form", FORMS)
def test_errors_and_picks_are_those_of_the_exact_rows(rows, form):
    pool, reference, labels = rows
    given, evidence = FORMS[form](pool), FORMS[form](reference)
    error = cusal.calibration.pointwise_error(given, evidence, labels).error
    expected = cusal.calibration.pointwise_error(exact(given), exact(evidence), labels).error
    assert np.abs(error - expected).max() < 1e-8
    picks = cusal.query(given, evidence, labels, batch_size=50).indices
    assert picks.tolist() == cusal.query(exact(given), exact(evidence), labels, batch_size=50).indices.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_a_model_that_predicts_so_is_taken_as_if_it_were_exact(form):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)

    class Rough(LogisticRegression):
        def predict_proba(self, X):
            return FORMS[form](super().predict_proba(X))

    class Exact(LogisticRegression):
        def predict_proba(self, X):
            return exact(FORMS[form](super().predict_proba(X)))

    sessions = [cusal.Session(X, model, "cusal", labelled=(np.arange(40), y[:40])) for model in (Rough(), Exact())]
    rough, exactly = (session.ask(10) for session in sessions)
    assert rough.indices.tolist() == exactly.indices.tolist()
    assert np.allclose(rough.probs.sum(axis=1), 1, atol=1e-12)
    assert np.allclose(rough.error, exactly.error, atol=1e-8)


def test_rows_of_float64_that_sum_to_one_are_not_copied_or_moved_by_a_bit():
    probs = np.random.default_rng(2).dirichlet(np.ones(5), size=100)
    assert as_probs(probs) is probs
    assert np.array_equal(as_probs(as_probs(FORMS["float16"](probs))), as_probs(FORMS["float16"](probs)))


def test_rows_that_are_off_by_more_than_a_per_cent_are_refused():
    with pytest.raises(cusal.CusalError, match="row 1 sums to 0"):
        as_probs([[0.5, 0.5], [0.5, 0.48]])
