"""Mutual information, by itself and jointly."""

from itertools import product

import numpy as np
import pytest

from cusal.strategies import _information as information
from cusal.strategies._information import JointInformation, greedy_joint, mutual_information


def draw(items: int, samples: int, classes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(classes, 0.5), (items, samples))


def entropy(probs: np.ndarray) -> float:
    return float(-sum(q * np.log(q) for q in probs.ravel() if q > 0))


def joint_by_enumeration(probs: np.ndarray, rows: list[int]) -> float:
    """The definition: every configuration of labels."""
    samples, classes = probs.shape[1:]
    joint = [
        np.mean([np.prod([probs[r, s, y] for r, y in zip(rows, labels, strict=True)]) for s in range(samples)])
        for labels in product(range(classes), repeat=len(rows))
    ]
    return entropy(np.array(joint)) - sum(np.mean([entropy(probs[r, s]) for s in range(samples)]) for r in rows)


def test_sure_and_opposed_models_give_one_bit() -> None:
    probs = np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]])
    np.testing.assert_allclose(mutual_information(probs), [np.log(2), 0, 0], atol=1e-15)


def test_information_is_the_same_tile_by_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    probs = draw(33, 6, 4)
    whole = mutual_information(probs)
    monkeypatch.setattr(information, "TILE_NUMBERS", 50)
    np.testing.assert_array_equal(mutual_information(probs), whole)


@pytest.mark.parametrize("classes", [2, 3])
def test_joint_information_is_that_of_every_configuration(classes: int) -> None:
    probs = draw(6, 5, classes)
    joint = JointInformation(probs, 1000, np.random.default_rng(0))
    np.testing.assert_allclose(joint.of_each(), mutual_information(probs), atol=1e-12)
    joint.add(4)
    joint.add(1)
    expected = [joint_by_enumeration(probs, [4, 1, row]) for row in range(6)]
    np.testing.assert_allclose(joint.of_each(), expected, atol=1e-12)


def test_drawn_configurations_come_near_the_exact_information() -> None:
    probs = draw(40, 8, 3)
    exact = JointInformation(probs, 10**5, np.random.default_rng(0))
    drawn = JointInformation(probs, 20_000, np.random.default_rng(1))
    drawn.limit = 8000
    for row in range(9):  # 3^9 configurations: beyond the limit of the second
        exact.add(row)
        drawn.add(row)
    assert exact.exact
    assert not drawn.exact
    np.testing.assert_allclose(drawn.of_each(), exact.of_each(), atol=0.03)


def test_a_long_batch_stays_finite() -> None:
    probs = draw(400, 5, 10)
    joint = JointInformation(probs, 100, np.random.default_rng(0))
    for row in range(399):
        joint.add(row)
    assert np.isfinite(joint.of_each()).all()


def test_greedy_choice_does_not_ask_the_same_twice() -> None:
    sure = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # (samples, classes)
    other = sure[[0, 2, 1, 3]]
    almost = 0.9 * other + 0.05
    probs = np.stack([sure, sure, almost])
    assert greedy_joint(probs, 2, configurations=64, rng=np.random.default_rng(0)).tolist() == [0, 2]
