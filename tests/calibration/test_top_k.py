"""The pruned errors of the top: the same picks, ties and decisions as from all errors."""

import numpy as np
import pytest
from scipy.special import softmax

from cusal.calibration import Estimator, pruned
from cusal.calibration.ties import decided_by, quantise
from cusal.calibration.top_k import top


def predictions(rng, count, classes, *, noise):
    """Probabilities and labels of a confident model that errs with probability `noise`."""
    truth = rng.integers(classes, size=count)
    margin = rng.gamma(2.0, 4.0, size=(count, 1))
    probs = softmax(np.eye(classes)[truth] * margin + rng.normal(size=(count, classes)), axis=1)
    return probs, np.where(rng.random(count) < noise, rng.integers(classes, size=count), truth)


def picks(error, probs, count, tie_tolerance):
    quantised = quantise(error, tie_tolerance)
    rows = np.lexsort((np.arange(len(error)), probs.max(axis=1), -quantised))[:count]
    return rows, decided_by(quantised, rows), error[rows]


def assert_same_picks(pool, reference, labels, count, *, tie_tolerance=1e-6, **changes):
    estimator = Estimator(**changes)
    want, _ = pruned.pointwise(pool, reference, labels, estimator, tolerance=1e-9)
    error, computed = top(pool, reference, labels, count, estimator, tie_tolerance=tie_tolerance)
    for got, expected in zip(
        picks(error, pool, count, tie_tolerance), picks(want, pool, count, tie_tolerance), strict=True
    ):
        assert np.array_equal(got, expected)
    assert np.array_equal(error[computed], want[computed])
    assert np.all(error >= want - 1e-9)
    return computed


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("count", [1, 10, 500])
def test_picks_and_what_decided_them_are_those_of_the_full_computation(noise, count):
    rng = np.random.default_rng(count)
    reference, labels = predictions(rng, 2500, 5, noise=noise)
    pool, _ = predictions(rng, 6000, 5, noise=0)
    computed = assert_same_picks(pool, reference, labels, count)
    assert computed.mean() < 0.9


@pytest.mark.parametrize(
    "changes", [{"p": 2.0}, {"p": 1.5}, {"density_floor": None}, {"bandwidth": 0.05}, {"bandwidth": 1e-4}]
)
def test_picks_are_the_same_for_every_setting(changes):
    rng = np.random.default_rng(1)
    reference, labels = predictions(rng, 2100, 4, noise=0.2)
    pool, _ = predictions(rng, 4000, 4, noise=0)
    assert_same_picks(pool, reference, labels, 30, **changes)


def test_exact_ties_at_the_end_of_the_top_are_kept():
    rng = np.random.default_rng(2)
    reference, labels = predictions(rng, 2000, 3, noise=0.05)
    pool, _ = predictions(rng, 500, 3, noise=0)
    pool = np.repeat(pool, 6, axis=0)[rng.permutation(3000)]
    for count in (3, 6, 7, 100):
        assert_same_picks(pool, reference, labels, count)
        assert_same_picks(pool, reference, labels, count, tie_tolerance=0.1)
        assert_same_picks(pool, reference, labels, count, tie_tolerance=0)


def test_the_whole_pool_can_be_asked_for():
    rng = np.random.default_rng(3)
    reference, labels = predictions(rng, 2000, 3, noise=0.1)
    pool, _ = predictions(rng, 1500, 3, noise=0)
    assert assert_same_picks(pool, reference, labels, 1500).all()
    assert assert_same_picks(pool, reference, labels, 4000).all()


def test_labels_that_contradict_every_prediction_are_not_mistaken_for_support():
    rng = np.random.default_rng(4)
    reference, labels = predictions(rng, 2000, 3, noise=0)
    pool, _ = predictions(rng, 3000, 3, noise=0)
    assert_same_picks(pool, reference, (labels + 1) % 3, 20)


@pytest.mark.parametrize(("count", "classes"), [(50, 5), (2100, 40)])
def test_few_labelled_points_or_many_classes_are_computed_in_full(count, classes):
    rng = np.random.default_rng(5)
    reference, labels = predictions(rng, count, classes, noise=0.1)
    pool, _ = predictions(rng, 600, classes, noise=0)
    assert assert_same_picks(pool, reference, labels, 10).all()
