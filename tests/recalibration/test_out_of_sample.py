"""Predictions of labelled points by models that never saw them."""

from typing import get_args

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from cusal.recalibration.out_of_sample import LabelledPoints, Method, OutOfSample

X, Y = load_digits(return_X_y=True)
METHODS = get_args(Method)


def points(count, labels=Y):
    return LabelledPoints(X[:count], np.asarray(labels[:count]), np.arange(count))


class Diary(GaussianNB):
    """A classifier that writes down which rows it was fitted to, in all fits that it goes on from."""

    def __init__(self, *, warm_start=True, random_state=None):
        super().__init__()
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(self, X, y):
        self.met_ = [*getattr(self, "met_", []), {row.tobytes() for row in X}]
        return super().fit(X, y)


def test_every_class_is_spread_evenly_over_the_folds_as_points_come():
    unseen = OutOfSample()
    for count in (20, 50, 400):
        fold = unseen._assign(points(count), np.random.default_rng(count))
        assert np.ptp(np.bincount(fold, minlength=5)) <= 10
        for number in range(10):
            assert np.ptp(np.bincount(fold[Y[:count] == number], minlength=5)) <= 1


def test_a_point_stays_in_its_fold_and_equal_keys_share_one():
    unseen, rng = OutOfSample(), np.random.default_rng(0)
    first = unseen._assign(points(100), rng)
    assert np.array_equal(unseen._assign(points(300), rng)[:100], first)
    twins = points(100)._replace(keys=np.arange(100) // 2)
    fold = OutOfSample()._assign(twins, rng)
    assert np.array_equal(fold[::2], fold[1::2])


def test_a_memorising_model_is_caught():
    """One nearest neighbour is always right about a point it was fitted to; with labels at random only about those."""
    labels = np.random.default_rng(1).integers(10, size=200)
    given = points(200, labels)
    probs, told = OutOfSample().predict(
        "cross-fit", KNeighborsClassifier(1), given, classes=10, rng=np.random.default_rng(0)
    )
    assert (told == labels).all()
    assert np.mean(probs.argmax(axis=1) == labels) < 0.3


def test_the_held_out_points_are_a_fifth():
    probs, labels = OutOfSample().predict(
        "held-out", DecisionTreeClassifier(random_state=0), points(100), classes=10, rng=np.random.default_rng(0)
    )
    assert probs.shape == (20, 10)
    assert len(labels) == 20


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1], [0, 1, 2, 3]])
def test_a_class_with_one_member_is_no_obstacle(labels):
    given = points(len(labels), labels)
    for method in METHODS:
        probs, _ = OutOfSample().predict(
            method, KNeighborsClassifier(1), given, classes=4, rng=np.random.default_rng(0)
        )
        assert probs.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS)
def test_warm_copies_are_fitted_as_often_as_the_model_and_never_to_what_they_are_asked(method):
    unseen, asked = OutOfSample(), []

    def predict(model, items, classes):
        met = set().union(*model.met_)
        assert not met & {row.tobytes() for row in items}
        asked.append(len(model.met_))
        return np.full((len(items), classes), 1 / classes)

    for fits in (1, 2, 5, 5):  # not asked in rounds 3 and 4, and twice in round 5
        given = points(40 * fits)
        rng = np.random.default_rng(fits)
        unseen.predict(method, Diary(), given, fits=fits, classes=10, rng=rng, predict=predict)
    copies = 5 if method == "cross-fit" else 1
    assert asked == [fits for fits in (1, 2, 5, 5) for _ in range(copies)]


def test_cold_copies_are_fitted_once_each_time():
    asked = []

    def predict(model, items, classes):
        asked.append(len(model.met_))
        return np.full((len(items), classes), 1 / classes)

    unseen = OutOfSample()
    for fits in (1, 4):
        rng = np.random.default_rng(0)
        unseen.predict(
            "cross-fit", Diary(warm_start=False), points(50), fits=fits, classes=10, rng=rng, predict=predict
        )
    assert asked == [1] * 10
