"""Temperature and class offsets with priors, and the guard that leaves a good model alone."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from cusal.recalibration import CrossValidatedRecalibration
from cusal.recalibration.scaling import Scaling, fit_scaling


def calibrated(count, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    probs = softmax(2 * rng.normal(size=(count, classes)), axis=1)
    return probs, np.array([rng.choice(classes, p=row) for row in probs])


def distorted(probs, temperature, offsets=0.0):
    """Predictions that the given temperature and offsets make right."""
    return softmax((np.log(probs) - offsets) * temperature, axis=1)


@pytest.mark.parametrize("with_offsets", [False, True])
def test_the_fit_minimises_the_formula(with_offsets):
    probs, labels = calibrated(60)
    probs, weights = distorted(probs, 0.3), np.random.default_rng(1).uniform(0.2, 1, size=60)

    def loss(point):
        offsets = point[1:] if with_offsets else np.zeros(3)
        scaled = log_softmax(np.log(probs) / np.exp(point[0]) + offsets, axis=1)
        own = scaled[np.arange(60), labels]
        return -weights @ own + 5 / 2 * point[0] ** 2 + 10 / 2 * offsets @ offsets

    found = minimize(loss, np.zeros(4 if with_offsets else 1), method="Nelder-Mead", options={"xatol": 1e-7}).x
    fitted = fit_scaling(probs, labels, weights=weights, with_offsets=with_offsets)
    assert np.log(fitted.temperature) == pytest.approx(found[0], abs=1e-3)
    assert fitted.offsets == pytest.approx(found[1:] if with_offsets else np.zeros(3), abs=1e-3)


@pytest.mark.parametrize("temperature", [0.1, 0.5, 3.0])
def test_many_labels_find_the_temperature_and_the_offsets(temperature):
    probs, labels = calibrated(20_000)
    offsets = np.array([0.4, -0.1, -0.3])
    fitted = fit_scaling(
        distorted(probs, temperature, offsets), labels, weights=np.ones(len(labels)), with_offsets=True
    )
    assert fitted.temperature == pytest.approx(temperature, rel=0.05)
    assert fitted.offsets == pytest.approx(offsets, abs=0.06)
    assert np.abs(fitted.apply(distorted(probs, temperature, offsets)) - probs).max() < 0.03


def test_the_log_temperature_stays_within_three():
    sure = np.tile([[1e-9, 1 - 1e-9]], (4000, 1))
    wrong = fit_scaling(sure, np.zeros(4000, dtype=np.int64), weights=np.ones(4000), with_offsets=False)
    unsure = np.tile([[0.499, 0.501]], (4000, 1))
    right = fit_scaling(unsure, np.ones(4000, dtype=np.int64), weights=np.ones(4000), with_offsets=False)
    assert np.log([wrong.temperature, right.temperature]) == pytest.approx([3, -3], abs=1e-6)


def test_rows_that_give_their_label_no_chance_are_left_out():
    probs, labels = calibrated(50)
    more, unseen = np.vstack([probs, [[0.5, 0.5, 0.0]]]), np.append(labels, 2)
    one, other = (
        fit_scaling(*pairs, weights=np.ones(len(pairs[1])), with_offsets=True)
        for pairs in ((probs, labels), (more, unseen))
    )
    assert one.temperature == other.temperature
    assert (one.offsets == other.offsets).all()
    nothing = fit_scaling(more[50:], unseen[50:], weights=np.ones(1), with_offsets=True)
    assert nothing.idle


def test_no_scaling_changes_no_bit():
    probs, _ = calibrated(20)
    assert (Scaling.none(3).apply(probs) == probs).all()


@pytest.mark.parametrize("with_offsets", [False, True])
def test_a_model_far_from_honest_is_recalibrated(with_offsets):
    for seed in range(5):
        probs, labels = calibrated(100, seed=seed)
        made = CrossValidatedRecalibration(distorted(probs, 0.2), labels, np.ones(100), with_offsets)
        assert made.gain > 0
        assert made.temperature < 0.6


def test_an_honest_model_is_mostly_left_alone_and_never_changed_much():
    left, changed = [], []
    for seed in range(60):
        probs, labels = calibrated(60, seed=seed)
        made = CrossValidatedRecalibration(probs, labels, np.ones(60), True)
        left.append(made.scaling.idle)
        if left[-1]:
            assert (made.apply(probs) == probs).all()
        changed.append(np.abs(made.apply(probs) - probs).mean())
    assert np.mean(left) > 0.5
    assert np.mean(changed) < 0.02


def test_without_evidence_nothing_is_done():
    made = CrossValidatedRecalibration(np.empty((0, 3)), np.empty(0, dtype=np.int64), np.empty(0), True)
    assert made.evidence == 0
    assert made.temperature == 1
    assert made.scaling.idle
