import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from cusal import Session, metrics
from cusal.errors import InvalidInput, MissingMethod, NotReady, UnknownName
from cusal.models.networks import SmallNet
from cusal.models.torch_classifier import TorchClassifier
from cusal.recalibration.temperature import apply_temperature, fit_temperature
from cusal.recalibration.temperature_scaled import TemperatureScaled, is_held_out


def sampled(temperature: float, *, n: int = 4000, seed: int = 0):
    """Logits whose labels were drawn at `temperature`: that temperature makes them honest."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=3, size=(n, 5))
    probs = softmax(logits / temperature, axis=1)
    labels = (probs.cumsum(1) < rng.random((n, 1))).sum(1).clip(0, 4)
    return logits, labels


@pytest.mark.parametrize("true", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("strength", [0.0, 5.0])
def test_finds_the_temperature_that_made_the_labels(true, strength):
    assert fit_temperature(*sampled(true), strength=strength) == pytest.approx(true, rel=0.1)


def test_minimises_the_penalised_likelihood():
    logits, labels = sampled(2.0, n=60)
    grid = np.linspace(-1.5, 3, 2001)
    rows = np.arange(len(labels))
    losses = [-log_softmax(logits / np.exp(s), axis=1)[rows, labels].sum() + 2.5 * s**2 for s in grid]
    assert np.log(fit_temperature(logits, labels)) == pytest.approx(grid[np.argmin(losses)], abs=0.003)


def test_logits_and_log_probabilities_give_the_same():
    logits, labels = sampled(2.0, n=100)
    expected = fit_temperature(logits, labels)
    assert fit_temperature(log_softmax(logits, axis=1), labels) == pytest.approx(expected, rel=1e-6)


def test_stays_within_its_bounds():
    right, wrong = np.array([[9.0, 0.0]] * 50), [1] * 50
    assert fit_temperature(right, wrong, strength=0) == pytest.approx(np.exp(3), rel=1e-4)
    assert fit_temperature(right / 20, [0] * 50, strength=0) == pytest.approx(np.exp(-1.5), rel=1e-4)


def test_the_prior_holds_small_evidence_near_one():
    logits, labels = np.array([[2.0, 0.0]]), [1]
    assert 1 < fit_temperature(logits, labels) < 1.4
    assert fit_temperature(logits, labels, strength=1e6) == pytest.approx(1, abs=1e-3)
    assert fit_temperature(np.empty((0, 3)), []) == 1


def test_rows_that_give_their_label_nothing_say_nothing():
    logits, labels = sampled(2.0, n=100)
    zero = np.array([[-np.inf, 0.0, 0.0, 0.0, -np.inf]])
    expected = fit_temperature(logits, labels)
    assert fit_temperature(np.concatenate([logits, zero]), [*labels, 4]) == pytest.approx(expected)
    assert fit_temperature(zero, [0]) == 1
    assert np.isfinite(fit_temperature(zero, [1]))


def test_weights_count_rows_as_often_as_they_say():
    rng = np.random.default_rng(3)
    logits, labels, times = rng.normal(size=(40, 4)) * 3, rng.integers(0, 4, 40), rng.integers(0, 4, 40)
    expected = fit_temperature(np.repeat(logits, times, axis=0), np.repeat(labels, times))
    assert fit_temperature(logits, labels, weights=times) == pytest.approx(expected, rel=1e-6)
    assert fit_temperature(logits, labels, weights=np.ones(40)) == fit_temperature(logits, labels)
    assert fit_temperature(logits, labels, weights=np.zeros(40)) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"weights has shape \(1,\) and type float64 for 2 rows"),
        ([[1.0, 1.0]], r"weights has shape \(1, 2\)"),
        (["a", "b"], "weights has shape .* and type <U1"),
        ([1.0, 2j], "type complex128"),
        ([1.0, -1.0], "weights has -1.0 in row 1"),
        ([np.nan, 1.0], "weights has nan in row 0"),
    ],
)
def test_bad_weights_are_named(weights, message):
    with pytest.raises(InvalidInput, match=message):
        fit_temperature([[0.0, 1.0], [1.0, 0.0]], [0, 1], weights=weights)


def test_confident_mistakes_count_however_small_their_probability():
    """Clipped at 1e-7, a mistake at 1e-20 would look like one at 1e-7."""
    sure = np.array([[0.0, -46.0]] * 9 + [[-46.0, 0.0]])  # 1e-20
    temperature = fit_temperature(sure, np.zeros(10, dtype=int), strength=0)
    assert temperature > fit_temperature(np.maximum(sure, np.log(1e-7)), np.zeros(10, dtype=int), strength=0) * 2


def test_huge_logits_stay_finite():
    assert np.isfinite(fit_temperature(np.array([[1e300, -1e300], [-1e5, 1e5]]), [0, 0]))


@pytest.mark.parametrize(
    ("logits", "labels", "message"),
    [
        ([[0.0, np.nan]], [0], "row 0"),
        ([[0.0, 1.0], [np.inf, 0.0]], [0, 0], "row 1"),
        ([[-np.inf, -np.inf]], [0], "row 0"),
        ([0.0, 1.0], [0], "shape"),
        ([[0.0, 1.0]], [2], "row 0 is 2"),
        ([[0.0, 1.0]], [0, 1], "shape"),
    ],
)
def test_bad_evidence_is_named(logits, labels, message):
    with pytest.raises(InvalidInput, match=message):
        fit_temperature(np.array(logits), labels)
    with pytest.raises(InvalidInput, match="strength"):
        fit_temperature(np.zeros((1, 2)), [0], strength=-1)


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4).filter(lambda row: sum(row) > 1e-3), min_size=1),
    st.floats(np.exp(-1.5), np.exp(3)),
)
def test_tempering_keeps_the_most_probable_class_zeros_and_sums(rows, temperature):
    probs = np.array(rows)
    probs /= probs.sum(1, keepdims=True)
    tempered = apply_temperature(probs, temperature)
    assert np.allclose(tempered.sum(1), 1, atol=1e-12)
    assert (tempered[probs == 0] == 0).all()
    best = tempered[np.arange(len(probs)), probs.argmax(1)]
    assert (best >= tempered.max(1) * (1 - 1e-12)).all()


def test_tempering_by_one_changes_nothing_and_by_more_softens():
    probs = np.array([[0.7, 0.2, 0.1], [1.0, 0.0, 0.0]])
    assert np.array_equal(apply_temperature(probs, 1.0), probs)
    assert apply_temperature(probs, 2.0)[0, 0] < 0.7 < apply_temperature(probs, 0.5)[0, 0]
    assert apply_temperature([[1.0, 1e-300]], 20.0)[0, 1] > 1e-20
    with pytest.raises(InvalidInput, match="temperature"):
        apply_temperature(probs, 0.0)


@pytest.mark.parametrize("method", ["held-out", "cross-fit"])
def test_an_over_confident_model_becomes_honest_on_unseen_data(method):
    X, y = load_digits(return_X_y=True)
    model = TemperatureScaled(GaussianNB(), method=method, random_state=0).fit(X[:600], y[:600])
    raw, tempered = model.model_.predict_proba(X[600:]), model.predict_proba(X[600:])
    assert np.array_equal(raw.argmax(1), tempered.argmax(1))
    assert model.temperature_ > 1.5
    assert metrics.ece(tempered, y[600:]) < 0.7 * metrics.ece(raw, y[600:])
    assert metrics.nll(tempered, y[600:]) < metrics.nll(raw, y[600:])


@pytest.mark.parametrize("method", ["held-out", "cross-fit"])
def test_the_temperature_lowers_the_likelihood_loss_of_an_over_confident_network(method):
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    network = TorchClassifier(SmallNet(64, 10), epochs=100, learning_rate=0.01, random_state=0)
    model = TemperatureScaled(network, method=method, random_state=0).fit(X[:200], y[:200])
    assert model.temperature_ > 1
    fresh = [(X[200:], y[200:])]
    held_out = np.flatnonzero(is_held_out(X[:200]))
    assert 25 < len(held_out) < 55
    for items, labels in fresh + [(X[held_out], y[held_out])] * (method == "held-out"):
        raw, tempered = model.model_.predict_proba(items), model.predict_proba(items)
        assert metrics.nll(tempered, labels) < metrics.nll(raw, labels)


@pytest.mark.parametrize("method", ["held-out", "cross-fit"])
def test_the_temperature_stays_right_as_a_warm_network_goes_on(method):
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    model = TemperatureScaled(TorchClassifier(SmallNet(64, 10)), method=method)
    for count in range(20, 181, 10):
        model.set_params(random_state=count, model__random_state=count).fit(X[:count], y[:count])
    raw, tempered = model.model_.predict_proba(X[200:]), model.predict_proba(X[200:])
    best = fit_temperature(np.log(raw), y[200:], strength=0)
    assert best > 1.2  # trained for 17 rounds, it is too sure
    assert 0.6 * best < model.temperature_ < 1.6 * best
    assert metrics.nll(tempered, y[200:]) < metrics.nll(raw, y[200:])


def test_held_out_has_no_prior():
    X, y = load_digits(return_X_y=True)
    model = TemperatureScaled(GaussianNB()).fit(X[:300], y[:300])
    rows = np.flatnonzero(is_held_out(X[:300]))
    with np.errstate(divide="ignore"):
        log_probs = np.log(model.model_.predict_proba(X[rows]))
    assert model.temperature_ == fit_temperature(log_probs, y[rows], strength=0)


@pytest.mark.parametrize("method", ["held-out", "cross-fit"])
def test_a_session_goes_on_when_the_last_class_has_no_label_yet(method):
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    rows = np.flatnonzero(y[:60] < 9)
    network = TorchClassifier(SmallNet(64, 10), epochs=2)
    labelled = {int(i): int(y[i]) for i in rows}
    session = Session(X, TemperatureScaled(network, method=method), labelled=labelled, classes=range(10))
    assert len(session.ask(5)) == 5


def test_one_label_of_one_class_is_enough_for_a_network():
    for method in ("held-out", "cross-fit"):
        model = TemperatureScaled(TorchClassifier(SmallNet(2, 3), epochs=1, random_state=0), method=method)
        model.fit(np.array([[0.0, 1.0], [3.0, 1.0]]), [0, 0])
        assert model.predict_proba(np.eye(2)).shape == (2, 3)


def test_a_training_side_of_one_class_is_an_error_that_says_what_to_do():
    X, y = load_digits(return_X_y=True)
    held_out = np.flatnonzero(is_held_out(X))
    rows = [*held_out[y[held_out] == 1][:3], *np.flatnonzero(~is_held_out(X) & (y == 0))[:3]]
    with pytest.raises(NotReady, match=r"6 row.*of 1 class.*label more, or use cross-fit"):
        TemperatureScaled(LogisticRegression()).fit(X[rows], y[rows])
    assert TemperatureScaled(LogisticRegression(), method="cross-fit").fit(X[rows], y[rows]).temperature_ > 0


def test_the_side_of_a_row_does_not_depend_on_its_type_or_neighbours():
    X, _ = load_digits(return_X_y=True)
    assert np.array_equal(is_held_out(X / 16), is_held_out((X / 16).astype(np.float32)))
    assert np.array_equal(is_held_out(X)[700:], is_held_out(X[700:]))
    assert 0.17 < is_held_out(X).mean() < 0.23


@pytest.mark.parametrize("method", ["held-out", "cross-fit"])
def test_a_class_with_one_member_does_no_harm(method):
    X, y = load_digits(return_X_y=True)
    rows = np.append(np.flatnonzero(y[:200] != 9), np.flatnonzero(y == 9)[0])
    model = TemperatureScaled(GaussianNB(), method=method, random_state=0).fit(X[rows], y[rows])
    assert 0.2 < model.temperature_ < 21
    assert model.predict_proba(X[:5]).shape == (5, len(model.classes_))
    assert set(model.predict(X)) <= set(range(10))


def test_cross_fit_fits_the_model_to_every_row_and_held_out_does_not():
    X, y = load_digits(return_X_y=True)
    whole = GaussianNB().fit(X, y)
    assert np.array_equal(TemperatureScaled(GaussianNB(), method="cross-fit").fit(X, y).model_.theta_, whole.theta_)
    part = TemperatureScaled(GaussianNB(), method="held-out").fit(X, y).model_
    assert part.class_count_.sum() == pytest.approx(0.8 * len(X), rel=0.05)


def test_a_row_once_held_out_stays_held_out():
    X, y = load_digits(return_X_y=True)
    first = TemperatureScaled(GaussianNB()).fit(X[:300], y[:300]).model_
    order = np.random.default_rng(0).permutation(300)
    assert TemperatureScaled(GaussianNB()).fit(X[order], y[order]).model_.class_count_.sum() == first.class_count_.sum()


def test_a_warm_network_goes_on_and_forwards_embeddings_and_samples():
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    network = TorchClassifier(SmallNet(64, 10), epochs=5, random_state=0)
    model = TemperatureScaled(network, method="held-out").fit(X[:300], y[:300])
    before = model.model_.score(X[300:], y[300:])
    assert model.fit(X[:300], y[:300]).model_.score(X[300:], y[300:]) > before
    assert not hasattr(network, "module_")
    assert model.embed(X[:3]).shape == (3, 64)
    assert model.sample_proba(X[:3], 4).shape == (3, 4, 10)
    assert np.allclose(model.sample_proba(X[:3], 4).sum(2), 1)


def test_samples_of_a_forest_are_its_trees_and_a_model_without_any_is_an_error():
    X, y = load_digits(return_X_y=True)
    forest = TemperatureScaled(RandomForestClassifier(5, random_state=0), method="cross-fit").fit(X[:200], y[:200])
    assert forest.sample_proba(X[:3], 5).shape == (3, 5, 10)
    with pytest.raises(MissingMethod, match="sample_proba"):
        TemperatureScaled(GaussianNB()).fit(X, y).sample_proba(X[:3], 5)


def test_bad_use_is_named():
    with pytest.raises(UnknownName, match="did you mean 'held-out'"):
        TemperatureScaled(GaussianNB(), method="heldout").fit(np.eye(2), [0, 1])
    with pytest.raises(NotReady, match="fit"):
        TemperatureScaled(GaussianNB()).predict_proba(np.eye(2))
    with pytest.raises(InvalidInput, match="y"):
        TemperatureScaled(GaussianNB()).fit(np.eye(2), [0])
    with pytest.raises(InvalidInput, match="Unknown label type"):
        TemperatureScaled(GaussianNB()).fit(np.eye(2), [0.1, 0.7])


def test_torch_is_not_loaded():
    program = "import sys, cusal.recalibration.temperature; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
