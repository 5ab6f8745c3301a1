"""Every public function of metrics, by hand and against netcal and scikit-learn where they define the same thing."""

import inspect

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss

from cusal import metrics
from cusal.errors import CusalError

ALL = {
    name: f
    for name, f in vars(metrics).items()
    if inspect.isfunction(f) and f.__module__ == metrics.__name__ and name[0] != "_"
}


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(5, 0.5), size=3000)
    labels = np.array([rng.choice(5, p=row) for row in probs])
    return probs, labels


def test_ece_by_hand():
    probs = [[0.95, 0.05], [0.9, 0.1], [0.65, 0.35], [0.61, 0.39]]
    # bin [.9, 1]: mean .925, accuracy .5; bin [.6, .7): mean .63, accuracy 1
    assert metrics.ece(probs, [0, 1, 0, 0]) == pytest.approx(0.5 * 0.425 + 0.5 * 0.37)
    assert metrics.max_calibration_error(probs, [0, 1, 0, 0]) == pytest.approx(0.425)


def test_confidence_one_lies_in_the_last_bin():
    assert metrics.ece([[1.0, 0.0], [0.95, 0.05]], [0, 0]) == pytest.approx(0.025)


def test_agrees_with_scikit_learn(predictions):
    probs, labels = predictions
    assert metrics.accuracy(probs, labels) == pytest.approx(accuracy_score(labels, probs.argmax(axis=1)))
    assert metrics.nll(probs, labels) == pytest.approx(log_loss(labels, probs))
    onehot = np.eye(5)[labels]
    assert metrics.brier(probs, labels) == pytest.approx(((probs - onehot) ** 2).sum(axis=1).mean())


@pytest.mark.peer
@pytest.mark.parametrize("bins", [5, 10, 15])
def test_agrees_with_netcal(predictions, bins):
    netcal = pytest.importorskip("netcal.metrics")
    probs, labels = predictions
    assert metrics.ece(probs, labels, bins) == pytest.approx(netcal.ECE(bins).measure(probs, labels), abs=1e-9)
    largest = netcal.MCE(bins).measure(probs, labels)
    assert metrics.max_calibration_error(probs, labels, bins) == pytest.approx(largest, abs=1e-9)


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
def test_perfect_predictions_have_the_best_value(metric):
    best = 1.0 if metric in (metrics.accuracy, metrics.balanced_accuracy, metrics.macro_f1) else 0.0
    assert metric(np.eye(4), np.arange(4)) == pytest.approx(best)


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
def test_order_of_the_items_is_irrelevant(metric, predictions):
    probs, labels = predictions
    order = np.random.default_rng(1).permutation(len(labels))
    assert metric(probs[order], labels[order]) == pytest.approx(metric(probs, labels))


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
def test_bad_input_is_named(metric):
    with pytest.raises(CusalError, match="no rows"):
        metric(np.empty((0, 3)), np.empty(0, dtype=int))
    with pytest.raises(CusalError, match="row 1 is 3"):
        metric(np.eye(3), [0, 3, 1])
    with pytest.raises(CusalError, match="sums to"):
        metric([[0.5, 0.6]], [0])


def test_nll_of_a_certain_mistake_is_finite():
    assert np.isfinite(metrics.nll([[1.0, 0.0]], [1]))


def test_classwise_ece_by_hand():
    assert metrics.classwise_ece([[0.8, 0.2], [0.8, 0.2]], [0, 0]) == pytest.approx(0.2)
