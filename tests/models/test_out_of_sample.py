"""Predictions of labelled points by models that never saw them."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from cusal.models.out_of_sample import held_out_fifth, out_of_fold, stratified_folds

X, Y = load_digits(return_X_y=True)


def test_folds_share_every_class_evenly():
    fold = stratified_folds(Y, 5, np.random.default_rng(0))
    for number in range(10):
        counts = np.bincount(fold[number == Y], minlength=5)
        assert counts.max() - counts.min() <= 1


def test_a_memorising_model_is_caught():
    """One nearest neighbour is always right about a point it was fitted to; with labels at random only about those."""
    labels = np.random.default_rng(1).integers(10, size=200)
    probs, given = out_of_fold(KNeighborsClassifier(1), X[:200], labels, classes=10, rng=np.random.default_rng(0))
    assert (given == labels).all()
    assert np.mean(probs.argmax(axis=1) == labels) < 0.3


def test_the_held_out_fifth_is_a_fifth():
    probs, labels = held_out_fifth(
        DecisionTreeClassifier(random_state=0), X[:100], Y[:100], classes=10, rng=np.random.default_rng(0)
    )
    assert probs.shape == (20, 10)
    assert len(labels) == 20


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1], [0, 1, 2, 3]])
def test_a_class_with_one_member_is_no_obstacle(labels):
    labels = np.array(labels)
    rng = np.random.default_rng(0)
    probs, _ = out_of_fold(KNeighborsClassifier(1), X[: len(labels)], labels, classes=4, rng=rng)
    assert probs.sum(axis=1) == pytest.approx(1)
