"""BALD and BatchBALD: labels that tell about the model."""

from itertools import combinations

import numpy as np
import pytest

from cusal.errors import InvalidInput
from cusal.strategies._information import JointInformation, mutual_information
from cusal.strategies._view import ArrayAnswers, View
from cusal.strategies.bald import Bald
from cusal.strategies.batch_bald import BatchBald


def view_of(sampled: np.ndarray) -> View:
    return View.of_arrays(
        np.arange(len(sampled)) * 2,
        np.random.default_rng(0),
        probs=sampled.mean(axis=1),
        reference=(sampled[:0, 0], np.empty(0, dtype=np.int64)),
        sampled_probs=sampled,
    )


def test_bald_prefers_sure_disagreement_to_doubt() -> None:
    sure, doubt = [[0.99, 0.01], [0.01, 0.99]], [[0.5, 0.5], [0.5, 0.5]]
    mild = [[0.7, 0.3], [0.4, 0.6]]
    view = view_of(np.array([doubt, mild, sure]))
    assert Bald(samples=2).select(view, 3).tolist() == [4, 2, 0]


def test_batch_bald_begins_with_balds_first_and_skips_its_copies() -> None:
    rng = np.random.default_rng(1)
    sampled = rng.dirichlet(np.full(3, 0.5), (20, 10))
    top = int(np.argmax(mutual_information(sampled)))
    sampled = np.concatenate([sampled, np.repeat(sampled[top : top + 1], 5, axis=0)])
    view = view_of(sampled)
    bald, batch = Bald().select(view, 4) // 2, BatchBald().select(view, 4) // 2
    assert batch[0] == bald[0] == top
    assert set(bald[1:]) <= set(range(20, 25))
    assert (batch[1:] < 20).any()


def test_batch_bald_comes_near_the_best_pair() -> None:
    sampled = np.random.default_rng(2).dirichlet(np.full(3, 0.5), (12, 6))

    def together(pair: tuple[int, int]) -> float:
        joint = JointInformation(sampled, 10, np.random.default_rng(0))
        joint.add(pair[0])
        return float(joint.of_each()[pair[1]])

    best = max(together(pair) for pair in combinations(range(12), 2))
    chosen = BatchBald(samples=6).select(view_of(sampled), 2) // 2
    assert together((int(chosen[0]), int(chosen[1]))) >= (1 - 1 / np.e) * best


def test_batch_bald_looks_only_at_its_candidates() -> None:
    sampled = np.random.default_rng(3).dirichlet(np.full(3, 0.5), (30, 10))
    view = view_of(sampled)
    chosen = BatchBald(candidates=6).select(view, 5)
    assert set(chosen) <= set(Bald().select(view, 6))


@pytest.mark.parametrize("setting", [{"samples": 1}, {"configurations": 0}, {"candidates": 0}])
def test_settings_out_of_range_are_refused(setting: dict[str, int]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(setting))):
        BatchBald(**setting)


@pytest.mark.parametrize("strategy", [Bald(samples=4), BatchBald(samples=4, candidates=30)])
def test_sampled_predictions_that_are_too_many_are_looked_at_tile_by_tile(strategy, monkeypatch) -> None:
    sampled = np.random.default_rng(0).dirichlet(np.ones(3), size=(100, 4))
    candidates, asked = 2 * np.arange(100), []

    class Counting(ArrayAnswers):
        def sampled_probs(self, indices, samples):
            asked.append(len(indices))
            return super().sampled_probs(indices, samples)

    answers = Counting(candidates, probs=sampled.mean(1), sampled_probs=sampled)
    whole = strategy.select(View(candidates, np.random.default_rng(1), answers), 5)
    asked.clear()
    monkeypatch.setattr("cusal.strategies._view.SAMPLED_NUMBERS", 12 * 16)
    assert np.array_equal(strategy.select(View(candidates, np.random.default_rng(1), answers), 5), whole)
    assert max(asked) <= 30
    assert asked.count(16) == 6
