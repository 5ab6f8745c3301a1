"""How much harder labelled items are than open ones, seen by copies that disagree."""

import numpy as np
import pytest
from scipy.special import softmax

from cusal.recalibration.hardness import FACTOR, Hardness, find_hardness

CLASSES, SPLITS, FOLDS = 4, 3, 5


def said(count, noise, seed):
    """What copies say of items: the same scores for all, with noise of each copy's own; (copies, items, classes)."""
    rng = np.random.default_rng(seed)
    scores = 3 * rng.normal(size=(count, CLASSES))
    shape = (SPLITS * FOLDS, count, CLASSES)
    return softmax(scores + noise * rng.normal(size=shape), axis=2)


def labelled(count, noise, seed=0):
    return said(count, noise, seed)[:SPLITS]


def of_open(count, noise, seed=1):
    return said(count, noise, seed).reshape(SPLITS, FOLDS, count, CLASSES)


def harder(own, other, **more):
    return found(own, other, **more).log_temperature


def found(own, other, *, labels=None, weights=None, picked=None):
    count = own.shape[1]
    labels = np.arange(count) % CLASSES if labels is None else labels
    picked = np.arange(count) if picked is None else picked
    return find_hardness(own, other, labels, np.ones(count) if weights is None else weights, picked)


def test_items_on_which_copies_disagree_more_are_harder():
    values = [harder(labelled(400, noise), of_open(300, 0.5)) for noise in (0.5, 1.0, 2.0)]
    assert values[0] < 0.15
    assert values[0] < values[1] < values[2]
    assert values[2] > 0.5


def test_items_on_which_copies_agree_more_are_not_easier():
    assert harder(labelled(400, 0.2), of_open(300, 2.0)) == 0


def test_only_picks_of_classes_with_a_label_in_each_fold_count():
    own, other = labelled(400, 2.0), of_open(300, 0.5)
    whole = harder(own, other)
    assert harder(own, other, picked=np.arange(100)) == pytest.approx(whole / 4)
    assert harder(own, other, picked=np.empty(0, dtype=np.int64)) == 0
    rare = np.where(np.arange(400) < 4, 0, 1 + np.arange(400) % 3)  # four labels of the first class
    assert harder(own, other, labels=rare) == pytest.approx(whole * 396 / 400)
    few = np.arange(8) % CLASSES
    assert harder(own[:, :8], other, labels=few) == 0


def test_items_of_no_weight_play_no_part():
    own, calm = labelled(400, 0.5), labelled(400, 0.5)
    own[:, 200:] = labelled(400, 4.0, seed=5)[:, 200:]
    weights = np.where(np.arange(400) < 200, 1.0, 0.0)
    only = harder(calm[:, :200], of_open(300, 0.5))
    assert harder(own, of_open(300, 0.5), weights=weights) == pytest.approx(only, abs=1e-6)


def test_without_open_items_nothing_is_known():
    assert harder(labelled(40, 2.0), of_open(0, 0.5)) == 0


def test_a_copy_that_knows_no_class_says_nothing():
    own, other = labelled(40, 1.0), of_open(30, 1.0)
    own[0], other[0, 2] = 1 / CLASSES, 1 / CLASSES
    assert 0 <= harder(own, other) <= 6 * FACTOR
    sure = np.eye(CLASSES)[np.zeros(40, dtype=int)]
    assert np.isfinite(harder(np.stack([sure] * SPLITS), other))


def test_items_are_hard_where_copies_disagree_as_often_as_they_err():
    own, other = labelled(400, 2.0), of_open(300, 0.5)
    by_copy = found(own, other, labels=labelled(400, 2.0, seed=0).argmax(axis=2)[0])
    answers = own.argmax(axis=2)
    errors = np.mean([(answers[a] != answers[0]).mean() for a in range(SPLITS)])
    disagreements = np.mean([(answers[a] != answers[(a + 1) % SPLITS]).mean() for a in range(SPLITS)])
    assert disagreements > errors
    assert by_copy.explained == 1
    noise = np.random.default_rng(0).integers(CLASSES, size=400)
    assert 0 <= found(own, other, labels=noise).explained < 1
    same = np.tile(own[:1], (SPLITS, 1, 1))
    assert found(same, other, labels=noise).explained == 0


def test_copies_that_never_err_explain_all():
    own = labelled(400, 0.0)
    assert found(own, of_open(300, 0.5), labels=own.argmax(axis=2)[0]).explained == 1


def test_a_temperature_above_1_is_lowered_as_far_as_hardness_explains_it():
    assert Hardness(0.2, 0.5).taken_from(2.0) == pytest.approx(2 * np.exp(-0.1))
    assert Hardness(0.2, 0.5).taken_from(0.5) == pytest.approx(0.5 * np.exp(-0.2))
    assert Hardness().taken_from(3.0) == 3.0
    assert Hardness(9.0).taken_from(0.1) == pytest.approx(np.exp(-3))
