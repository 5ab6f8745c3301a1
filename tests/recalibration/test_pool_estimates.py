"""Estimates for open items, and whether their intervals cover the truth."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal
from cusal.recalibration.platt import fit_platt, log_odds
from cusal.recalibration.pool_estimates import Judged, estimate_accuracy, estimate_error

DATA = Path(os.environ.get("CUSAL_DATA", "") or "nowhere")


def two_columns(confidence):
    return np.stack([confidence, 1 - confidence], axis=1)


def drawn(count, slope, seed):
    """Confidences of the first class of two, and labels whose chance is expit(slope * logit confidence)."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.5, 0.99, size=count)
    return two_columns(confidence), (rng.random(count) > expit(slope * log_odds(confidence))).astype(np.int64)


@pytest.mark.parametrize("steep", [False, True])
def test_the_line_and_its_covariance_are_those_of_the_formula(steep):
    rng = np.random.default_rng(0)
    confidence, weights = rng.uniform(0.4, 0.99, size=80), rng.uniform(0.2, 1, size=80)
    right = rng.random(80) < confidence**2
    fitted = fit_platt(confidence, right, weights, steep=steep)

    odds = log_odds(confidence)
    centre = np.average(odds, weights=weights)
    spread = np.sqrt(np.average((odds - centre) ** 2, weights=weights))

    def loss(line):
        chance = expit(line[0] * odds + line[1])
        fit = -weights @ np.where(right, np.log(chance), np.log(1 - chance))
        if not steep:
            return fit + 2.5 * ((line - [1, 0]) ** 2).sum()
        return fit + 0.5 * (min(spread, 1) * (line[0] - 1)) ** 2 + 2.5 * (line[1] + (line[0] - 1) * centre) ** 2

    step = 1e-3 * np.eye(2)
    slopes = [(loss(fitted.line + d) - loss(fitted.line - d)) / 2e-3 for d in step]
    assert slopes == pytest.approx([0, 0], abs=1e-3)
    curvature = [
        [
            (loss(fitted.line + d + e) - loss(fitted.line + d) - loss(fitted.line + e) + loss(fitted.line)) / 1e-6
            for e in step
        ]
        for d in step
    ]
    assert np.linalg.inv(curvature) == pytest.approx(fitted.covariance, rel=0.02, abs=1e-3)


@pytest.mark.parametrize("slope", [0.4, 1.0, 2.0])
def test_intervals_cover_where_the_labels_are_drawn_from_the_pool(slope):
    accuracy, error = [], []
    for seed in range(40):
        probs, labels = drawn(100, slope, seed)
        pool, truth = drawn(2000, slope, seed + 1000)
        judged = Judged(probs, labels, np.ones(100))
        _, low, high = estimate_accuracy(judged, pool, np.random.default_rng(seed))
        accuracy.append(low <= (truth == 0).mean() <= high)
        expected = estimate_error(judged, pool, np.random.default_rng(seed))
        error.append(expected.low <= cusal.metrics.ece(pool, truth) <= expected.high)
        assert expected.low <= expected.estimate <= expected.high
    assert np.mean(accuracy) >= 0.9
    assert np.mean(error) >= 0.9


def test_the_upper_end_allows_for_what_the_last_fifth_of_the_labels_taught():
    probs, labels = drawn(100, 1.0, 0)
    estimate, low, high = estimate_accuracy(Judged(probs, labels, np.ones(100)), probs, np.random.default_rng(0))
    assert high - estimate == pytest.approx(estimate - low + 0.2 * (1 - estimate))


def one_class_at_about_85(count, seed):
    """Predictions of the first class alone, a little surer of its items than of the other's."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(count) > 0.85).astype(np.int64)
    confidence = expit(1.75 + 0.1 * rng.normal(size=count) - 0.3 * truth)
    return two_columns(confidence), truth


def test_intervals_cover_where_confidences_hardly_differ_but_tell_right_from_wrong():
    covered, widths = [], []
    for seed in range(20):
        probs, labels = one_class_at_about_85(100, seed)
        pool, truth = one_class_at_about_85(2000, seed + 1000)
        expected = estimate_error(Judged(probs, labels, np.ones(100)), pool, np.random.default_rng(seed))
        covered.append(expected.low <= cusal.metrics.ece(pool, truth) <= expected.high)
        widths.append(expected.high - expected.low)
    assert np.mean(covered) >= 0.9
    assert np.mean(widths) < 0.3


def test_confidences_that_are_all_the_same_have_a_line():
    fitted = fit_platt(np.full(50, 0.9), np.arange(50) % 10 > 0, np.ones(50), steep=True)
    assert fitted.chance(np.array([0.9])) == pytest.approx([0.9], abs=1e-4)
    assert np.isfinite(fitted.drawn_chances(np.array([0.5, 0.9]), 50, np.random.default_rng(0))).all()


def test_labels_that_weigh_less_say_less():
    probs, labels = drawn(100, 1.0, 0)
    widths = []
    for weight in (1.0, 0.2):
        _, low, high = estimate_accuracy(Judged(probs, labels, np.full(100, weight)), probs, np.random.default_rng(0))
        widths.append(high - low)
    assert widths[1] > 1.2 * widths[0]


def test_without_any_label_the_interval_is_wide():
    probs, _ = drawn(100, 1.0, 0)
    nothing = Judged(np.empty((0, 2)), np.empty(0, dtype=np.int64), np.empty(0))
    estimate, low, high = estimate_accuracy(nothing, probs, np.random.default_rng(0))
    assert estimate == pytest.approx(probs.max(axis=1).mean())
    assert high - low > 0.2


def tasks():
    X, Y = load_digits(return_X_y=True)
    yield "digits", X / 16, Y
    if not (DATA / "tabular").is_dir():
        return
    pandas = pytest.importorskip("pandas")
    for name in ("vowel", "image_segment", "pendigits"):
        frame = pandas.read_csv(DATA / "tabular" / f"{name}.csv.gz").sample(frac=1, random_state=0).head(2000)
        columns = frame.drop(columns="label")
        standard = (columns - columns.mean()) / columns.std().replace(0, 1)
        yield name, standard.to_numpy(dtype=float), frame["label"].astype(str).to_numpy()
    from sklearn.feature_extraction.text import TfidfVectorizer

    frame = pandas.read_csv(DATA / "text" / "sms_spam.csv.gz").sample(frac=1, random_state=0).head(2000)
    yield "sms_spam", TfidfVectorizer(min_df=2).fit_transform(frame["text"]), frame["label"].to_numpy()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
def test_intervals_cover_on_real_tasks_under_margin_and_at_random():
    accuracy, before, after = [], [], []
    for _, X, Y in tasks():
        for seed in range(20, 23):
            for strategy in ("margin", "random"):
                start = np.random.default_rng(seed).permutation(len(Y))[:30]
                session = cusal.Session(
                    X, LogisticRegression(), strategy, labelled=(start, Y[start]), seed=seed, recalibrate="auto"
                )
                for _ in range(9):
                    query = session.ask(10)
                    session.tell(query.indices, Y[query.indices])
                truth, calibration = Y[session.pool.open], session.calibration
                estimate = session.estimate_accuracy()
                scores = session.evaluate(X[session.pool.open], truth)
                accuracy.append(estimate.low <= scores.recalibrated["accuracy"] <= estimate.high)
                low, high = calibration.ece_before_interval
                before.append(low <= scores.raw["ece"] <= high)
                low, high = calibration.ece_after_interval
                after.append(low <= scores.recalibrated["ece"] <= high)
    assert np.mean(accuracy) >= 0.8
    assert np.mean(before) >= 0.8
    assert np.mean(after) >= 0.8


def test_models_that_learned_since_may_err_less_by_as_much():
    probs, labels = drawn(200, 1.0, seed=3)
    now, since = (
        estimate_accuracy(Judged(probs, labels, np.ones(200), False, learned), probs, np.random.default_rng(0))
        for learned in (0.0, 0.5)
    )
    assert since[:2] == now[:2]
    assert since[2] == pytest.approx(min(1.0, now[2] + 0.5 * (1 - now[0])))
    errors = [
        estimate_error(Judged(probs, labels, np.ones(200), False, learned), probs, np.random.default_rng(0))
        for learned in (0.0, 0.8)
    ]
    assert errors[1].estimate == errors[0].estimate
    assert errors[1].high > errors[0].high


def test_without_a_label_nothing_is_known():
    open_probs = two_columns(np.linspace(0.5, 0.9, 50))
    nothing = Judged(np.empty((0, 2)), np.empty(0, dtype=np.int64), np.empty(0), False, 0.0)
    assert estimate_accuracy(nothing, open_probs, np.random.default_rng(0))[1:] == (0.0, 1.0)


def test_few_labels_make_intervals_wider():
    probs, labels = drawn(40, 1.0, seed=4)
    widths = []
    for count in (5, 15, 29):
        _, low, high = estimate_accuracy(Judged(probs[:count], labels[:count], np.ones(count)), probs, rng(0))
        error = estimate_error(Judged(probs[:count], labels[:count], np.ones(count)), probs, rng(0))
        assert low <= high * count / 30
        widths.append((high - low, error.high - error.low))
    assert widths[0] > widths[1] > widths[2]


def rng(seed):
    return np.random.default_rng(seed)


def test_estimates_from_few_labels_are_called_provisional():
    few = cusal.recalibration.AccuracyEstimate(0.5, 0.1, 0.9, labels=29)
    assert str(few).endswith(": provisional")
    assert "provisional" not in str(cusal.recalibration.AccuracyEstimate(0.5, 0.1, 0.9, labels=30))


def test_what_a_network_has_learned_since_its_picks_is_known():
    X, Y = load_digits(return_X_y=True)
    start = np.concatenate([np.flatnonzero(label == Y)[:2] for label in range(10)])
    session = cusal.Session(X, LogisticRegression(max_iter=300), "margin", labelled=(start, Y[start]), seed=0)
    session.refit_limit = 0  # no refits: past picks are the evidence
    for _ in range(3):
        query = session.ask(10)
        session.tell(query.indices, Y[query.indices])
    found = session._recalibrator.evidence()
    assert found.folds is None
    assert found.learned.tolist() == [0.6] * 10 + [0.4] * 10 + [0.2] * 10  # 30, 20 and 10 of 50 labels came later
    weights = found.weights * found.discount
    assert found.judged.learned == pytest.approx(np.average(found.learned, weights=weights))
