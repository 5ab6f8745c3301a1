"""Recalibration by "auto" and "vector", audit picks, and the accuracy of the open items."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, SGDClassifier

import cusal
from cusal.errors import InvalidInput, NotReady, PoolExhausted, UnknownName
from cusal.recalibration import CrossValidatedRecalibration
from cusal.recalibration.temperature import fit_temperature

X, Y = load_digits(return_X_y=True)
X, Y = X[:900] / 16, Y[:900]
DATA = Path(os.environ.get("CUSAL_DATA", "") or "nowhere")


def begun(strategy="margin", model=None, rounds=6, batch_size=10, **options):
    start = np.random.default_rng(0).permutation(len(Y))[:20]
    model = LogisticRegression(max_iter=300) if model is None else model
    session = cusal.Session(X, model, strategy, labelled=(start, Y[start]), **options)
    for _ in range(rounds):
        query = session.ask(batch_size)
        session.tell(query.indices, Y[query.indices])
    return session


@pytest.mark.parametrize("recalibrate", ["auto", "vector"])
def test_light_models_are_recalibrated_out_of_fold(recalibrate):
    session = begun(recalibrate=recalibrate)
    assert session.calibration.evidence == 80
    scores = session.evaluate(X[session.pool.open], Y[session.pool.open])
    assert scores.recalibrated["ece"] < 0.6 * scores.raw["ece"]
    assert session.predict_proba(X[:50]).sum(axis=1) == pytest.approx(np.ones(50))


def test_dear_models_are_recalibrated_by_past_picks_with_a_discount():
    session = begun(rounds=3)
    session.refit_limit = 0
    assert session.calibration.evidence == 30
    made = session.recalibration
    assert isinstance(made, CrossValidatedRecalibration)
    assert made.weights.tolist() == pytest.approx([0.81] * 10 + [0.9] * 10 + [1.0] * 10)


def test_a_warm_model_is_recalibrated_by_past_picks():
    model = SGDClassifier(loss="log_loss", warm_start=True, random_state=0)
    start = np.concatenate([np.flatnonzero(label == Y)[:2] for label in range(10)])
    session = cusal.Session(X, model, "margin", labelled=(start, Y[start]), recalibrate="auto")
    for _ in range(3):
        query = session.ask(10)
        session.tell(query.indices, Y[query.indices])
    assert session.calibration.evidence == session.estimate_accuracy().labels == 30
    assert session.recalibration.weights.tolist() == pytest.approx([0.95**2] * 10 + [0.95] * 10 + [1.0] * 10)
    with np.errstate(divide="ignore"):
        logs = np.log(session.recalibration.probs)
    assert session.recalibration.temperature == fit_temperature(
        logs, session.recalibration.labels, weights=session.recalibration.weights
    )


@pytest.mark.parametrize(("method", "strength"), [("prequential", 5.0), ("cross-fit", 0.0)])
def test_the_methods_by_name_keep_their_fit(method, strength):
    session = begun(recalibrate=method)
    made = session.recalibration
    with np.errstate(divide="ignore"):
        expected = fit_temperature(np.log(made.probs), made.labels, strength=strength)
    assert made.temperature == expected


def test_the_choice_changes_nothing_that_is_asked():
    asked = [begun(recalibrate=method).labels for method in ("auto", "vector", None)]
    assert asked[0] == asked[1] == asked[2]


def test_the_calibration_error_comes_with_intervals():
    calibration = begun(recalibrate="auto").calibration
    for estimate, (low, high) in (
        (calibration.ece_before, calibration.ece_before_interval),
        (calibration.ece_after, calibration.ece_after_interval),
    ):
        assert 0 <= low <= estimate <= high <= 1
    assert calibration.ece_after < calibration.ece_before
    empty = cusal.Session(X, LogisticRegression(), recalibrate="auto").calibration
    assert empty == cusal.CalibrationEstimate(1.0, 0)


@pytest.mark.parametrize(("audit", "size", "share"), [(0.1, 10, 1), (0.25, 10, 2), (0.01, 20, 1), (1.0, 4, 4)])
def test_a_share_of_each_batch_is_drawn_at_random(audit, size, share):
    session = begun(rounds=1, audit=audit)
    query = session.ask(size)
    assert query.audit.sum() == share
    assert len(set(query.indices.tolist())) == size
    assert query.probs == pytest.approx(session.view.probs_of(query.indices)[:, session.class_columns])
    assert session.ask(size).indices.tolist() == query.indices.tolist()
    picks = begun(rounds=0).ask(size)
    assert picks.audit is None


def test_audit_items_are_spread_over_the_whole_pool_and_no_pick_is_preferred():
    chosen = [begun(rounds=0, audit=0.5, seed=seed).ask(20) for seed in range(12)]
    drawn = np.concatenate([query.indices[query.audit] for query in chosen])
    assert len(drawn) == 120
    assert abs(drawn.mean() - len(X) / 2) < 3 * len(X) / np.sqrt(12 * len(drawn))


def test_a_batch_of_one_is_not_always_for_audit():
    session = begun(rounds=0, audit=0.3)
    count = 0
    for _ in range(30):
        query = session.ask(1)
        count += int(query.audit.sum())
        session.tell(query.indices, Y[query.indices])
    assert 2 <= count <= 18


def test_the_estimated_error_of_audit_picks_is_not_known():
    query = begun("cusal", rounds=1, audit=0.2).ask(10)
    assert np.isnan(query.error).tolist() == query.audit.tolist() == (query.decided_by == "audit").tolist()
    assert "2 for audit" in repr(query)
    assert "nan" not in repr(query)


@pytest.mark.parametrize("audit", [-0.1, 1.5, "half", True, float("nan")])
def test_a_share_that_is_none_is_refused(audit):
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        cusal.Session(X, LogisticRegression(), audit=audit)


@pytest.mark.parametrize(("strategy", "audit", "drawn"), [("margin", 0.0, 0), ("margin", 0.2, 12), ("random", 0.0, 60)])
def test_labels_drawn_at_random_are_remembered(strategy, audit, drawn, tmp_path):
    session = begun(strategy, audit=audit)
    estimate = session.estimate_accuracy()
    assert (estimate.labels, estimate.drawn) == (80, drawn)
    truth = (session.predict(X[session.pool.open]) == Y[session.pool.open]).mean()
    assert estimate.low <= truth <= estimate.high
    assert abs(estimate.estimate - truth) < 0.1
    session.save(tmp_path / "session")
    assert cusal.Session.load(tmp_path / "session", X).estimate_accuracy() == estimate


def test_random_labels_make_the_estimate_sharper():
    picked, drawn = (begun(strategy).estimate_accuracy() for strategy in ("margin", "random"))
    assert drawn.high - drawn.low < picked.high - picked.low


def test_accuracy_is_estimated_for_dear_models_too():
    session = begun(rounds=4)
    session.refit_limit = 0
    estimate = session.estimate_accuracy()
    assert estimate.labels == 40
    assert estimate.low < estimate.estimate < estimate.high


def test_accuracy_needs_a_model_and_open_items():
    session = cusal.Session(X, LogisticRegression())
    with pytest.raises(NotReady):
        session.estimate_accuracy()
    session.tell(np.arange(len(Y)), Y)
    with pytest.raises(PoolExhausted):
        session.estimate_accuracy()


def test_a_reopened_label_is_no_longer_a_random_one():
    session = begun("random", rounds=2)
    session.reopen(list(session.labels)[-5:])
    assert session.estimate_accuracy().drawn == 15


@pytest.mark.skipif(not (DATA / "text").is_dir(), reason="CUSAL_DATA names no folder that holds text/")
@pytest.mark.parametrize("recalibrate", ["auto", "vector"])
def test_spam_is_not_made_less_honest(recalibrate):
    for seed in range(5):
        scores = scores_on_spam(seed, strategy="margin", recalibrate=recalibrate)
        assert scores.recalibrated["ece"] < scores.raw["ece"]


@pytest.mark.skipif(not (DATA / "text").is_dir(), reason="CUSAL_DATA names no folder that holds text/")
def test_the_defaults_are_honest_on_spam_and_better_than_random_items():
    for seed in range(5):
        scores = scores_on_spam(seed)
        assert scores.recalibrated["ece"] <= scores.raw["ece"]
        assert scores.raw["accuracy"] > scores_on_spam(seed, strategy="random", recalibrate=None).raw["accuracy"]


def scores_on_spam(seed, **options):
    """Return what a logistic regression on TF-IDF reaches on unseen messages with 220 labels."""
    items, labels = spam()
    order = np.random.default_rng(seed).permutation(len(labels))
    pool, test = order[:2500], order[2500:]
    start = dict(enumerate(labels[pool[:20]]))
    session = cusal.Session(items[pool], LogisticRegression(), labelled=start, seed=seed, **options)
    for _ in range(10):
        query = session.ask(20)
        session.tell(query.indices, labels[pool[query.indices]])
    return session.evaluate(items[test], labels[test])


@cache
def spam():
    from sklearn.feature_extraction.text import TfidfVectorizer

    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(DATA / "text" / "sms_spam.csv.gz")
    return TfidfVectorizer(min_df=2).fit_transform(frame["text"]), frame["label"].to_numpy()


@pytest.mark.parametrize("name", ["nonsense", "None"])
def test_an_unknown_recalibration_is_answered_with_the_names_there_are(name):
    with pytest.raises(UnknownName, match=r"choose one of None \(no quotes\), auto"):
        cusal.Session(X, LogisticRegression(), recalibrate=name)
