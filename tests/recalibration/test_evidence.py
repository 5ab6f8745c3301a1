"""The prequential temperature: honest probabilities without held-out labels."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import cusal
from cusal.models.networks import SmallNet
from cusal.models.torch_classifier import TorchClassifier

X, Y = load_digits(return_X_y=True)
X = X / 16


def run(model, seed, rounds=8, **options):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    pool, test = order[:1000], order[1000:]
    start = {i: int(Y[pool[i]]) for i in range(20)}
    session = cusal.Session(
        X[pool],
        model,
        "margin",
        labelled=start,
        seed=seed,
        classes=range(10),
        **{"recalibrate": "prequential"} | options,
    )
    for _ in range(rounds):
        query = session.ask(10)
        session.tell(query.indices, Y[pool[query.indices]])
    raw = session.model.predict_proba(X[test]) if options else None
    return session, X[test], Y[test], raw


def network():
    return TorchClassifier(SmallNet(64, 10, hidden=(64, 64)), epochs=100, learning_rate=0.01)


@pytest.mark.parametrize("make", [lambda: LogisticRegression(max_iter=500), network], ids=["scikit-learn", "torch"])
def test_lowers_the_calibration_error_on_unseen_digits(make):
    before, after, expected = [], [], []
    for seed in range(10):
        session, items, labels, _ = run(make(), seed)
        raw, recalibrated = session.model.predict_proba(items), session.predict_proba(items)
        # A network ends up elsewhere on another processor. Its log loss gains with every seed, its ECE in the mean.
        assert cusal.metrics.nll(recalibrated, labels) < cusal.metrics.nll(raw, labels)
        after.append(cusal.metrics.ece(recalibrated, labels))
        before.append(cusal.metrics.ece(raw, labels))
        assert session.calibration.evidence == session.recalibration.evidence == 80
        assert not session.calibration.provisional
        expected.append((session.calibration.ece_before, session.calibration.ece_after))
    assert np.mean(after) < np.mean(before)
    estimated = np.mean(expected, axis=0)
    assert estimated[1] < estimated[0]
    assert estimated[0] == pytest.approx(np.mean(before), abs=0.08)


def test_changes_neither_what_is_asked_nor_what_is_fitted():
    with_, without = (
        run(LogisticRegression(max_iter=500), 0)[0],
        run(LogisticRegression(max_iter=500), 0, recalibrate=None)[0],
    )
    assert with_.labels == without.labels
    assert (without.predict_proba(X) == without.model.predict_proba(X)).all()
    with_.fit()
    assert (with_.model.predict_proba(X) == without.model.predict_proba(X)).all()
    assert without.calibration.temperature == 1
    assert with_.calibration.temperature != 1


@pytest.mark.parametrize("method", ["cross-fit", "held-out"])
def test_other_recalibrations_rest_on_labelled_points(method):
    session, items, labels, raw = run(LogisticRegression(max_iter=500), 1, recalibrate=method)
    assert session.calibration.evidence == (100 if method == "cross-fit" else 20)
    assert cusal.metrics.ece(session.predict_proba(items), labels) < cusal.metrics.ece(raw, labels)


def test_the_warm_up_and_labels_never_asked_for_are_no_evidence():
    session = cusal.Session(
        X, LogisticRegression(max_iter=500), labelled={i: int(Y[i]) for i in range(30)}, recalibrate="prequential"
    )
    assert session.calibration == cusal.CalibrationEstimate(1.0, 0)
    assert session.calibration.provisional
    session.tell([100, 101], Y[[100, 101]])
    assert session.calibration.evidence == 0
    query = session.ask(3)
    session.tell(query.indices, Y[query.indices])
    assert session.calibration.evidence == 3


def test_a_corrected_label_corrects_the_evidence_and_a_reopened_one_leaves_it():
    session = cusal.Session(
        X, LogisticRegression(max_iter=500), labelled={i: int(Y[i]) for i in range(30)}, recalibrate="prequential"
    )
    query = session.ask(30)
    session.tell(query.indices, Y[query.indices])
    right = session.calibration.temperature
    session.tell(query.indices, (Y[query.indices] + 1) % 10)
    assert session.calibration.temperature > right
    session.tell(query.indices, Y[query.indices])
    assert session.calibration.temperature == right
    session.reopen(query.indices[:10])
    assert session.calibration.evidence == 20


def test_evidence_survives_saving(tmp_path):
    session = run(LogisticRegression(max_iter=500), 2, rounds=3)[0]
    session.save(tmp_path / "s")
    loaded = cusal.Session.load(tmp_path / "s", session.items)
    assert loaded.calibration == session.calibration
    assert loaded.calibration.evidence == 30


def test_evidence_from_before_a_class_was_met_still_counts():
    session = cusal.Session(X, GaussianNB(), labelled={0: 0, 1: 1, 2: 2}, recalibrate="prequential")
    query = session.ask(5)
    session.tell(query.indices, [0, 1, 2, 3, 4])
    assert session.calibration.evidence == 5
    assert np.isfinite(session.predict_proba(X[:5])).all()
