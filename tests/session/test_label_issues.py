"""Labels that look wrong, with the share of true errors among them."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import cusal

X, Y = load_digits(return_X_y=True)
X = X / 16
NAMES = np.array(list("abcdefghij"))


def labelled(rate, seed, count=400):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(Y))[:count]
    labels = Y[rows].copy()
    wrong = rng.random(count) < rate
    labels[wrong] = (labels[wrong] + rng.integers(1, 10, size=wrong.sum())) % 10
    return cusal.Session(X[rows], LogisticRegression(max_iter=500), labelled=(range(count), NAMES[labels])), wrong, rows


@pytest.mark.parametrize("seed", range(3))
def test_wrong_labels_are_found_and_are_no_fewer_than_expected(seed):
    session, wrong, rows = labelled(0.1, seed)
    found = session.label_issues()
    right = wrong[found.indices]
    assert 0.6 < found.expected_share < right.mean() + 0.1
    assert right.sum() > 0.2 * wrong.sum()
    assert 0.03 < found.rate < wrong.mean() + 0.02
    suggested = np.array(found.suggested)[right]
    assert (suggested == NAMES[Y[rows[found.indices[right]]]]).mean() > 0.8
    assert found.labels == [session.labels[int(i)] for i in found.indices]
    assert (np.diff(found.chances) <= 0).all()


def test_of_right_labels_hardly_any_is_listed():
    session, _, _ = labelled(0.0, 0)
    found = session.label_issues()
    assert len(found) <= 2
    assert found.rate < 0.02


def test_without_evidence_nothing_is_listed():
    session = cusal.Session(X[:100], LogisticRegression(max_iter=500), labelled=(range(20), Y[:20]))
    session.refit_limit = 0  # past picks, of which there are none
    found = session.label_issues()
    assert (len(found), found.expected_share, found.rate) == (0, 0.0, 0.0)
