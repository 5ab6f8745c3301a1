import copy
import pickle

import numpy as np
import pytest
import torch
from scipy.special import softmax
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from cusal import Session, metrics
from cusal.errors import InvalidInput, NotReady
from cusal.models.networks import SmallNet
from cusal.models.torch_classifier import TorchClassifier
from cusal.models.uncalibrated import Uncalibrated

X, Y = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32)


def fitted(spread: float = 10.0, seed: int = 0) -> Uncalibrated:
    network = TorchClassifier(SmallNet(64, 10), epochs=30, learning_rate=0.003, random_state=0)
    return Uncalibrated(network, spread=spread, random_state=seed).fit(X[:500], Y[:500])


@pytest.fixture(scope="module")
def model():
    return fitted()


def test_the_accuracy_is_the_model_s_and_the_calibration_is_not(model):
    raw, scaled = model.model_.predict_proba(X[500:]), model.predict_proba(X[500:])
    assert np.array_equal(raw.argmax(1), scaled.argmax(1))
    assert np.array_equal(model.predict(X[500:]), model.model_.predict(X[500:]))
    assert metrics.accuracy(scaled, Y[500:]) == metrics.accuracy(raw, Y[500:]) > 0.85
    assert metrics.ece(scaled, Y[500:]) > metrics.ece(raw, Y[500:]) + 0.05
    assert metrics.nll(scaled, Y[500:]) > metrics.nll(raw, Y[500:])


def test_the_order_of_confidences_changes(model):
    raw, scaled = model.model_.predict_proba(X[500:]).max(1), model.predict_proba(X[500:]).max(1)
    assert spearmanr(raw, scaled)[0] < 0.7
    assert len(set(np.argsort(raw)[:20]) & set(np.argsort(scaled)[:20])) < 15


def test_probabilities_are_the_softmax_of_scaled_logits(model):
    with torch.inference_mode():
        logits = model.model_.module_(torch.from_numpy(X[:50])).double().numpy()
    expected = softmax(logits * model.scales(X[:50])[:, None], axis=1)
    assert np.allclose(model.predict_proba(X[:50]), expected, atol=1e-9)


def test_scales_fill_their_range_evenly_in_the_logarithm(model):
    logs = np.log10(model.scales(X))
    assert -1 <= logs.min() < -0.99
    assert 0.99 < logs.max() <= 1
    assert np.histogram(logs, 4, range=(-1, 1))[0].min() > 0.2 * len(X)


def test_an_item_has_one_scale_whatever_it_is_predicted_with(model):
    scales = model.scales(X)
    order = np.random.default_rng(0).permutation(len(X))
    assert np.array_equal(model.scales(X[order]), scales[order])
    assert np.array_equal(model.scales(X[7:8]), scales[7:8])
    for other in (X.astype(np.float64), torch.from_numpy(X), X.tolist(), np.asfortranarray(X)):
        assert np.array_equal(model.scales(other), scales)
    assert np.array_equal(model.scales(X.reshape(-1, 1, 8, 8)), scales)
    assert len(np.unique(scales)) == len(np.unique(X, axis=0))
    assert model.scales(X[:0]).shape == (0,)


def test_texts_have_scales_too():
    class Guess:
        classes_ = np.arange(2)

        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            return np.full((len(X), 2), [0.3, 0.7])

    model = Uncalibrated(Guess(), random_state=0).fit(["a", "b"], [0, 1])
    both = model.scales(["short", "a much longer text"])
    assert both[0] != both[1]
    assert model.scales(["short"])[0] == both[0]
    assert model.predict_proba(["short"]).argmax() == 1


def test_the_seed_decides_the_scales(model):
    assert np.array_equal(fitted(seed=0).scales(X[:50]), model.scales(X[:50]))
    assert not np.isclose(fitted(seed=1).scales(X[:50]), model.scales(X[:50])).any()
    by_chance = Uncalibrated(GaussianNB()).fit(X[:100], Y[:100])
    assert np.array_equal(by_chance.predict_proba(X[:5]), by_chance.predict_proba(X[:5]))
    assert not np.array_equal(by_chance.scales(X[:5]), by_chance.fit(X[:100], Y[:100]).scales(X[:5]))


def test_a_spread_of_one_changes_nothing_and_less_is_an_error():
    model = fitted(spread=1)
    assert np.allclose(model.predict_proba(X[:50]), model.model_.predict_proba(X[:50]), atol=1e-12)
    for spread in (0.5, -1.0):
        with pytest.raises(InvalidInput, match="spread"):
            fitted(spread=spread)


def test_zeros_stay_zeros_and_samples_are_scaled_like_predictions(model):
    class Sure(LogisticRegression):
        def predict_proba(self, X):
            return np.eye(10)[np.zeros(len(X), dtype=int)]

    sure = Uncalibrated(Sure(max_iter=1000)).fit(X[:100], Y[:100]).predict_proba(X[:5])
    assert np.array_equal(sure, np.eye(10)[[0] * 5])
    raw, scaled = model.model_.sample_proba(X[:5], 3), model.sample_proba(X[:5], 3)
    expected = softmax(np.log(raw) * model.scales(X[:5])[:, None, None], axis=2)
    assert np.allclose(scaled, expected)


def test_copies_keep_the_scales_and_clones_the_settings(model):
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.predict_proba(X[:5]), model.predict_proba(X[:5]))
    assert clone(model).get_params(deep=False)["spread"] == 10.0
    with pytest.raises(NotReady, match="fit"):
        clone(model).scales(X[:5])


def test_a_session_sees_it_in_its_choices_and_its_predictions():
    network = TorchClassifier(SmallNet(64, 10), epochs=10)
    labelled = {i: int(Y[i]) for i in range(60)}
    sessions = [
        Session(X[:400], model, "least_confidence", labelled=labelled, classes=range(10), recalibrate=None)
        for model in (network, Uncalibrated(network), Uncalibrated(network))
    ]
    plain, scaled, again = (session.ask(10).indices.tolist() for session in sessions)
    assert scaled == again != plain
    assert np.array_equal(sessions[0].model.predict(X), sessions[1].model.predict(X))
    assert np.array_equal(sessions[1].predict_proba(X), sessions[1].model.predict_proba(X))
    sessions[1].tell(scaled, Y[scaled])
    assert len(sessions[1].ask(10).indices) == 10
